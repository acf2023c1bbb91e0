/**
 * What the batch curve says, in words: twin of app/batchview.py, the same texts.
 *
 * @typedef {import("./batch.js").Limits} Limits
 * @typedef {ReturnType<typeof import("./batch.js").readingOf>} Reading
 */

/** @type {[string, "host_ms" | "links_ms" | "arithmetic_ms"][]} */
const OTHERS = [
  ["launches and host", "host_ms"],
  ["links between GPUs", "links_ms"],
  ["arithmetic", "arithmetic_ms"],
];
const LEAST_MS = 0.05;

/**
 * What is written, by `data-value`.
 * @param {Reading} r
 * @param {Record<string, any>} scenario
 * @returns {Record<string, string>}
 */
export function textsOf(r, scenario) {
  return {
    users: counted(r.batch),
    weights: three(r.weights_bytes / 1e9),
    kv: three(r.kv_user_bytes / 1e9),
    eta: (r.eta ?? 0).toFixed(2),
    bandwidth: three(r.bandwidth_bytes_per_s / 1e12),
    passes: r.passes.toFixed(2),
    per_pass: r.tokens_per_pass.toFixed(2),
    formula: ms(r.formula_ms),
    step: ms(r.step_ms),
    one_step: ms(r.one_step_ms),
    tokens: rate(r.tokens_s),
    each: rate(r.each_tokens_s),
    one_tokens: rate(r.one_tokens_s),
    speedup: rate(r.speedup),
    slower: r.slower.toFixed(2),
    slo: String(scenario.slo_tpot_ms),
    engine: engineOf(r, scenario.tensor_parallel_size),
  };
}

/**
 * What the engine counts beside the formula.
 * @param {Reading} r
 * @param {number} gpus
 */
function engineOf(r, gpus) {
  const others = OTHERS.filter(([, key]) => r[key] >= LEAST_MS).map(([name, key]) => `${name} ${ms(r[key])} ms`);
  const where = gpus > 1 ? `These are the bytes of each of the ${gpus} GPUs. ` : "";
  const counts = others.length ? `it also counts ${others.join(", ")}` : "nothing else takes time";
  return `${where}The engine's own step: ${ms(r.step_ms)} ms; ${counts}.`;
}

/**
 * The formula, read aloud.
 * @param {Record<string, string>} text
 */
export const formulaAloud = (text) =>
  "Time of a step is about W plus B times KV read, over eta times BW: " +
  `${text.weights} plus ${text.users} times ${text.kv} gigabytes, over ${text.eta} times ${text.bandwidth} terabytes ` +
  `a second, is ${text.formula} milliseconds`;

/** @param {Record<string, string>} text */
export const throughputAloud = (text) =>
  `Throughput is B over the time of a step: ${text.users} over ${text.step} milliseconds is ${text.tokens} tokens a second`;

/**
 * Which limit is the first, and who waits.
 * @param {string} kind of the cost model
 * @param {Limits} limits
 * @param {number} users
 */
export function verdictOf(kind, limits, users) {
  if (limits.memory < 1) return "There is no KV memory for even one request of this length.";
  const waiting = users - limits.memory;
  const waits = waiting > 0 ? ` Memory holds ${counted(limits.memory)} of these ${counted(users)}: the rest wait.` : "";
  if (kind === "unit") return `Every step takes one second here, so the batch size does not matter to it.${waits}`;
  const reached = ORDER.filter((name) => limits[name] !== null);
  const [first] = reached.sort((x, y) => Number(limits[x]) - Number(limits[y]));
  return `Batching is cheap up to ${counted(Number(limits[first]))} users; then ${ENDS[first]}${waits}`;
}

/** @type {("kv" | "compute" | "memory" | "slo")[]} */
const ORDER = ["kv", "compute", "memory", "slo"];

const ENDS = {
  kv: "reading the KV cache takes as long as reading the weights.",
  compute: "the GPU computes as fast as it can.",
  memory: "memory is full and requests wait.",
  slo: "each user's tokens come slower than the SLO allows.",
};

/** @param {number | null} batch */
export const limitText = (batch) => (batch === null ? "never" : counted(batch));

/** @param {number} value */
export const counted = (value) => value.toLocaleString("en", { maximumFractionDigits: 0 });

/**
 * Three significant digits.
 * @param {number} value
 */
const three = (value) => (value > 0 ? value.toFixed(Math.max(0, 2 - Math.floor(Math.log10(value)))) : "0");

/** @param {number} value */
export const ms = (value) => value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2);

/** @param {number} value */
const rate = (value) => {
  const digits = value >= 100 ? 0 : 1;
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
};
