/** Output tokens of a run, step by step. */
import { schedule, update } from "./fold.js";
import { Kind } from "./kinds.js";
import { firstFrame } from "./start.js";

/**
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 */

/** @type {WeakMap<Run, Int32Array>} */
const known = new WeakMap();

/**
 * Tokens that have come out once each step is done, counted from the first step that is here.
 * @param {Run} run
 * @returns {Int32Array}
 */
export function outputsOf(run) {
  const before = known.get(run);
  if (before) return before;
  const counts = countsOf(run);
  known.set(run, counts);
  return counts;
}

/** @param {Run} run */
function countsOf(run) {
  const counts = new Int32Array(run.count);
  const frame = firstFrame(run);
  const first = pending(frame);
  let finished = 0;
  for (let s = 0; s < run.count; s++) {
    schedule(frame);
    update(frame);
    finished += finishedIn(run, s);
    counts[s] = finished + pending(frame) - first;
  }
  return counts;
}

/**
 * Tokens of requests that are not finished.
 * @param {Frame} frame
 */
function pending(frame) {
  let tokens = 0;
  for (const seat of frame.lives.values()) if (seat.phase !== "held") tokens += seat.outputs;
  return tokens;
}

/**
 * Tokens of requests that finish in a step.
 * @param {Run} run
 * @param {number} s
 */
function finishedIn({ events, events_end }, s) {
  let tokens = 0;
  for (let e = s ? events_end[s - 1] : 0; e < events_end[s]; e++)
    if (events.kind[e] === Kind.FINISH) tokens += events.b[e];
  return tokens;
}
