/** TTFT, throughput and goodput against the load, a line per scenario; points appear as the server computes them. */
import { Chart } from "../chart.js";
import { Curves, tableOf, titleOf, unitOf } from "../curves.js";
import { HttpProblem, readLines } from "../lines.js";

/** @typedef {import("../stage.js").Stage} Stage */

const REST_MS = 500;
const DRAW_MS = 120;
const POINTS = 9;
const NARROW_PX = 560;
const OWN = ["x", "seeds", "cross_s"];
const NO_RATE = "All requests come at once or at listed times, so there is no rate to vary. Choose Poisson arrivals.";

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const curve = new LoadCurve(card, stage);
  return { show: () => curve.want(), draw: () => curve.draw() };
}

class LoadCurve {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.chart = new Chart(card, stage);
    this.layout = this.chart.figure.layout;
    this.form = /** @type {HTMLFormElement} */ (card.querySelector("form"));
    this.curves = new Curves();
    this.query = "";
    this.abort = new AbortController();
    this.timers = { ask: 0, draw: 0 };
    for (const name of ["seeds", "cross_s"])
      this.field(name).value = stage.state.kept.get(name) ?? this.field(name).value;
    this.form.addEventListener("change", (event) => this.changed(/** @type {HTMLInputElement} */ (event.target)));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("reset", (event) => {
      event.preventDefault();
      this.keep("x", "");
    });
  }

  /**
   * @param {string} name
   * @returns {HTMLInputElement}
   */
  field(name) {
    return /** @type {any} */ (this.form.elements.namedItem(name));
  }

  /** @param {HTMLInputElement} field */
  changed({ name, value }) {
    if (OWN.includes(name)) return this.keep(name, value);
    const [low, high] = ["low", "high"].map((each) => this.field(each).value);
    const axis = this.curves.head?.x.name ?? "rate";
    if (low && high) this.keep("x", `${axis}:${low}:${high}:${POINTS}`);
  }

  /**
   * @param {string} name
   * @param {string} value '' is what the server chooses
   */
  keep(name, value) {
    const { state } = this.stage;
    if (value) state.kept.set(name, value);
    else state.kept.delete(name);
    state.write();
    this.want();
  }

  /** Ask for the curve of what the page now says, once that rests. */
  want() {
    const { state } = this.stage;
    const query = new URLSearchParams(state.query);
    for (const name of OWN) if (state.kept.has(name)) query.set(name, state.kept.get(name) ?? "");
    if (query.toString() === this.query) return;
    this.query = query.toString();
    this.abort.abort();
    clearTimeout(this.timers.ask);
    this.card.setAttribute("aria-busy", "true");
    this.timers.ask = window.setTimeout(() => this.ask(), REST_MS);
  }

  async ask() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    const curves = new Curves();
    let message = "";
    try {
      await readLines(`${this.card.dataset.sweepUrl}?${this.query}`, signal, (line) => {
        if (curves.push(line)) this.grow(curves);
        else message = line.detail;
      });
      message ||= curves.tail ? "" : "The curve was cut off.";
    } catch (error) {
      if (signal.aborted) return;
      message = this.whyNot(/** @type {Error} */ (error));
    }
    if (signal.aborted) return;
    this.card.removeAttribute("aria-busy");
    this.say(message);
    this.draw();
  }

  /**
   * A line has come.
   * @param {Curves} curves
   */
  grow(curves) {
    if (this.curves !== curves) this.begin(curves);
    const { here, all } = curves.progress;
    this.part(".curve-state").textContent = here < all ? `${here} of ${all} points` : "";
    this.timers.draw ||= window.setTimeout(() => this.draw(), DRAW_MS);
  }

  /** @param {Curves} curves */
  begin(curves) {
    this.curves = curves;
    this.say("");
    const { name, values } = /** @type {import("../curves.js").Head} */ (curves.head).x;
    this.field("low").value = String(values[0]);
    this.field("high").value = String(values[values.length - 1]);
    this.part("[data-unit]").textContent = unitOf(name) || name;
  }

  draw() {
    clearTimeout(this.timers.draw);
    this.timers.draw = 0;
    const { curves } = this;
    if (!curves.head) return;
    this.chart.figure.layout = laidOut(this.layout, curves.head, this.chart.box.clientWidth < NARROW_PX);
    this.chart.draw((trace) => filled(trace, curves, this.stage.palette.token));
    const runs = curves.tail ? Object.keys(curves.head.scenarios) : [];
    this.part(".curve-words").replaceChildren(...runs.map((run) => this.sentence(run)));
    this.part(".table-scroll").replaceChildren(tableOf(curves, (run) => this.stage.labelOf(run)));
  }

  /** @param {string} run */
  sentence(run) {
    const item = document.createElement("li");
    const name = document.createElement("b");
    name.textContent = this.stage.labelOf(run);
    item.append(name, `: ${this.curves.words(run)}`);
    return item;
  }

  /** @param {string} text */
  say(text) {
    const message = this.part(".message");
    if (message.textContent !== text) message.textContent = text;
  }

  /**
   * @param {Error} error
   * @returns {string}
   */
  whyNot(error) {
    if (!(error instanceof HttpProblem)) return "The server cannot be reached; the curve is as it was.";
    if (error.retryAfter) this.timers.ask = window.setTimeout(() => this.ask(), 1000 * error.retryAfter);
    return ["load", "arrival_list"].includes(String(error.problem.field)) ? NO_RATE : error.message;
  }

  /** @param {string} selector */
  part(selector) {
    return /** @type {HTMLElement} */ (this.card.querySelector(selector));
  }
}

