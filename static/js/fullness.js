/**
 * How full the KV memory of a run is: at most, and at the playhead, in numbers and words.
 *
 * @typedef {import("./stage.js").Stage} Stage
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {object} Peak
 * @property {number} running
 * @property {number} waiting
 * @property {number | null} starved of the waiting, while the first of them had too few blocks; null: not known
 * @property {number} preemptions
 */
import { Kind } from "./kinds.js";
import { reasonsOf, Why } from "./waits.js";

const NAMED = 2;

/**
 * Of the whole run; a long one is known by its course.
 * @param {Stage} stage
 * @param {string} name
 * @returns {Peak | null}
 */
export function peakOf(stage, name) {
  const run = stage.scene?.runs[name];
  const course = stage.scene?.courses?.runs[name];
  if (!run) return null;
  const { preemptions } = run.metrics;
  if (course) return { running: most(course.running), waiting: most(course.waiting), starved: null, preemptions };
  const { running, waiting, why } = run.steps;
  const starved = waiting.filter((_, s) => why[s] === Why.BLOCKS);
  return { running: most(running), waiting: most(waiting), starved: most(starved), preemptions };
}

/** @param {Iterable<number>} values */
function most(values) {
  let top = 0;
  for (const value of values) if (value > top) top = value;
  return top;
}

/**
 * Who waits for memory at a step, and who lost his.
 * @param {Frame} frame
 */
export function fullnessInWords(frame) {
  const why = frame.run.steps.why[frame.position];
  const line = frame.waiting.length;
  const lost = [...frame.lives.values()].filter(({ slot }) => slot < 0).map(({ request }) => request);
  const told = lost.slice(0, NAMED).map((request) => lostInWords(frame, request));
  if (lost.length > NAMED) told.push(`So were ${lost.length - NAMED} more.`);
  if (!line) return told.join(" ");
  const { head } = reasonsOf(frame);
  const verb = line === 1 ? "waits" : "wait";
  const full = why === Why.BLOCKS ? `Full. ${line} ${verb}: ${head}.` : `${line} ${verb}, not for memory: ${head}.`;
  return [full, ...told].join(" ");
}

/**
 * @param {Frame} frame
 * @param {number} request that is preempted
 */
function lostInWords({ run, position }, request) {
  const s = lastPreemption(run, position, request);
  const when = s < 0 ? "" : ` at ${(run.start_us[s] / 1e6).toFixed(2)} s`;
  return `Request ${request + 1} was preempted${when}: its blocks went to others, and it starts again.`;
}

/**
 * @param {Run} run
 * @param {number} position
 * @param {number} request
 * @returns {number} -1: before the steps that are here
 */
function lastPreemption(run, position, request) {
  for (let s = position; s >= 0; s--)
    for (let e = s ? run.events_end[s - 1] : 0; e < run.events_end[s]; e++)
      if (run.events.kind[e] === Kind.PREEMPT && run.events.request[e] === request) return s;
  return -1;
}
