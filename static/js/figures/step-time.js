/** Step by step: the steps around the playhead as boxes as wide as they take, and what the current one reads and computes. */
import { element, part, tableOf, write } from "../dom.js";
import { inner } from "../focus.js";
import { livesOf } from "../lives.js";
import { stepAt } from "../run.js";
import { drawBoxes, placesOf } from "../stepboxes.js";
import { boundSentence } from "../stepcard.js";
import { soFar, stepTimeOf } from "../steptime.js";
import { StepWindow } from "../stepwindow.js";
import { lifeText, rowOf, soFarText, titleOf } from "../stepwords.js";
import { drawAxis, penOf } from "../timeline.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../run.js").Run} Run
 * @typedef {import("../frame.js").Frame} Frame
 * @typedef {import("../steptime.js").StepTime} StepTime
 * @typedef {import("../lives.js").Life} Life
 */

const CALM_MS = 100;
const AXIS = 36;
const HEIGHTS = { one: 44, row: 15, most: 132 };

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new StepTimeFigure(card, stage);
  return {
    draw: () => figure.draw(),
    move: () => figure.move(),
    light: () => figure.draw(),
    costs: () => figure.draw(),
    readings: () => figure.readings(),
  };
}

class StepTimeFigure {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.canvas = /** @type {HTMLCanvasElement} */ (part(card, ".step-boxes canvas"));
    this.drawnAt = 0;
    /** @type {StepWindow | null} */
    this.window = null;
    this.span = { t0: 0, t1: 1 };
    this.canvas.addEventListener("click", (event) => this.go(event.clientX));
    this.canvas.addEventListener("pointermove", (event) => this.pointed(event));
    this.canvas.addEventListener("pointerleave", () => stage.dispatchEvent(new Event("unlight")));
  }

  /** Formulas of the run in focus. */
  get costs() {
    return this.stage.costs.runs[this.stage.state.run];
  }

  /** While it plays, ten times a second are as often as can be read. */
  move() {
    if (this.stage.playhead.isPlaying && performance.now() - this.drawnAt < CALM_MS) return;
    this.draw();
  }

  draw() {
    const { run } = this.stage;
    if (!run) return;
    this.drawnAt = performance.now();
    if (this.window?.run !== run) this.window = new StepWindow(run);
    this.paint(this.window);
    this.tell(run);
  }

  /** @param {StepWindow} window */
  paint(window) {
    const { stage, canvas } = this;
    const high = window.rows === 1 ? HEIGHTS.one : Math.min(HEIGHTS.most, window.rows * HEIGHTS.row);
    canvas.style.height = `${high + AXIS}px`;
    const { pen, width, height } = penOf(canvas);
    this.span = window.spanAt(stage.at, width);
    const boxes = window.boxesIn(this.span);
    const now = window.run.first + stage.step();
    const strip = { boxes, rows: window.rows, now, at: stage.at, lit: stage.lit };
    pen.save();
    drawBoxes(pen, { width, height: height - AXIS }, this.span, strip, stage.palette);
    pen.restore();
    pen.translate(0, height - AXIS + 9);
    drawAxis(pen, width, this.span, window.run.requests.arrival_us, stage.palette);
  }

  /**
   * To the step that is clicked on.
   * @param {number} clientX
   */
  go(clientX) {
    const { run } = this.stage;
    const s = run ? stepAt(run, this.timeAt(clientX)) : -1;
    if (run && s >= 0) this.stage.seek(run.start_us[s]);
  }

  /**
   * Light the request that is pointed at.
   * @param {PointerEvent} event
   */
  pointed({ clientX, clientY }) {
    const { window, stage } = this;
    if (!window || stage.playhead.isPlaying) return;
    const { top, height } = this.canvas.getBoundingClientRect();
    const y = clientY - top;
    const slot = placesOf(window.rows, height - AXIS).findIndex(
      (place) => y >= place.top && y < place.top + place.height,
    );
    const s = stepAt(window.run, this.timeAt(clientX));
    const mark = s < 0 ? undefined : window.box(s).marks.find((each) => each.slot === slot);
    if (mark) stage.light(mark.request);
    else stage.dispatchEvent(new Event("unlight"));
  }

  /**
   * Time at a place on the strip [us].
   * @param {number} clientX
   */
  timeAt(clientX) {
    const { left, width } = this.canvas.getBoundingClientRect();
    return this.span.t0 + ((clientX - left) / width) * (this.span.t1 - this.span.t0);
  }

  /** @param {Run} run */
  tell(run) {
    const frame = this.stage.frame();
    write(part(this.card, "[data-focused]"), inner(this.stage.labelOf(this.stage.state.run)));
    write(part(this.card, "[data-part=title]"), frame ? titleOf(frame) : "Nothing has run yet.");
    const time = frame && stepTimeOf(frame, this.costs);
    this.list(frame, time);
    write(part(this.card, "[data-part=bound]"), frame ? boundSentence(frame) : "");
    const life = this.life(run);
    write(part(this.card, "[data-part=so-far]"), soFarText(run, this.stage.step(), this.costs));
    write(part(this.card, "[data-part=life]"), life ? lifeText(life) : "");
    if (!this.stage.playhead.isPlaying) this.describe(frame, time);
  }

  /**
   * Bars of the current step; where there are no prices yet for these runs, those of before step back.
   * @param {Frame | null} frame
   * @param {StepTime | null} time
   */
  list(frame, time) {
    const list = part(this.card, ".step-terms");
    list.hidden = !frame || this.costs?.kind === "unit";
    list.classList.toggle("stale", !time);
    if (time) list.replaceChildren(...time.terms.flatMap((term) => cellsOf(term, time.step_ms)));
  }

  /** The request that is lit, or the first. @param {Run} run @returns {Life | undefined} */
  life(run) {
    const lives = livesOf(run);
    return lives.get(this.stage.lit ?? -1) ?? lives.get(0) ?? lives.values().next().value;
  }

  /**
   * The description twin and the table view.
   * @param {Frame | null} frame
   * @param {StepTime | null} time
   */
  describe(frame, time) {
    const texts = ["title", "bound", "so-far", "life"].map(
      (name) => part(this.card, `[data-part=${name}]`).textContent,
    );
    const terms = time?.terms.map(({ label, ms, amount }) => `${label} ${ms.toFixed(2)} ms (${amount})`).join("; ");
    const label = this.stage.labelOf(this.stage.state.run);
    write(
      part(this.card, "[data-twin]"),
      `${label}. ${texts[0]} ${terms ? `${terms}.` : ""} ${texts.slice(1).join(" ")}`,
    );
    if (!frame || !this.window) return;
    const { run } = frame;
    const rows = this.window.boxesIn(this.span).map(({ step }) => rowOf(run, step - run.first));
    const heads = ["step", "start", "takes", "prompt tokens", "decode tokens", "tokens so far"];
    part(this.card, ".table-scroll").replaceChildren(tableOf(`Steps around the playhead, ${label}`, heads, rows));
  }

  /** @returns {Record<string, number | null>} */
  readings() {
    const { run } = this.stage;
    const frame = this.stage.frame();
    if (!run || !frame) return {};
    const s = frame.position;
    const time = stepTimeOf(frame, this.costs);
    const far = this.costs ? soFar(run, s, this.costs) : null;
    const life = this.life(run);
    const term = (/** @type {string} */ name) => time?.terms.find((each) => each.name === name)?.ms ?? null;
    const ms = (/** @type {number | null | undefined} */ us) => (us == null ? null : us / 1000);
    return {
      step: frame.step,
      prefill_tokens: run.steps.prefill[s],
      decode_tokens: run.steps.decode[s],
      step_ms: (run.end_us[s] - run.start_us[s]) / 1000,
      weights_ms: term("weights"),
      kv_ms: term("kv"),
      compute_ms: term("compute"),
      host_ms: term("overhead"),
      weights_bytes: time?.weights_bytes ?? null,
      kv_bytes: time?.kv_bytes ?? null,
      tokens_so_far: far?.tokens ?? null,
      reads_so_far: far?.reads ?? null,
      read_bytes_so_far: far?.bytes ?? null,
      ttft_ms: ms(life?.ttft),
      tpot_ms: ms(life?.tpot),
    };
  }
}

/**
 * @param {import("../steptime.js").Term} term
 * @param {number} step_ms
 */
function cellsOf({ name, label, ms, amount, isBound }, step_ms) {
  const width = `--w: ${Math.min(100, (100 * ms) / step_ms).toFixed(2)}%`;
  const sign = isBound ? [element("b", { class: "bounds" }, "bounds the step")] : [];
  return [
    element("dt", { "data-term": name, ...(isBound ? { class: "bound" } : {}) }, label),
    element("dd", { class: "bar", "aria-hidden": "true", style: width }),
    element("dd", { class: "ms" }, `${ms.toFixed(2)} ms`),
    element("dd", { class: "amount" }, amount, " ", ...sign),
  ];
}
