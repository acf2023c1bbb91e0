/**
 * A Plotly figure in a card. The server sends it without data (app/figures.py), once, as JSON in the card; whoever draws
 * it fills its traces. The playhead is its first shape.
 */
const MOVE_MS = 100;

export class Chart {
  /**
   * @param {HTMLElement} card holds the box and the figure's JSON
   * @param {import("./stage.js").Stage} stage
   */
  constructor(card, stage) {
    this.stage = stage;
    this.box = /** @type {HTMLElement} */ (card.querySelector(".chart-box"));
    this.figure = JSON.parse(card.querySelector("script[type='application/json']")?.textContent ?? "{}");
    this.revision = 0;
    this.timer = 0;
    /** Where the playhead's shapes are now, the first shape's first. @type {() => object[]} */
    this.placed = () => [];
    /** @type {any[]} */
    this.shapes = [];
    this.isDrawn = false;
  }

  /**
   * @param {(trace: any) => object} fill columns of a trace, by its meta
   * @param {{range?: number[], left?: number}} [place] of the x axis, and its margin
   */
  async draw(fill, place = {}) {
    const revision = ++this.revision;
    const plotly = await loadPlotly(this.stage.main.dataset.plotly ?? "");
    if (revision !== this.revision) return;
    const { token } = this.stage.palette;
    const data = this.figure.data.map((/** @type {any} */ trace) => ({ ...inked(trace, token), ...fill(trace) }));
    const layout = themed(this.figure.layout, this.stage.palette, place);
    layout.datarevision = revision;
    this.shapes = layout.shapes ?? [];
    for (const [i, place] of this.placed().entries()) Object.assign(this.shapes[i], place);
    await plotly.react(this.box, data, layout, this.figure.config);
    this.isDrawn = true;
    this.box.dataset.drawn = "true";
  }

  /**
   * Move the playhead, at most every sixth frame.
   * @param {number} x
   */
  move(x) {
    this.follow(() => [{ x0: x, x1: x }]);
  }

  /**
   * Move the first shapes, at most every sixth frame; what a hand drags may follow sooner.
   * @param {() => object[]} placed what changes of each; asked when it is time
   * @param {number} [wait_ms]
   */
  follow(placed, wait_ms = MOVE_MS) {
    this.placed = placed;
    if (wait_ms < MOVE_MS) clearTimeout(this.timer);
    if (wait_ms < MOVE_MS || !this.timer) this.timer = window.setTimeout(() => this.moveNow(), wait_ms);
  }

  async moveNow() {
    this.timer = 0;
    if (!this.isDrawn || !this.shapes.length) return;
    const plotly = await loadPlotly("");
    // The whole array: setting shapes[0].x0 alone makes Plotly draw everything anew (70 times slower).
    const places = this.placed();
    plotly.relayout(this.box, { shapes: this.shapes.map((shape, i) => ({ ...shape, ...places[i] })) });
  }
}

/** @type {Promise<any> | null} */
let loading = null;

/**
 * Plotly, loaded once, after the first picture.
 * @param {string} source
 * @returns {Promise<any>}
 */
export function loadPlotly(source) {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => resolve(/** @type {any} */ (window).Plotly);
    script.onerror = () => {
      loading = null;
      reject(new TypeError("The charts could not be loaded."));
    };
    requestAnimationFrame(() => setTimeout(() => document.head.append(script)));
  });
  return loading;
}

/**
 * A trace in the page's colours: its meta names a token.
 * @param {any} trace
 * @param {Record<string, string>} token
 */
function inked(trace, token) {
  const color = token[trace.meta?.colour];
  if (!color) return { ...trace };
  const inks = Object.fromEntries(
    ["line", "marker"].filter((key) => trace[key]).map((key) => [key, { ...trace[key], color }]),
  );
  return { ...trace, ...inks };
}

/**
 * @param {any} layout
 * @param {import("./palette.js").Palette} palette
 * @param {{range?: number[], left?: number}} place
 */
function themed(layout, palette, { range, left }) {
  const { ink, muted, line, card } = palette.token;
  const copy = structuredClone(layout);
  copy.font = { ...copy.font, family: palette.font, color: muted };
  copy.hoverlabel = { bgcolor: card, bordercolor: line, font: { family: palette.font, color: ink } };
  if (left) copy.margin.l = left;
  for (const key of Object.keys(copy).filter((name) => /^[xy]axis/.test(name)))
    Object.assign(copy[key], { gridcolor: line, linecolor: line, zerolinecolor: line });
  if (range) for (const key of Object.keys(copy).filter((name) => name.startsWith("xaxis"))) copy[key].range = range;
  for (const shape of copy.shapes ?? []) shape.line = { ...shape.line, color: ink };
  for (const note of copy.annotations ?? []) note.font = { ...note.font, color: ink };
  return copy;
}
