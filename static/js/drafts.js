/**
 * What became of the draft tokens of a run: step by step, and by how many of a pass were accepted.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {{passes: number, drafted: number, accepted: number}} Tally
 * @typedef {object} Drafts
 * @property {(s: number) => Tally} step of one step
 * @property {(s: number) => Tally} until up to and with a step
 * @property {number[]} lengths passes by how many drafts they accepted
 */
import { countsOf } from "./composition.js";
import { Kind } from "./kinds.js";

/**
 * @param {Run} run
 * @returns {Drafts}
 */
export function draftsOf(run) {
  const sums = {
    passes: new Int32Array(run.count),
    drafted: new Int32Array(run.count),
    accepted: new Int32Array(run.count),
  };
  for (let s = 0; s < run.count; s++) {
    const { verified, drafted, accepted } = countsOf(run, s);
    sums.passes[s] = verified + (s ? sums.passes[s - 1] : 0);
    sums.drafted[s] = drafted + (s ? sums.drafted[s - 1] : 0);
    sums.accepted[s] = accepted + (s ? sums.accepted[s - 1] : 0);
  }
  const until = (/** @type {number} */ s) =>
    s < 0
      ? { passes: 0, drafted: 0, accepted: 0 }
      : { passes: sums.passes[s], drafted: sums.drafted[s], accepted: sums.accepted[s] };
  return { until, step: (s) => minus(until(s), until(s - 1)), lengths: lengthsOf(run) };
}

/**
 * @param {Tally} x
 * @param {Tally} y
 * @returns {Tally}
 */
const minus = (x, y) => ({
  passes: x.passes - y.passes,
  drafted: x.drafted - y.drafted,
  accepted: x.accepted - y.accepted,
});

/**
 * A pass of which nothing was accepted has no event of its own.
 * @param {Run} run
 */
function lengthsOf({ events, scenario }) {
  const lengths = Array.from({ length: scenario.num_speculative_tokens + 1 }, () => 0);
  for (let e = 0; e < events.kind.length; e++)
    if (events.kind[e] === Kind.DRAFT) lengths[0]++;
    else if (events.kind[e] === Kind.ACCEPT && events.a[e] > 0) {
      lengths[events.a[e]]++;
      lengths[0]--;
    }
  return lengths;
}

/**
 * Share of passes by the formula that accept so many of k drafts, each with probability a: a^i (1 - a), and a^k for all.
 * @param {number} k
 * @param {number} a
 */
export const expectedShares = (k, a) => Array.from({ length: k + 1 }, (_, i) => (i < k ? a ** i * (1 - a) : a ** k));
