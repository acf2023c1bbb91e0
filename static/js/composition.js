/**
 * What a step was made of, as the cost model wants it: from the columns that come with block ids and the step's events, or
 * from who is in which slot.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {Required<import("./cost.js").Step>} Composition
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
 * The same without these columns: twin of plan_row in sim/engine/plan.py and of sim/engine/static.py.
 * @param {Frame} frame
 * @returns {Composition}
 */
export function compositionOfFrame(frame) {
  const { run, position, seats } = frame;
  const { admitted, mostDrafts, batch } = countsOf(run, position);
  const made = { tokens: 0, sampled: 0, decode_context: 0, prefill_context: 0, prefill_pairs: 0 };
  let longest = 0;
  for (const seat of seats.values()) {
    const pairs = addSeat(made, seat, frame.setting.dropsRows);
    longest = Math.max(longest, pairs);
    made.prefill_pairs += pairs;
  }
  if (batch) {
    made.tokens = batch.rows * batch.tokens;
    made.prefill_pairs = longest * batch.rows;
  }
  return { ...made, running: seats.size, admitted, drafts: mostDrafts };
}

/**
 * @param {{tokens: number, sampled: number, decode_context: number, prefill_context: number}} made
 * @param {import("./frame.js").Seat} seat
 * @param {boolean} dropsRows
 * @returns {number} query-key pairs, if it is a prompt chunk
 */
function addSeat(made, { phase, computed, scheduled, samples, prompt, outputs }, dropsRows) {
  if (phase === "held") {
    made.tokens += Number(!dropsRows);
    made.decode_context += dropsRows ? 0 : prompt + outputs;
    return 0;
  }
  made.tokens += scheduled;
  made.sampled += Number(samples);
  if (phase === "decode") made.decode_context += scheduled && computed + scheduled;
  else if (scheduled) made.prefill_context += computed;
  return phase === "decode" ? 0 : scheduled * (computed + 0.5 * (scheduled + 1));
}

/**
 * What the events of a step count.
 * @param {Run} run
 * @param {number} s
 */
export function countsOf(run, s) {
  const { kind, a, b } = run.events;
  const batch = /** @type {{rows: number, tokens: number} | null} */ (null);
  const counts = { admitted: 0, drafted: 0, mostDrafts: 0, verified: 0, accepted: 0, batch };
  for (let e = s ? run.events_end[s - 1] : 0; e < run.events_end[s]; e++)
    if (kind[e] === Kind.ADMIT || kind[e] === Kind.RESUME) counts.admitted++;
    else if (kind[e] === Kind.ACCEPT) counts.accepted += a[e];
    else if (kind[e] === Kind.BATCH) counts.batch = { rows: a[e], tokens: b[e] };
    else if (kind[e] === Kind.DRAFT) {
      counts.drafted += a[e];
      counts.verified++;
      counts.mostDrafts = Math.max(counts.mostDrafts, a[e]);
    }
  return counts;
}
