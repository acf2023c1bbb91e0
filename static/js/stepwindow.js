/**
 * Which steps are drawn as boxes: about as many as can be told apart, the one at the playhead among them.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./stepboxes.js").Box} Box
 * @typedef {import("./stepboxes.js").Mark} Mark
 * @typedef {import("./timeline.js").Span} Span
 */
import { Replay } from "./replay.js";
import { stepAt } from "./run.js";

const WIDE = 26;
const PLACE = 0.35;
const MOST_KEPT = 2000;

export class StepWindow {
  /** @param {Run} run */
  constructor(run) {
    this.run = run;
    this.replay = new Replay(run);
    /** @type {Map<number, Box>} by position */
    this.boxes = new Map();
    const durations = Float64Array.from(run.end_us, (end, s) => end - run.start_us[s]).sort();
    this.median = durations[durations.length >> 1] ?? 1e4;
    this.longest = durations[durations.length - 1] ?? 1e4;
    const { running, held } = run.steps;
    this.rows = running.reduce((most, count, s) => Math.max(most, count + held[s]), 1);
  }

  /**
   * Time that is drawn. Steps that take much longer than most leave the others room.
   * @param {number} at [us]
   * @param {number} width [px]
   * @returns {Span}
   */
  spanAt(at, width) {
    const usual = Math.max(8, Math.min(30, width / WIDE)) * this.median;
    const length = Math.max(1, usual, Math.min(1.8 * this.longest, 3 * usual));
    const first = this.run.start_us[0] ?? 0;
    const last = this.run.end_us[this.run.count - 1] ?? 0;
    const t0 = Math.max(first, Math.min(at - PLACE * length, last - length));
    return { t0, t1: t0 + length };
  }

  /**
   * @param {Span} span
   * @returns {Box[]}
   */
  boxesIn({ t0, t1 }) {
    const { run } = this;
    const boxes = [];
    for (let s = Math.max(0, stepAt(run, t0)); s < run.count && run.start_us[s] < t1; s++)
      if (run.end_us[s] > t0) boxes.push(this.box(s));
    return boxes;
  }

  /**
   * @param {number} s
   * @returns {Box}
   */
  box(s) {
    const before = this.boxes.get(s);
    if (before) return before;
    if (this.boxes.size > MOST_KEPT) this.boxes.clear();
    const { seats } = this.replay.at(s);
    const marks = [...seats.values()].filter(({ phase, scheduled }) => scheduled > 0 || phase === "held").map(markOf);
    const box = { step: this.run.first + s, start: this.run.start_us[s], end: this.run.end_us[s], marks };
    this.boxes.set(s, box);
    return box;
  }
}

/**
 * @param {import("./frame.js").Seat} seat
 * @returns {Mark}
 */
const markOf = ({ request, slot, phase, scheduled, outputs }) => ({
  request,
  slot,
  phase,
  tokens: phase === "decode" ? outputs + 1 : scheduled,
});
