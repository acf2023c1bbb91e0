/** What the users ask of the KV memory, and what came of it, in a sentence each. */
import { gib } from "./memory.js";

/**
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {import("./demand.js").Demand} Demand
 */

/** @param {number} n */
const count = (n) => n.toLocaleString("en");

/**
 * @param {Demand | null} demand
 * @param {Costs} costs
 */
export function demandInWords(demand, costs) {
  const { scenario, memory } = costs;
  if (!demand || memory.missing_bytes) return "";
  const { context, seats } = demand;
  if (context > memory.max_model_len)
    return `${count(context)} tokens are more than max_model_len, ${count(memory.max_model_len)}: refused.`;
  const each = scenario.kv === "contiguous" ? `${count(memory.max_model_len)} reserved` : lengthOf(context, scenario);
  const need = `${whoOf(demand)} × ${each} tokens need ${gib(demand.needed_bytes)} GiB${placeOf(scenario)}`;
  const there = gib(memory.usable_blocks * memory.block_bytes);
  if (seats <= demand.fits)
    return `${need} of ${there} GiB KV: ${seats === 1 ? "it fits" : "all fit"}.${lineOf(demand)}`;
  const rest = demand.users === null ? "at once" : `${count(seats - demand.fits)} wait`;
  return `${need}, there are ${there}: ${count(demand.fits)} fit${demand.users === null ? " " : ", "}${rest}.${lineOf(demand)}`;
}

/** @param {Demand} demand */
function whoOf({ users, seats }) {
  const noun = users === null ? "slot" : "user";
  return `${count(seats)} ${noun}${seats === 1 ? "" : "s"}`;
}

/** @param {Record<string, any>} scenario */
const placeOf = ({ tensor_parallel_size }) => (tensor_parallel_size > 1 ? " on each GPU" : "");

/**
 * Those that not even a slot is there for.
 * @param {Demand} demand
 */
const lineOf = ({ users, seats }) =>
  users !== null && users > seats ? ` ${count(users - seats)} more wait for a slot.` : "";

/**
 * @param {number} context
 * @param {Record<string, any>} scenario
 */
function lengthOf(context, { prompt_dist, output_dist, prompt_list, output_list }) {
  const isExact = (prompt_list || prompt_dist === "fixed") && (output_list || output_dist === "fixed");
  return `${isExact ? "" : "about "}${count(context)}`;
}
