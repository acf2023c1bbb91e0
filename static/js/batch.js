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
  const { duration_s } = priceAt(costs, batch, context);
  return { batch, step_s: duration_s, tokens_s: (batch * perPassOf(costs.scenario)) / duration_s };
}

/** @param {Record<string, any>} scenario */
const perPassOf = ({ num_speculative_tokens, acceptance }) => tokensPerPass(num_speculative_tokens, acceptance);

/**
 * Where the time of a step goes: what is read, and what else the engine counts; beside the sum, what computing alone
 * would take.
 * @param {Costs} costs
 * @param {number} batch
 * @param {number} context
 */
export function partsAt(costs, batch, context) {
  const { duration_s, matmul_s, matmul, attention, comm_s, host_s } = priceAt(costs, batch, context);
  return {
    batch,
    weights_s: matmul.memory_s,
    kv_s: attention.memory_s,
    arithmetic_s: matmul_s - matmul.memory_s,
    links_s: comm_s,
    host_s,
    compute_s: matmul.compute_s,
    step_s: duration_s,
  };
}

/**
 * Bytes of the weights that a step reads on each GPU; of experts those that are hit.
 * @param {Costs} costs
 * @param {number} batch
 */
function weightsBytes({ kind, work, memory, scenario }, batch) {
  const hit = 1 - work.expert_miss ** (batch * (1 + scenario.num_speculative_tokens));
  return kind === "simple" ? memory.weights_bytes : work.dense_bytes + work.head_bytes + work.experts_bytes * hit;
}

/**
 * Bytes of the KV cache that a step reads for each request.
 * @param {Costs} costs
 * @param {number} context
 */
function kvBytes({ kind, work }, context) {
  const seen = kind === "simple" ? context : Math.min(context, work.window);
  return work.kv_layer_bytes * (work.full_layers * context + work.sliding_layers * seen);
}

/**
 * All that a figure tells of a batch size. Those for whom there is no memory wait: they are users, not in the batch.
 * @param {Costs} costs
 * @param {number} users
 * @param {number} context
 * @param {Limits} limits of the context
 */
export function readingOf(costs, users, context, limits) {
  const batch = Math.max(1, Math.min(users, limits.memory));
  const [parts, one, alone] = [partsAt(costs, batch, context), pointAt(costs, 1, context), kvBytes(costs, context)];
  const { tokens_s } = pointAt(costs, batch, context);
  const weights_bytes = weightsBytes(costs, batch);
  const passes = 1 + costs.scenario.num_speculative_tokens * costs.coefficients.draft_cost;
  const read_s = parts.weights_s + parts.kv_s;
  const bandwidth = costs.rates.bandwidth_bytes_per_s;
  return {
    users,
    batch,
    context,
    step_ms: 1000 * parts.step_s,
    one_step_ms: 1000 * one.step_s,
    slower: parts.step_s / one.step_s,
    tokens_s,
    one_tokens_s: one.tokens_s,
    each_tokens_s: tokens_s / batch,
    speedup: tokens_s / one.tokens_s,
    formula_ms: 1000 * read_s,
    host_ms: 1000 * parts.host_s,
    links_ms: 1000 * parts.links_s,
    arithmetic_ms: 1000 * parts.arithmetic_s,
    weights_bytes,
    kv_user_bytes: alone,
    kv_bytes: batch * alone,
    kv_share: read_s > 0 ? parts.kv_s / read_s : null,
    bandwidth_bytes_per_s: bandwidth,
    eta: read_s > 0 ? (passes * (weights_bytes + batch * alone)) / (bandwidth * read_s) : null,
    passes,
    tokens_per_pass: perPassOf(costs.scenario),
    at_kv: limits.kv,
    at_compute: limits.compute,
    at_slo: limits.slo,
    at_memory: limits.memory,
    past_kv: Number(limits.kv !== null && batch >= limits.kv),
    past_compute: Number(limits.compute !== null && batch >= limits.compute),
    past_slo: Number(limits.slo !== null && batch >= limits.slo),
    past_memory: Number(users > limits.memory),
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
  const perToken = perPassOf(scenario);
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
 * Whole numbers from 1 to `most`, evenly spread, and some more where curves bend.
 * @param {number} most
 * @param {number} count
 */
export function batches(most, count = 48) {
  const even = Array.from({ length: count + 1 }, (_, i) => Math.round(1 + ((most - 1) * i) / count));
  const few = [1, 2, 3, 4, 6, 8, 12, 16].filter((batch) => batch <= most);
  return [...new Set([...few, ...even])].sort((x, y) => x - y);
}
