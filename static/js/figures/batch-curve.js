/** Step time and throughput against the batch size, by formula, and where each limit sets in; the current step on it. */
import { limitsOf, pointAt, typicalContext } from "../batch.js";
import { curveOf, filled, LIMITS, laidOut, widest } from "../batchchart.js";
import { Chart } from "../chart.js";
import { countsOf } from "../composition.js";
import { element, part, tableOf, write } from "../dom.js";
import { inner } from "../focus.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../costs.js").Costs} Costs
 * @typedef {import("../batch.js").Limits} Limits
 * @typedef {import("../batchchart.js").Curve} Curve
 * @typedef {import("../batchchart.js").Point} Point
 */

const DRAW_MS = 120;
const ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
const SLIDER_STEPS = 100;
const LONGEST = 131_072;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new BatchCurve(card, stage);
  return { draw: () => figure.draw(), costs: () => figure.draw(), move: () => figure.move() };
}

class BatchCurve {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.chart = new Chart(card, stage);
    this.layout = this.chart.figure.layout;
    this.slider = /** @type {HTMLInputElement} */ (part(card, "input[type=range]"));
    this.timer = 0;
    /** Context that the reader has chosen [tokens]; null: the scenario's. @type {number | null} */
    this.chosen = null;
    this.slider.oninput = () => this.choose(contextAt(Number(this.slider.value)));
    part(card, "button").onclick = () => this.choose(null);
  }

  /** @param {number | null} context */
  choose(context) {
    this.chosen = context;
    this.draw();
  }

  /** Formulas of the run in focus. @returns {Costs | undefined} */
  get costs() {
    return this.stage.costs.runs[this.stage.state.run];
  }

  /** The words at once, the chart as often as it can follow. */
  draw() {
    const { costs } = this;
    if (!costs) return;
    const context = this.chosen ?? typicalContext(costs.scenario);
    this.tell(costs, context, limitsOf(costs, context));
    this.timer ||= window.setTimeout(() => this.drawNow(), DRAW_MS);
  }

  drawNow() {
    this.timer = 0;
    const { costs } = this;
    if (!costs) return;
    const { runs } = this.stage.costs;
    const contexts = mapped(runs, (each) => this.chosen ?? typicalContext(each.scenario));
    const limits = mapped(runs, (each, run) => limitsOf(each, contexts[run]));
    const most = widest(Object.values(limits));
    const curves = mapped(runs, (each, run) => curveOf(each, contexts[run], limits[run].memory, most));
    const focus = this.stage.state.run;
    this.chart.figure.layout = laidOut(this.layout, limits[focus], most, this.stage.palette.token);
    this.chart.draw((trace) => filled(trace, curves, focus));
    this.list(curves, limits, most);
  }

  move() {
    this.chart.follow(() => this.places());
    if (!this.stage.playhead.isPlaying) this.describe();
  }

  /** The current step as batch size, time and throughput; null: none runs. */
  now() {
    const { run } = this.stage;
    const frame = this.stage.frame();
    if (!run || !frame) return null;
    const s = frame.position;
    if (this.stage.at > run.end_us[s] && s + 1 < run.count) return null;
    const seats = [...frame.seats.values()].filter((seat) => seat.phase === "decode" && seat.scheduled > 0);
    const duration_s = (run.end_us[s] - run.start_us[s]) / 1e6;
    const prefill = run.steps.prefill[s];
    const tokens = seats.length + countsOf(run, s).accepted;
    return { step: run.first + s, batch: seats.length, prefill, duration_s, tokens_s: tokens / duration_s };
  }

  /** Where the signs of the current step are. */
  places() {
    const now = this.now();
    if (!now?.batch) return [{ visible: false }, { visible: false }, { visible: false }];
    const { batch, duration_s, tokens_s } = now;
    const { ink, card } = this.stage.palette.token;
    const look = { xanchor: batch, visible: true, fillcolor: card, line: { color: ink, width: 2 } };
    return [
      { x0: batch, x1: batch, visible: true },
      { ...look, yanchor: 1000 * duration_s },
      { ...look, yanchor: tokens_s },
    ];
  }

  /**
   * @param {Costs} costs
   * @param {number} context
   * @param {Limits} limits
   */
  tell(costs, context, limits) {
    this.slider.value = String(placeOf(context));
    this.slider.style.setProperty("--at", `${placeOf(context)}%`);
    this.slider.setAttribute("aria-valuetext", `${context.toLocaleString("en")} tokens`);
    write(part(this.card, "output"), `${context.toLocaleString("en")} tokens`);
    part(this.card, "button").hidden = this.chosen === null;
    write(part(this.card, "[data-focused]"), inner(this.stage.labelOf(this.stage.state.run)));
    part(this.card, ".limits").replaceChildren(...LIMITS.map((limit) => itemOf(limit, limits, costs)));
    write(part(this.card, ".verdict"), verdictOf(costs, limits));
    this.describe();
  }

  /** The description twin. */
  describe() {
    const { costs } = this;
    if (!costs) return;
    const context = this.chosen ?? typicalContext(costs.scenario);
    const one = pointAt(costs, 1, context);
    const now = this.now();
    const step = now
      ? `Step ${now.step} decodes ${now.batch} requests${now.prefill ? ` beside ${now.prefill} prompt tokens` : ""} in ` +
        `${(1000 * now.duration_s).toFixed(2)} ms.`
      : "No step runs.";
    const text =
      `${this.stage.labelOf(this.stage.state.run)}, ${context} tokens of context. One request: ` +
      `${(1000 * one.step_s).toFixed(2)} ms a step, ${one.tokens_s.toFixed(0)} tokens a second. ${step}`;
    write(part(this.card, "[data-twin]"), text);
  }

  /**
   * The table view.
   * @param {Record<string, Curve>} curves
   * @param {Record<string, Limits>} limits
   * @param {number} most
   */
  list(curves, limits, most) {
    const runs = Object.keys(curves);
    const heads = ["requests", ...runs.flatMap((run) => [`${this.stage.labelOf(run)}: ms`, "tokens/s"])];
    const rows = ROWS.filter((batch) => batch <= most).map((batch) => [
      batch.toLocaleString("en"),
      ...runs.flatMap((run) => cellsOf(curves[run].at(batch), batch <= limits[run].memory)),
    ]);
    part(this.card, ".table-scroll").replaceChildren(tableOf("Step time and throughput by batch size", heads, rows));
  }
}