/**
 * What a trace shows, by its meta: the means of a run, the band around them or the peak.
 * @param {any} trace
 * @param {Curves} curves
 * @param {Record<string, string>} token
 */
function filled(trace, curves, token) {
  const { run, path, part, colour } = trace.meta;
  const { x, bands } = curves.line(run, path);
  if (part === "peak") {
    const peak = curves.tail?.peaks[run];
    return { x: peak ? [peak.x] : [], y: peak ? [peak.goodput_rps] : [] };
  }
  if (part === "mean") return { x, y: bands.map((band) => band.mean) };
  const known = bands.flatMap((band, i) => (band.low === null ? [] : [i]));
  const back = known.toReversed();
  return {
    x: [...known, ...back].map((i) => x[i]),
    y: [...known.map((i) => bands[i].low), ...back.map((i) => bands[i].high)],
    fillcolor: token[colour],
  };
}

/**
 * The layout with its rules in place, in one column where it is narrow.
 * @param {any} layout
 * @param {import("../curves.js").Head} head
 * @param {boolean} isNarrow
 */
function laidOut(layout, head, isNarrow) {
  const copy = structuredClone(layout);
  const { name, values } = head.x;
  const own = Number(head.scenarios.a[name]);
  const slo = head.scenarios.a.slo_ttft_ms / 1000;
  for (const shape of copy.shapes) {
    const isLoad = shape.xref.indexOf("domain") < 0;
    if (isLoad) Object.assign(shape, { x0: own, x1: own, visible: own <= values[values.length - 1] });
    else Object.assign(shape, { y0: slo, y1: slo });
  }
  for (const note of copy.annotations) if (!note.yref.includes("domain")) note.y = Math.log10(slo);
  for (const key of ["xaxis", "xaxis2", "xaxis3", "xaxis4"]) copy[key].range = [0, values[values.length - 1] * 1.02];
  if (isNarrow) stack(copy);
  const titled = isNarrow ? ["xaxis4"] : ["xaxis3", "xaxis4"];
  for (const key of titled) copy[key].title = { text: titleOf(name), standoff: 4 };
  return copy;
}

/** @param {any} layout */
function stack(layout) {
  for (const [i, key] of ["", "2", "3", "4"].entries()) {
    layout[`xaxis${key}`].domain = [0, 1];
    layout[`yaxis${key}`].domain = [1 - (i + 1) * 0.25 + 0.06, 1 - i * 0.25];
  }
}
