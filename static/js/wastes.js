/**
 * Five wastes of a run, each what one technique of serving removes: twin of sim/wastes.py.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./frame.js").Seat} Seat
 * @typedef {object} Wastes null where there is nothing to be a part of
 * @property {number | null} held share of slot-time, of the whole run
 * @property {number | null} unused share of the KV memory that requests had reserved, over time
 * @property {number} prefill tokens of prompts that were computed
 * @property {number} repeated those of them that had been computed before
 * @property {number} frozen time of all streams together in pauses that the prompts of others made too long [us]
 * @property {number | null} pause longest time between two tokens of a request [us]
 * @property {number | null} reads passes over the weights for each output token
 */
import { schedule, update } from "./fold.js";
import { scenarioAt } from "./fork.js";
import { tokensOf } from "./kvcells.js";
import { firstFrame } from "./start.js";
import { streamsOf } from "./streams.js";
import { tallyOf } from "./tally.js";
import { Texts } from "./texts.js";

/** @type {WeakMap<Run, Wastes>} */
const known = new WeakMap();

/**
 * @param {Run} run
 * @returns {Wastes}
 */
export function wastesOf(run) {
  const before = known.get(run);
  if (before) return before;
  const wastes = count(run);
  known.set(run, wastes);
  return wastes;
}

/**
 * @param {Run} run
 * @returns {Wastes}
 */
function count(run) {
  const { outputs } = tallyOf(run);
  const tokens = run.count ? outputs[run.count - 1] : 0;
  const { worst } = streamsOf(run);
  return {
    ...foldedOf(run),
    held: run.metrics.held_slot_share,
    pause: worst ? worst.to - worst.from : null,
    reads: tokens > 0 ? run.count / tokens : null,
  };
}

/** @param {Run} run */
function foldedOf(run) {
  const frame = firstFrame(run);
  const texts = new Texts(run);
  const tables = new Tables();
  const pauses = new Pauses(run);
  let [reserved, unused, prefill, repeated] = [0, 0, 0, 0];
  for (let s = 0; s < run.count; s++) {
    schedule(frame);
    const duration = run.end_us[s] - run.start_us[s];
    for (const request of frame.preempted) tables.blocks.delete(request);
    for (const seat of frame.seats.values()) {
      const room = tables.roomOf(frame, seat);
      reserved += duration * room;
      unused += room ? duration * (room - tokensOf(seat)) : 0;
      if (seat.scheduled)
        repeated += texts.compute(seat.request, seat.computed, seat.scheduled - Math.abs(seat.drafts));
    }
    prefill += run.steps.prefill[s];
    pauses.pass(frame);
    update(frame);
  }
  return { unused: reserved > 0 ? unused / reserved : null, prefill, repeated, frozen: pauses.frozen };
}

/** Sizes of block tables, also where a run came without block ids. */
class Tables {
  constructor() {
    /** @type {Map<number, number>} by request */
    this.blocks = new Map();
  }

  /**
   * Tokens that the blocks of a request can hold.
   * @param {Frame} frame
   * @param {Seat} seat
   */
  roomOf({ run, setting }, seat) {
    const { region, blockSize, dropsRows } = setting;
    if (region) return region * blockSize;
    if (run.hasBlocks) return seat.blocks.length * blockSize;
    if (seat.phase === "held" && dropsRows) return 0;
    // A table grows with the tokens of a step, drafts included, and does not shrink when these are rejected.
    const needed = Math.ceil(tokensOf(seat) / blockSize);
    const blocks = Math.max(needed, this.blocks.get(seat.request) ?? 0);
    this.blocks.set(seat.request, blocks);
    return blocks * blockSize;
  }
}

/** Time of streams in gaps that the prompts of others made longer than the SLO for a token. */
class Pauses {
  /** @param {Run} run */
  constructor(run) {
    this.run = run;
    this.frozen = 0;
    this.prompts = 0;
    /** When a request's last token came, and the prompt tokens computed by then. @type {Map<number, {end: number, prompts: number}>} */
    this.last = new Map();
  }

  /**
   * Take the tokens of the step that a frame is at.
   * @param {Frame} frame
   */
  pass({ position, preempted, seats }) {
    const { run, last } = this;
    const end = run.end_us[position];
    const limit = 1000 * scenarioAt(run, position).slo_tpot_ms;
    this.prompts += run.steps.prefill[position];
    for (const request of preempted) last.delete(request);
    for (const { request, samples } of seats.values()) {
      if (!samples) continue;
      const before = last.get(request);
      if (before && end - before.end > limit && this.prompts > before.prompts) this.frozen += end - before.end;
      last.set(request, { end, prompts: this.prompts });
    }
  }
}