/**
 * @param {(typeof LIMITS)[number]} limit
 * @param {Limits} limits
 * @param {Costs} costs
 */
function itemOf({ name, words }, limits, costs) {
  const batch = limits[name];
  const value = batch === null ? "never" : batch.toLocaleString("en");
  const sign = element("i", { class: name, "aria-hidden": "true" });
  return element("li", {}, sign, element("b", { "data-limit": name }, value), ` ${words(limits, costs)}`);
}

/**
 * Which limit is the first.
 * @param {Costs} costs
 * @param {Limits} limits
 */
function verdictOf({ kind, memory }, limits) {
  if (kind === "unit") return "Every step takes one second here, so the batch size does not matter to it.";
  if (memory.missing_bytes > 0) return "The model does not fit, so there is no room for any request.";
  const reached = LIMITS.filter(({ name }) => name !== "slots" && limits[name] !== null);
  const [first] = reached.sort((x, y) => Number(limits[x.name]) - Number(limits[y.name]));
  const until = Number(limits[first.name]);
  const slots = limits.slots < until ? ` There are ${limits.slots.toLocaleString("en")} slots.` : "";
  return `Batching is cheap up to ${until.toLocaleString("en")} requests; then ${ENDS[first.name]}${slots}`;
}

const ENDS = {
  kv: "the KV cache costs as much bandwidth as the weights.",
  compute: "the GPU computes as fast as it can.",
  memory: "memory is full and requests wait.",
  slo: "each user's tokens come slower than the SLO allows.",
  slots: "",
};

/**
 * @param {Point} point
 * @param {boolean} fits
 */
const cellsOf = ({ step_s, tokens_s }, fits) =>
  fits ? [(1000 * step_s).toFixed(2), Math.round(tokens_s).toLocaleString("en")] : ["does not fit", "–"];

/** @param {number} place of the slider */
const contextAt = (place) => Math.round(16 * (LONGEST / 16) ** (place / SLIDER_STEPS));

/** @param {number} context */
const placeOf = (context) => Math.round((SLIDER_STEPS * Math.log(Math.max(16, context) / 16)) / Math.log(LONGEST / 16));

/**
 * @template T, U
 * @param {Record<string, T>} record
 * @param {(value: T, key: string) => U} make
 * @returns {Record<string, U>}
 */
const mapped = (record, make) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value, key)]));
