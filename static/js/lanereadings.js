/**
 * What text beside the timeline may quote.
 *
 * @typedef {import("./run.js").Run} Run
 */
import { heldTimeOf, isWhole } from "./heldtime.js";
import { stepAt } from "./run.js";

/**
 * @param {Record<string, Run>} runs
 * @param {number} us playhead
 */
export function readingsOf(runs, us) {
  /** @type {Record<string, number | null>} */
  const all = {};
  for (const [name, run] of Object.entries(runs))
    for (const [key, value] of Object.entries(readingsOfOne(run, us))) all[`${name}.${key}`] = value;
  return all;
}

/**
 * @param {Run} run
 * @param {number} us
 * @returns {Record<string, number | null>}
 */
function readingsOfOne(run, us) {
  const s = stepAt(run, us);
  return {
    held_s: isWhole(run) ? heldTimeOf(run).slot_us / 1e6 : null,
    held_share: run.metrics.held_slot_share,
    running: s < 0 ? 0 : run.steps.running[s],
    held: s < 0 ? 0 : run.steps.held[s],
    waiting: waitingAt(run, us),
    end_s: isWhole(run) ? (run.end_us[run.count - 1] ?? 0) / 1e6 : null,
    steps: run.metrics.steps,
  };
}

/**
 * Requests in the waiting line at a time.
 * @param {Run} run
 * @param {number} us
 */
export function waitingAt(run, us) {
  const s = stepAt(run, us);
  return s < 0 || (run.end_us[s] < us && s + 1 < run.count) || s + 1 > run.count ? 0 : run.steps.waiting[s];
}
