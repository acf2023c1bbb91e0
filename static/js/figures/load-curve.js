/** TTFT, throughput and goodput against the load, a line per scenario; points appear as the server computes them. */
import { Chart } from "../chart.js";
import { laidOut } from "../curvelayout.js";
import { Curves, tableOf, unitOf } from "../curves.js";
import { HttpProblem, readLines } from "../lines.js";

/** @typedef {import("../stage.js").Stage} Stage */

const REST_MS = 500;
const DRAW_MS = 120;
const POINTS = 9;
const NARROW_PX = 560;
const PANELS = [0, 1, 2, 3];
const FEW = [0, 2];
const OWN = ["x", "seeds", "cross_s"];
const NO_RATE = "All requests come at once or at listed times, so there is no rate to vary. Choose Poisson arrivals.";

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const curve = new LoadCurve(card, stage);
  return { show: () => curve.want(), draw: () => curve.draw(), readings: () => curve.readings() };
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

  /**
   * What somebody types meanwhile stays.
   * @param {string} name
   * @param {number} value
   */
  fill(name, value) {
    if (document.activeElement !== this.field(name)) this.field(name).value = String(value);
  }

  /** @param {Curves} curves */
  begin(curves) {
    this.curves = curves;
    this.say("");
    const { name, values } = /** @type {import("../curves.js").Head} */ (curves.head).x;
    this.fill("low", values[0]);
    this.fill("high", values[values.length - 1]);
    this.part("[data-unit]").textContent = unitOf(name) || name;
  }

  draw() {
    clearTimeout(this.timers.draw);
    this.timers.draw = 0;
    const { curves } = this;
    if (!curves.head) return;
    const { box } = this.chart;
    const isNarrow = box.clientWidth < NARROW_PX;
    // Beside the words of a lesson there is room for two panels only where it is narrow.
    const shown = isNarrow && this.card.closest(".lesson-stage") ? FEW : PANELS;
    box.classList.toggle("stacked", isNarrow && shown === PANELS);
    this.chart.figure.layout = laidOut(this.layout, curves.head, isNarrow ? shown : []);
    const axes = shown.map((i) => `x${i ? i + 1 : ""}`);
    this.chart.draw((trace) => ({
      ...filled(trace, curves, this.stage.palette.token),
      visible: axes.includes(trace.xaxis),
    }));
    const runs = curves.tail ? Object.keys(curves.head.scenarios) : [];
    this.part(".curve-words").replaceChildren(...runs.map((run) => this.sentence(run)));
    this.part(".table-scroll").replaceChildren(tableOf(curves, (run) => this.stage.labelOf(run)));
    if (curves.tail) this.stage.dispatchEvent(new Event("readings"));
  }

  /** Of each run the rate at which its median TTFT crosses the level, and the peaks of goodput and throughput. */
  readings() {
    const { tail } = this.curves;
    const isOld = this.card.hasAttribute("aria-busy");
    const runs = tail && !isOld ? Object.keys(tail.crossing.curves) : [];
    return Object.fromEntries(runs.flatMap((run) => readingsOf(this.curves, run)));
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
 * @param {Curves} curves complete
 * @param {string} run
 * @returns {[string, number | null][]}
 */
function readingsOf(curves, run) {
  const { tail } = curves;
  const served = curves.line(run, "output_tokens_per_s").bands.map(({ mean }) => mean ?? 0);
  return [
    [`${run}.crossing_rps`, tail?.crossing.curves[run].mean ?? null],
    [`${run}.peak_goodput_rps`, tail?.peaks[run]?.goodput_rps ?? null],
    [`${run}.most_tokens_s`, Math.max(0, ...served)],
  ];
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
