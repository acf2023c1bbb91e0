/**
 * The fork of a run: where it is, and what holds before and after.
 *
 * @typedef {import("./run.js").Run} Run
 */

/**
 * Whether a step is one with the settings of the fork.
 * @param {Run} run
 * @param {number} s position in the run's columns
 */
export const isForked = (run, s) => run.facts.fork?.step != null && run.first + s >= run.facts.fork.step;

/**
 * The scenario as it is at a step.
 * @param {Run} run
 * @param {number} s
 * @returns {Record<string, any>}
 */
export const scenarioAt = (run, s) =>
  isForked(run, s) ? { ...run.scenario, ...run.facts.fork.changes } : run.scenario;

/**
 * Slots that a picture of the run has: the most there are at any time.
 * @param {Run} run
 */
export function slotsOf(run) {
  const { step, changes } = run.facts.fork ?? { step: null, changes: {} };
  return Math.max(run.scenario.max_num_seqs, step === null ? 0 : (changes.max_num_seqs ?? 0));
}

/**
 * When the runs part [us]; null if there is no fork, or it comes after the last step.
 * @param {Record<string, Run>} runs
 */
export function forkTime(runs) {
  const fork = runs.fork?.facts.fork;
  return fork && fork.step !== null ? fork.time_s * 1e6 : null;
}
