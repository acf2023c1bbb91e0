/** What one more user costs, by formula: sliders, the formula with its values, both curves, and where each limit sets in. */
import { limitsOf, readingOf, typicalContext } from "../batch.js";
import { curveOf, filled, laidOut, widest } from "../batchchart.js";
import { Knobs } from "../batchknobs.js";
import { stepAt, twinOf } from "../batchstep.js";
import { limitText, ms, textsOf, verdictOf } from "../batchwords.js";
import { Chart } from "../chart.js";
import { part, tableOf, write } from "../dom.js";
import { inner } from "../focus.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../costs.js").Costs} Costs
 * @typedef {import("../batch.js").Limits} Limits
 * @typedef {import("../batchwords.js").Reading} Reading
 * @typedef {import("../batchchart.js").Scene} Scene
 */

const DRAW_MS = 16;
const ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new BatchCurve(card, stage);
  return {
    draw: () => figure.draw(),
    costs: () => figure.draw(),
    move: () => figure.move(),
    readings: () => figure.readings(),
  };
}

/**
 * Light what a term of the formula stands for (weights, kv, users, bandwidth, step, rest, compute), wherever it is in
 * the card; null: nothing. The same as the card's attribute data-lit-term.
 * @param {HTMLElement} card
 * @param {string | null} term
 */
