/**
 * What a batch size does, by formula: a step that decodes B requests of equal context, and the limits that end cheap
 * batching.
 *
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {object} Limits the batch size at which each sets in; null: not below MOST
 * @property {number | null} kv reading the KV cache takes as long as reading the weights
 * @property {number | null} compute computing takes as long as reading
 * @property {number} memory the last that fits
 * @property {number | null} slo a token takes slo_tpot_ms
 * @property {number} slots
 */
import { price } from "./cost.js";

export const MOST = 65_536;

/**
 * Tokens that a pass brings on average: one, or with k drafts that are each accepted with probability a, and only
 * up to the first that is not, (1 - a^(k+1)) / (1 - a).
 * @param {number} drafts
 * @param {number} acceptance
 */
export const tokensPerPass = (drafts, acceptance) =>
  acceptance < 1 ? (1 - acceptance ** (drafts + 1)) / (1 - acceptance) : drafts + 1;

/**
 * Tokens in the KV cache of a request that is half done, by the medians of the scenario.
 * @param {Record<string, any>} scenario
 */
export const typicalContext = ({ shared_prefix_tokens, prompt_tokens, output_tokens }) =>
  Math.max(1, Math.round(shared_prefix_tokens + prompt_tokens + output_tokens / 2));

/**
 * @param {Costs} costs
 * @param {number} batch
 * @param {number} context tokens of each
 */
export function priceAt({ coefficients, scenario }, batch, context) {
  const drafts = scenario.num_speculative_tokens;
  return price(coefficients, {
    tokens: batch * (1 + drafts),
    sampled: batch,
    decode_context: batch * context,
    running: batch,
    drafts,
  });
}

/**
 * Time of a step and output tokens a second.
 * @param {Costs} costs
 * @param {number} batch
 * @param {number} context
 */
export function pointAt(costs, batch, context) {
  const { num_speculative_tokens, acceptance } = costs.scenario;
  const { duration_s } = priceAt(costs, batch, context);
  return {
    batch,
    step_s: duration_s,
    tokens_s: (batch * tokensPerPass(num_speculative_tokens, acceptance)) / duration_s,
  };
}

/**
 * @param {Costs} costs
 * @param {number} context
 * @returns {Limits}
 */
export function limitsOf(costs, context) {
  const { scenario, memory } = costs;
  const at = (/** @type {number} */ batch) => priceAt(costs, batch, context);
  const perToken = tokensPerPass(scenario.num_speculative_tokens, scenario.acceptance);
  const isTimed = costs.kind !== "unit";
  return {
    kv: isTimed ? firstWhere((batch) => at(batch).attention.memory_s >= at(batch).matmul.memory_s) : null,
    compute: isTimed ? firstWhere((batch) => isComputeBound(costs, at(batch))) : null,
    memory: Math.floor(memory.usable_blocks / blocksOf(costs, context)),
    slo: isTimed ? firstWhere((batch) => (1000 * at(batch).duration_s) / perToken >= scenario.slo_tpot_ms) : null,
    slots: scenario.max_num_seqs,
  };
}

/**
 * Blocks that a request takes.
 * @param {Costs} costs
 * @param {number} context
 */
const blocksOf = ({ scenario, memory }, context) =>
  Math.ceil((scenario.kv === "contiguous" ? memory.max_model_len : context) / scenario.block_size);

/**
 * The simple formula compares computing with all that is read, the roofline with the weights.
 * @param {Costs} costs
 * @param {import("./cost.js").Price} price
 */
const isComputeBound = (costs, { matmul, attention }) =>
  matmul.compute_s > matmul.memory_s + (costs.kind === "simple" ? attention.memory_s : 0);

/**
 * Smallest batch size from which on something holds; null if it does not below MOST.
 * @param {(batch: number) => boolean} holds
 */
function firstWhere(holds) {
  if (!holds(MOST)) return null;
  let low = 0;
  let high = MOST;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Whole numbers from 1 to `most`, evenly spread over a log axis.
 * @param {number} most
 * @param {number} perDecade
 */
export function batches(most, perDecade = 24) {
  const count = Math.ceil(Math.log10(Math.max(most, 2)) * perDecade);
  const values = Array.from({ length: count + 1 }, (_, i) => Math.round(most ** (i / count)));
  return [...new Set(values)];
}
