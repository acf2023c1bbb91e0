/**
 * Work of a step on each GPU, and the roof over it: what the datasheet allows at so many FLOP per byte.
 *
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {import("./cost.js").Step} Step
 * @typedef {object} Work
 * @property {number} flop
 * @property {number} bytes
 * @property {number} seconds
 */
import { power, price } from "./cost.js";

/**
 * FLOP/s that can be had at an intensity [FLOP/byte].
 * @param {Costs} costs
 * @param {number} intensity
 */
export const roofAt = ({ rates }, intensity) => Math.min(rates.peak_flops, rates.bandwidth_bytes_per_s * intensity);

/**
 * Intensity at which the roof is flat [FLOP/byte].
 * @param {Costs} costs
 */
export const ridgeOf = ({ rates }) => rates.peak_flops / rates.bandwidth_bytes_per_s;

/**
 * @param {Costs} costs
 * @param {Step} step
 * @returns {{step: Work, matmul: Work, attention: Work}}
 */
export function worksOf(costs, step) {
  const { duration_s, matmul_s, attention_s } = price(costs.coefficients, step);
  const matmul = { ...matmulOf(costs.work, step), seconds: matmul_s };
  const attention = { ...attentionOf(costs.work, step), seconds: attention_s };
  const flop = matmul.flop + attention.flop;
  return { step: { flop, bytes: matmul.bytes + attention.bytes, seconds: duration_s }, matmul, attention };
}

/**
 * @param {Record<string, number>} work
 * @param {Step} step
 */
function matmulOf(work, { tokens, sampled = 0 }) {
  const token_flop = work.dense_token_flop + work.experts_token_flop;
  const head_bytes = sampled > 0 ? work.head_bytes : 0;
  const experts_bytes = work.experts_bytes * (1 - power(work.expert_miss, Math.trunc(tokens)));
  return {
    flop: token_flop * tokens + work.head_sampled_flop * sampled,
    bytes: work.dense_bytes + head_bytes + experts_bytes + work.activation_token_bytes * tokens,
  };
}

/**
 * KV is read once a row and step; that of the step's own tokens is written.
 * @param {Record<string, number>} work
 * @param {Step} step
 */
function attentionOf(work, { tokens, sampled = 0, decode_context = 0, prefill_context = 0, prefill_pairs = 0 }) {
  const layers = (/** @type {number} */ amount, /** @type {number} */ rows) =>
    work.full_layers * amount + work.sliding_layers * Math.min(amount, work.window * rows);
  const read = layers(decode_context, sampled) + layers(prefill_context, tokens);
  const written = tokens * (work.full_layers + work.sliding_layers);
  return {
    flop: work.pair_layer_flop * (layers(decode_context, sampled) + layers(prefill_pairs, tokens)),
    bytes: work.kv_layer_bytes * (read + written),
  };
}