export function lightTerm(card, term) {
  if (term === null) delete card.dataset.litTerm;
  else card.dataset.litTerm = term;
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
    this.timer = 0;
    /** @type {Reading | null} */
    this.reading = null;
    this.chart.placed = () => this.places();
    this.knobs = new Knobs(card, (what) => (what === "users" ? this.mark() : this.draw()));
    /** Term that was lit before the pointer or the focus came to another. @type {string | null | undefined} */
    this.litBefore = undefined;
    for (const event of ["pointerover", "focusin"]) card.addEventListener(event, ({ target }) => this.light(target));
    for (const event of ["pointerleave", "focusout"]) card.addEventListener(event, () => this.light(null));
  }

  /** @param {EventTarget | null} target in the card */
  light(target) {
    const term = target instanceof Element ? target.closest("[data-term]")?.getAttribute("data-term") : undefined;
    if (term) {
      if (this.litBefore === undefined) this.litBefore = this.card.dataset.litTerm ?? null;
      lightTerm(this.card, term);
    } else if (this.litBefore !== undefined) {
      lightTerm(this.card, this.litBefore);
      this.litBefore = undefined;
    }
  }

  /** Formulas of the run in focus. @returns {Costs | undefined} */
  get costs() {
    return this.stage.costs.runs[this.stage.state.run];
  }

  /** @param {Costs} costs */
  contextOf = ({ scenario }) => this.knobs.context ?? typicalContext(scenario);

  /** Another batch size: the curves stay. */
  mark() {
    this.tell();
    this.chart.follow(() => this.places(), 0);
  }

  /** The words at once, the chart as often as it can follow. */
  draw() {
    this.tell();
    this.timer ||= window.setTimeout(() => this.drawNow(), DRAW_MS);
  }

  drawNow() {
    this.timer = 0;
    const { costs } = this;
    if (!costs) return;
    const scene = this.sceneOf(costs);
    const { token } = this.stage.palette;
    this.chart.figure.layout = laidOut(this.layout, scene, token);
    this.chart.draw((trace) => filled(trace, scene, token));
    this.list(scene);
  }

  /**
   * @param {Costs} costs
   * @returns {Scene}
   */
  sceneOf(costs) {
    const { runs } = this.stage.costs;
    const all = mapped(runs, (each) => limitsOf(each, this.contextOf(each)));
    const most = widest(Object.values(all), this.knobs.users);
    const curves = mapped(runs, (each, run) => curveOf(each, this.contextOf(each), all[run].memory, most));
    const focus = this.stage.state.run;
    const { clientWidth: width, clientHeight: height } = this.chart.box;
    const slo_ms = costs.scenario.slo_tpot_ms;
    return { curves, curve: curves[focus], limits: all[focus], slo_ms, most, width, height };
  }

  move() {
    this.chart.follow(() => this.places());
    part(this.card, ".now").hidden = !stepAt(this.stage)?.batch;
    if (!this.stage.playhead.isPlaying) this.describe();
  }

  /** Of the run in focus, and of each run with its name before: `b.at_memory`. @returns {Record<string, number | null>} */
  readings() {
    const { users, context } = this.reading ?? {};
    if (users === undefined || context === undefined) return {};
    const each = Object.entries(this.stage.costs.runs).flatMap(([run, costs]) =>
      Object.entries(readingOf(costs, users, context, limitsOf(costs, context))).map(([name, value]) => [
        `${run}.${name}`,
        value,
      ]),
    );
    return { ...Object.fromEntries(each), ...this.reading };
  }

  /** Where the chosen batch size is, and the current step. */
  places() {
    const { ink, card } = this.stage.palette.token;
    const [r, now] = [this.reading, stepAt(this.stage)];
    const dot = { visible: Boolean(r), xanchor: r?.users, fillcolor: ink, line: { color: card, width: 1.5 } };
    const ring = { visible: Boolean(now?.batch), xanchor: now?.batch, line: { color: ink, width: 2 } };
    return [
      { x0: r?.users, x1: r?.users, visible: Boolean(r) },
      { ...dot, yanchor: r?.tokens_s },
      { ...dot, yanchor: r?.step_ms },
      { ...ring, yanchor: now?.tokens_s },
      { ...ring, yanchor: 1000 * (now?.duration_s ?? 0) },
    ];
  }

  /** All words and numbers. */
  tell() {
    const { costs, card, knobs } = this;
    if (!costs) return;
    const context = this.contextOf(costs);
    const limits = limitsOf(costs, context);
    const all = Object.values(this.stage.costs.runs).map((each) => limitsOf(each, this.contextOf(each)));
    const most = widest(all, knobs.users);
    const users = Math.min(most, knobs.users ?? Math.max(1, Math.min(limits.slots, limits.memory)));
    knobs.show(users, context, most);
    const before = JSON.stringify(this.reading);
    this.reading = readingOf(costs, users, context, limits);
    this.write(costs, limits, this.reading);
    this.describe();
    if (JSON.stringify(this.reading) !== before) this.stage.dispatchEvent(new Event("readings"));
    card.toggleAttribute("data-past-memory", users > limits.memory);
  }

  /**
   * @param {Costs} costs
   * @param {Limits} limits
   * @param {Reading} reading
   */
  write({ kind, scenario }, limits, reading) {
    const { card } = this;
    const texts = textsOf(reading, scenario);
    for (const node of card.querySelectorAll("[data-says]")) write(node, texts[node.getAttribute("data-says") ?? ""]);
    for (const node of /** @type {NodeListOf<HTMLElement>} */ (card.querySelectorAll("[data-limit]")))
      write(node, limitText(limits[/** @type {keyof Limits} */ (node.dataset.limit)]));
    for (const node of card.querySelectorAll("[data-drafts]"))
      node.toggleAttribute("hidden", scenario.num_speculative_tokens === 0);
    part(card, ".formulas").hidden = kind === "unit";
    write(part(card, ".verdict"), verdictOf(kind, limits, reading.users));
    write(part(card, "[data-focused]"), inner(this.stage.labelOf(this.stage.state.run)));
  }

  /** The description twin. */
  describe() {
    if (!this.reading) return;
    write(part(this.card, "[data-twin]"), twinOf(this.stage, this.reading));
  }

  /**
   * The table view.
   * @param {Scene} scene
   */
  list({ curves, most }) {
    const runs = Object.keys(curves);
    const heads = ["users", ...runs.flatMap((run) => [`${this.stage.labelOf(run)}: ms`, "tokens/s"])];
    const rows = ROWS.filter((batch) => batch <= most).map((batch) => [
      batch.toLocaleString("en"),
      ...runs.flatMap((run) => cellsOf(curves[run], batch)),
    ]);
    part(this.card, ".table-scroll").replaceChildren(tableOf("Step time and throughput by batch size", heads, rows));
  }
}

/**
 * @param {import("../batchchart.js").Curve} curve
 * @param {number} batch
 */
function cellsOf({ at, points }, batch) {
  if (batch > (points.at(-1)?.batch ?? 0)) return ["does not fit", "–"];
  const { step_s, tokens_s } = at(batch);
  return [ms(1000 * step_s), Math.round(tokens_s).toLocaleString("en")];
}

/**
 * @template T, U
 * @param {Record<string, T>} record
 * @param {(value: T, key: string) => U} make
 * @returns {Record<string, U>}
 */
const mapped = (record, make) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value, key)]));
