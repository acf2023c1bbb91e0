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
  return {
    flop: token_flop * tokens + work.head_sampled_flop * sampled,
    bytes: weightsBytes(work, tokens, sampled) + work.activation_token_bytes * tokens,
  };
}

/**
 * Bytes of weights that a step reads.
 * @param {Record<string, number>} work
 * @param {number} tokens
 * @param {number} sampled
 */
export function weightsBytes(work, tokens, sampled) {
  const head_bytes = sampled > 0 ? work.head_bytes : 0;
  const experts_bytes = work.experts_bytes * (1 - power(work.expert_miss, Math.trunc(tokens)));
  return work.dense_bytes + head_bytes + experts_bytes;
}

/**
 * KV is read once a row and step; that of the step's own tokens is written.
 * @param {Record<string, number>} work
 * @param {Step} step
 */
function attentionOf(work, step) {
  const { tokens, sampled = 0, decode_context = 0, prefill_pairs = 0 } = step;
  const written = tokens * (work.full_layers + work.sliding_layers);
  const pairs = inLayers(work, decode_context, sampled) + inLayers(work, prefill_pairs, tokens);
  return { flop: work.pair_layer_flop * pairs, bytes: kvReadBytes(work, step) + work.kv_layer_bytes * written };
}

/**
 * Bytes of KV that a step reads.
 * @param {Record<string, number>} work
 * @param {Step} step
 */
export const kvReadBytes = (work, { tokens, sampled = 0, decode_context = 0, prefill_context = 0 }) =>
  work.kv_layer_bytes * (inLayers(work, decode_context, sampled) + inLayers(work, prefill_context, tokens));

/**
 * An amount in all layers; those with a sliding window see less of it.
 * @param {Record<string, number>} work
 * @param {number} amount
 * @param {number} rows
 */
const inLayers = (work, amount, rows) =>
  work.full_layers * amount + work.sliding_layers * Math.min(amount, work.window * rows);
