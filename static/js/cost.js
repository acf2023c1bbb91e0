/**
 * One step's time from its composition: twin of sim/cost.py, equal to the bit, from the coefficients that
 * /api/v1/costs sends.
 *
 * @typedef {Record<string, number>} Coefficients as sim.cost.Cost; kind 0: unit, 1: simple, 2: roofline
 * @typedef {object} Step composition of a step; what is absent is 0
 * @property {number} tokens computed, padding included
 * @property {number} [sampled] rows that sample
 * @property {number} [decode_context] context tokens read by decode rows
 * @property {number} [prefill_context] and by prompt chunks
 * @property {number} [prefill_pairs] query-key pairs of the chunks
 * @property {number} [running] requests in the batch
 * @property {number} [admitted] in this step
 * @property {number} [drafts] largest number of draft tokens of a row
 *
 * @typedef {object} Limits the two limits of a part [s]; one of them made it as long as it is
 * @property {number} memory_s reading
 * @property {number} compute_s
 *
 * @typedef {object} Price
 * @property {number} duration_s
 * @property {number} matmul_s
 * @property {number} attention_s
 * @property {number} comm_s
 * @property {number} host_s
 * @property {number} bound index into BOUNDS
 * @property {Limits} matmul
 * @property {Limits} attention
 */

export const BOUNDS = Object.freeze(["weights", "kv", "compute", "communication", "overhead"]);
const NONE = Object.freeze({ memory_s: 0, compute_s: 0 });

/**
 * @param {Coefficients} cost
 * @param {Step} step
 * @returns {Price}
 */
export function price(cost, step) {
  const { tokens, sampled = 0, decode_context = 0, prefill_context = 0, prefill_pairs = 0 } = step;
  if (tokens <= 0 || cost.kind === 0) return unit(tokens > 0 ? 1 : 0);
  const decode_s = read(cost, decode_context, sampled);
  const fetch_s = read(cost, prefill_context, tokens);
  const pairs_s = cost.pair_s * prefill_pairs + cost.pair_window_s * Math.min(prefill_pairs, cost.window * tokens);
  return cost.kind === 1
    ? simple(cost, step, decode_s + fetch_s, pairs_s)
    : roofline(cost, step, decode_s, fetch_s, pairs_s);
}

/** @param {number} host_s */
const unit = (host_s) => ({
  duration_s: host_s,
  matmul_s: 0,
  attention_s: 0,
  comm_s: 0,
  host_s,
  bound: 4,
  matmul: NONE,
  attention: NONE,
});

/**
 * @param {Coefficients} cost
 * @param {number} context
 * @param {number} rows
 */
const read = (cost, context, rows) => cost.kv_s * context + cost.kv_window_s * Math.min(context, cost.window * rows);

/**
 * max((W + KV read) / (eta BW), FLOP / (eta F)): the textbook formula.
 * @param {Coefficients} cost
 * @param {Step} step
 * @param {number} kv_s
 * @param {number} pairs_s
 * @returns {Price}
 */
function simple(cost, { tokens, drafts = 0 }, kv_s, pairs_s) {
  const passes = 1 + drafts * cost.draft_cost;
  const compute_s = cost.dense_token_s * tokens + pairs_s;
  const matmul_s = Math.max(cost.dense_s, compute_s - kv_s);
  return {
    duration_s: (matmul_s + kv_s) * passes,
    matmul_s: matmul_s * passes,
    attention_s: kv_s * passes,
    comm_s: 0,
    host_s: 0,
    bound: compute_s > cost.dense_s + kv_s ? 2 : kv_s > cost.dense_s ? 1 : 0,
    matmul: { memory_s: cost.dense_s * passes, compute_s: compute_s * passes },
    attention: { memory_s: kv_s * passes, compute_s: 0 },
  };
}

/**
 * @param {Coefficients} cost
 * @param {Step} step
 * @param {number} decode_s
 * @param {number} fetch_s
 * @param {number} pairs_s
 * @returns {Price}
 */
function roofline(cost, { tokens, sampled = 0, running = 0, admitted = 0, drafts = 0 }, decode_s, fetch_s, pairs_s) {
  const passes = 1 + drafts * cost.draft_cost;
  const hit = 1 - power(cost.expert_miss, Math.trunc(tokens));
  const experts_s = cost.experts_s * hit;
  const experts_flop_s = cost.experts_token_s * tokens;
  const dense_flop_s = cost.dense_token_s * tokens;
  const head_flop_s = cost.head_sampled_s * sampled;
  const head_s = sampled > 0 ? cost.head_s : 0;
  let matmul_s = smooth(cost.dense_s, dense_flop_s) + smooth(head_s, head_flop_s) + smooth(experts_s, experts_flop_s);
  matmul_s += cost.activation_token_s * tokens;
  const prefill_s = smooth(fetch_s, pairs_s);
  const comm_s = cost.comm_s + cost.comm_token_s * tokens;
  const host_s = cost.overhead_s + cost.running_s * running + cost.admitted_s * admitted;
  const reads = { memory_s: cost.dense_s + head_s + experts_s, compute_s: dense_flop_s + head_flop_s + experts_flop_s };
  const isCompute = reads.compute_s > reads.memory_s;
  const compute_s = (isCompute ? matmul_s : 0) + (pairs_s > fetch_s ? prefill_s : 0);
  const kv_s = decode_s + (pairs_s <= fetch_s ? prefill_s : 0);
  return {
    duration_s: (matmul_s + decode_s + prefill_s + comm_s + host_s) * passes,
    matmul_s: matmul_s * passes,
    attention_s: (decode_s + prefill_s) * passes,
    comm_s: comm_s * passes,
    host_s: host_s * passes,
    bound: largest([isCompute ? 0 : matmul_s, kv_s, compute_s, comm_s, host_s]),
    matmul: { memory_s: reads.memory_s * passes, compute_s: reads.compute_s * passes },
    attention: { memory_s: (decode_s + fetch_s) * passes, compute_s: pairs_s * passes },
  };
}

/**
 * @param {number} a
 * @param {number} b
 */
const smooth = (a, b) => Math.sqrt(a * a + b * b);

/**
 * Integer power by squaring, for Math.pow rounds otherwise.
 * @param {number} base
 * @param {number} exponent
 */
export function power(base, exponent) {
  let result = 1;
  let square = base;
  for (let n = exponent; n > 0 && result > 0; n = Math.floor(n / 2)) {
    if (n % 2 === 1) result *= square;
    square *= square;
  }
  return result;
}

/** @param {number[]} parts in the order of BOUNDS */
const largest = (parts) => parts.indexOf(Math.max(...parts));
