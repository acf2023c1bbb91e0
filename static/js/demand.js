/**
 * How much KV the users of a scenario ask for, and how many of them fit: twin of app/demand.py, for while a slider moves.
 *
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {object} Demand of the KV memory of one GPU
 * @property {number | null} users who ask at the same time; null: that depends on how fast they are served
 * @property {number} seats how many of them may run at once; without users, as many as there are slots
 * @property {number} context prompt and output of a typical request [tokens]
 * @property {number} needed_bytes
 * @property {number} fits requests of that length that fit into the pool together
 */

const TYPICAL = new Set(["fixed", "uniform", "lognormal"]);

/**
 * The formulas of a scenario with what the address now asks of the server, which may be newer than they are.
 * @param {Costs} costs
 * @param {string} query of one scenario
 * @returns {Costs}
 */
export function askedOf(costs, query) {
  const given = new URLSearchParams(query);
  const scenario = { ...costs.scenario };
  for (const [name, normal] of Object.entries(costs.defaults)) {
    const text = given.get(name);
    const value = typeof normal === "number" && text !== null ? Number(text) : (text ?? normal);
    if (!Number.isNaN(value)) scenario[name] = value;
  }
  return { ...costs, scenario };
}

/**
 * @param {Costs} costs
 * @returns {Demand | null} null: the lengths are no formula
 */
export function demandOf(costs) {
  const { scenario } = costs;
  const context = contextOf(scenario);
  if (context === null) return null;
  const users = usersOf(scenario);
  const seats = Math.min(users ?? numberOf(scenario), scenario.max_num_seqs);
  return { users, seats, context, needed_bytes: neededBytes(costs, seats, context), fits: fitsOf(costs, context) };
}

/**
 * @param {Costs} costs
 * @param {number} users
 * @param {number} context [tokens]
 */
function neededBytes(costs, users, context) {
  const { own, common, groups } = blocksOf(costs, context);
  return (users * own + Math.min(groups, users) * common) * costs.memory.block_bytes;
}

/**
 * @param {Costs} costs
 * @param {number} context [tokens]
 */
function fitsOf(costs, context) {
  const { usable_blocks, max_model_len } = costs.memory;
  if (context > max_model_len) return 0;
  const { own, common, groups } = blocksOf(costs, context);
  const apart = Math.floor(usable_blocks / (own + common));
  return apart <= groups ? apart : Math.floor((usable_blocks - groups * common) / own);
}

/**
 * Blocks of a request alone, those it has in common with its group, and the number of groups.
 * @param {Costs} costs
 * @param {number} context [tokens]
 */
function blocksOf({ scenario, memory }, context) {
  const { block_size } = scenario;
  if (scenario.kv === "contiguous") return { own: Math.ceil(memory.max_model_len / block_size), common: 0, groups: 1 };
  const isShared = scenario.prefix_cache === "shared";
  const common = isShared ? Math.floor(Math.min(prefixOf(scenario), context - 1) / block_size) : 0;
  return { own: Math.ceil(context / block_size) - common, common, groups: scenario.prefix_groups };
}

/** @param {Record<string, any>} scenario */
function usersOf(scenario) {
  const { load, concurrency, arrival_list } = scenario;
  if (load === "closed") return Math.min(concurrency, numberOf(scenario));
  return load === "burst" && !listOf(arrival_list).some((time) => time > 0) ? numberOf(scenario) : null;
}

/**
 * Requests that are sent: a list says how many.
 * @param {Record<string, any>} scenario
 */
function numberOf({ num_requests, arrival_list, prompt_list, output_list }) {
  const list = [arrival_list, prompt_list, output_list].find((text) => text !== "");
  return list === undefined ? num_requests : listOf(list).length;
}

/**
 * @param {Record<string, any>} scenario
 * @returns {number | null} tokens of a typical request when its last token comes
 */
function contextOf(scenario) {
  const prompt = typical(scenario.prompt_list, scenario.prompt_dist, scenario.prompt_tokens);
  const output = typical(scenario.output_list, scenario.output_dist, scenario.output_tokens);
  if (prompt === null || output === null || scenario.session !== "none" || scenario.trace) return null;
  return prefixOf(scenario) + prompt + output;
}

/** @param {Record<string, any>} scenario */
const prefixOf = ({ shared_prefix_tokens, prefix_share }) => (prefix_share >= 0.5 ? shared_prefix_tokens : 0);

/**
 * @param {string} list
 * @param {string} dist
 * @param {number} median
 */
function typical(list, dist, median) {
  const values = listOf(list);
  if (values.length) return Math.ceil(values.reduce((sum, value) => sum + value, 0) / values.length);
  return TYPICAL.has(dist) ? median : null;
}

/** @param {string} text */
const listOf = (text) => (text === "" ? [] : text.split(",").map(Number));
