/**
 * What a run has computed and brought, step by step.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {object} Tally columns of the steps that are here
 * @property {Int32Array} outputs tokens that have come out once the step is done, counted from the first that is here
 * @property {Int32Array} tokens computed in the step, padding included
 * @property {Int32Array} sampled rows of the step that sample
 */
import { compositionOfFrame } from "./composition.js";
import { schedule, update } from "./fold.js";
import { Kind } from "./kinds.js";
import { firstFrame } from "./start.js";

/** @type {WeakMap<Run, Tally>} */
const known = new WeakMap();

/**
 * @param {Run} run
 * @returns {Tally}
 */
export function tallyOf(run) {
  const before = known.get(run);
  if (before) return before;
  const tally = readTally(run);
  known.set(run, tally);
  return tally;
}

/**
 * @param {Run} run
 * @returns {Tally}
 */
function readTally(run) {
  const column = () => new Int32Array(run.count);
  const tally = { outputs: column(), tokens: column(), sampled: column() };
  const frame = firstFrame(run);
  const first = pending(frame);
  let finished = 0;
  for (let s = 0; s < run.count; s++) {
    schedule(frame);
    const { tokens, sampled } = compositionOfFrame(frame);
    tally.tokens[s] = tokens;
    tally.sampled[s] = sampled;
    update(frame);
    finished += finishedIn(run, s);
    tally.outputs[s] = finished + pending(frame) - first;
  }
  return tally;
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
