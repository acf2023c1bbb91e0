/**
 * What a step was made of, as the cost model wants it, from the columns that come with block ids and the step's events.
 *
 * @typedef {import("./run.js").Run} Run
 */
import { Kind } from "./kinds.js";

/**
 * @param {Run} run with blocks
 * @param {number} s position of the step
 * @returns {import("./cost.js").Step}
 */
export function compositionOf(run, s) {
  const { prefill, decode, padding, sampled, decode_context, prefill_context, running, held } = run.steps;
  const { admitted, mostDrafts } = countsOf(run, s);
  return {
    tokens: prefill[s] + decode[s] + padding[s],
    sampled: sampled[s],
    decode_context: decode_context[s],
    prefill_context: prefill_context[s],
    prefill_pairs: run.prefill_pairs[s],
    running: running[s] + held[s],
    admitted,
    drafts: mostDrafts,
  };
}

/**
 * What the events of a step count.
 * @param {Run} run
 * @param {number} s
 */
export function countsOf(run, s) {
  const { kind, a } = run.events;
  const counts = { admitted: 0, drafted: 0, mostDrafts: 0, verified: 0, accepted: 0 };
  for (let e = s ? run.events_end[s - 1] : 0; e < run.events_end[s]; e++)
    if (kind[e] === Kind.ADMIT || kind[e] === Kind.RESUME) counts.admitted++;
    else if (kind[e] === Kind.ACCEPT) counts.accepted += a[e];
    else if (kind[e] === Kind.DRAFT) {
      counts.drafted += a[e];
      counts.verified++;
      counts.mostDrafts = Math.max(counts.mostDrafts, a[e]);
    }
  return counts;
}
