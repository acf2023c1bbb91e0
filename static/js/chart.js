/**
 * Slots in use, waiting and KV blocks over time, in Plotly. The figure comes from the server without data; runs fill it.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./palette.js").Palette} Palette
 */

const MOVE_MS = 100;
const MOST_POINTS = 4000;

export class Chart {
  /**
   * @param {HTMLElement} box
   * @param {{data: any[], layout: any, config: any}} figure
   * @param {string} source address of the Plotly script
   */
  constructor(box, figure, source) {
    this.box = box;
    this.figure = figure;
    this.source = source;
    /** @type {any} */
    this.plotly = null;
    this.revision = 0;
    this.timer = 0;
    this.at = { x0: 0, x1: 0 };
    this.line = {};
    /** @type {(() => void) | null} */
    this.later = null;
  }

  /** Load Plotly, once; what was to be drawn meanwhile is drawn then. */
  load() {
    if (this.plotly || document.querySelector(`script[src="${this.source}"]`)) return;
    const script = document.createElement("script");
    script.src = this.source;
    script.onload = () => {
      this.plotly = /** @type {any} */ (window).Plotly;
      this.later?.();
    };
    document.head.append(script);
  }

  /**
   * @param {Record<string, Run>} runs
   * @param {{t0: number, t1: number}} span [us]
   * @param {Palette} palette
   * @param {number} left width of the gutter, so that the axes line up
   */
  draw(runs, span, palette, left) {
    this.later = () => this.draw(runs, span, palette, left);
    if (!this.plotly) return;
    const data = this.figure.data.map((trace) => filled(trace, runs[trace.meta.run], span, palette));
    const layout = themed(this.figure.layout, span, palette, left);
    layout.datarevision = ++this.revision;
    this.line = layout.shapes[0];
    Object.assign(layout.shapes[0], this.at);
    this.box.dataset.drawn = "true";
    this.plotly.react(this.box, data, layout, this.figure.config);
  }

  /**
   * Move the playhead, at most every sixth frame.
   * @param {number} us
   */
  move(us) {
    this.at = { x0: us / 1e6, x1: us / 1e6 };
    this.timer ||= window.setTimeout(() => this.moveNow(), MOVE_MS);
  }

  moveNow() {
    this.timer = 0;
    if (!this.plotly || !this.box.dataset.drawn) return;
    // The whole array: setting shapes[0].x0 alone makes Plotly draw everything anew (70 times slower).
    this.plotly.relayout(this.box, { shapes: [{ ...this.line, ...this.at }] });
  }
}

/**
 * Steps as corners of a staircase, thinned to what a screen can show.
 * @param {any} trace
 * @param {Run | undefined} run
 * @param {{t0: number, t1: number}} span
 * @param {Palette} palette
 */
function filled(trace, run, span, palette) {
  const line = { ...trace.line, color: palette.token[trace.meta.colour] };
  if (!run) return { ...trace, line, x: [], y: [] };
  const value = COLUMNS[/** @type {keyof typeof COLUMNS} */ (trace.meta.column)];
  /** @type {number[]} */
  const x = [];
  /** @type {number[]} */
  const y = [];
  let before = Number.NaN;
  const stride = Math.max(1, Math.floor(run.count / MOST_POINTS));
  for (let s = 0; s < run.count; s += stride) {
    const now = value(run, s);
    const isGap = s > 0 && run.start_us[s] - run.end_us[s - 1] > 1;
    if (isGap && before) push(x, y, run.end_us[s - 1], 0);
    if (now !== before || isGap) push(x, y, run.start_us[s], now);
    before = now;
  }
  if (run.count) push(x, y, run.end_us[run.count - 1], run.end_us[run.count - 1] < span.t1 ? 0 : before);
  push(x, y, Math.max(span.t1, x.length ? x[x.length - 1] * 1e6 : 0), y[y.length - 1] ?? 0);
  return { ...trace, line, x, y };
}

const COLUMNS = {
  slots: (/** @type {Run} */ run, /** @type {number} */ s) => run.steps.running[s] + run.steps.held[s],
  waiting: (/** @type {Run} */ run, /** @type {number} */ s) => run.steps.waiting[s],
  blocks: (/** @type {Run} */ run, /** @type {number} */ s) => run.facts.num_gpu_blocks - 1 - run.steps.free[s],
};

/**
 * @param {number[]} x
 * @param {number[]} y
 * @param {number} us
 * @param {number} value
 */
function push(x, y, us, value) {
  x.push(us / 1e6);
  y.push(value);
}

/**
 * @param {any} layout
 * @param {{t0: number, t1: number}} span
 * @param {Palette} palette
 * @param {number} left
 */
function themed(layout, span, palette, left) {
  const { ink, muted, line } = palette.token;
  const copy = structuredClone(layout);
  copy.font = { ...copy.font, family: palette.font, color: muted };
  copy.margin.l = Math.max(left, 44);
  for (const key of Object.keys(copy).filter((name) => /^[xy]axis/.test(name)))
    Object.assign(copy[key], { gridcolor: line, linecolor: line, zerolinecolor: line });
  for (const key of Object.keys(copy).filter((name) => name.startsWith("xaxis")))
    copy[key].range = [span.t0 / 1e6, span.t1 / 1e6];
  copy.shapes[0].line.color = ink;
  for (const note of copy.annotations ?? []) note.font = { ...note.font, color: ink };
  return copy;
}
