/**
 * What a step reads and computes, and what each of that takes: the terms of the cost model that the card of the step adds
 * up, one by one.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {object} Term
 * @property {"weights" | "kv" | "compute" | "meet" | "communication" | "overhead"} name
 * @property {string} label
 * @property {number} ms that it would take alone
 * @property {string} amount in words
 * @property {boolean} isBound whether it bounds the step
 * @typedef {object} StepTime
 * @property {Term[]} terms
 * @property {number} step_ms
 * @property {number} weights_bytes of each GPU
 * @property {number} kv_bytes
 */
import { compositionOfFrame } from "./composition.js";
import { BOUNDS, price } from "./cost.js";
import { kvReadBytes, weightsBytes, worksOf } from "./roof.js";
import { DRIFT_US } from "./stepcard.js";
import { tallyOf } from "./tally.js";

const LEAST_MEET = 0.02;

/**
 * Reading and computing go on at the same time: the step takes the longer of both, what is lost where they meet, and the
 * rest.
 * @param {Frame} frame
 * @param {Costs | undefined} costs
 * @returns {StepTime | null} null: every step takes the same by definition, or the prices are of other settings
 */
export function stepTimeOf(frame, costs) {
  const { run, position } = frame;
  if (!costs || costs.kind === "unit") return null;
  const step = compositionOfFrame(frame);
  const priced = price(costs.coefficients, step);
  if (Math.abs(1e6 * priced.duration_s - (run.end_us[position] - run.start_us[position])) > DRIFT_US) return null;
  const { matmul, attention, comm_s, host_s } = priced;
  const weights_bytes = weightsBytes(costs.work, step.tokens, step.sampled);
  const kv_bytes = kvReadBytes(costs.work, step);
  const { flop } = worksOf(costs, step).step;
  const context = step.decode_context + step.prefill_context;
  const kv_words = context ? `${bytesText(kv_bytes)}: ${count(context, "token")} of context` : "no context yet";
  const term = (
    /** @type {Term["name"]} */ name,
    /** @type {string} */ label,
    /** @type {number} */ s,
    amount = "",
  ) => ({
    name,
    label,
    ms: 1000 * s,
    amount,
    isBound: BOUNDS[priced.bound] === name,
  });
  const reading_s = matmul.memory_s + attention.memory_s;
  const computing_s = matmul.compute_s + attention.compute_s;
  const meet_s = priced.duration_s - Math.max(reading_s, computing_s) - comm_s - host_s;
  const terms = [
    term(
      "weights",
      "reading the weights",
      matmul.memory_s,
      `${bytesText(weights_bytes)} read once for ${wordsOf(run, position)}`,
    ),
    term("kv", "reading KV", attention.memory_s, kv_words),
    term("compute", "computing meanwhile", computing_s, flopText(flop)),
    ...(meet_s > LEAST_MEET * priced.duration_s
      ? [term("meet", "where both meet", meet_s, "they overlap, but not wholly; activations")]
      : []),
    ...(comm_s ? [term("communication", "communication", comm_s, "between the GPUs")] : []),
    term("overhead", "the rest (host)", host_s, "starting kernels, preparing the batch"),
  ];
  return { terms, step_ms: 1000 * priced.duration_s, weights_bytes, kv_bytes };
}

/**
 * What has been read by the end of a step of those that are here.
 * @param {Run} run
 * @param {number} s
 * @param {Costs} costs
 */
export function soFar(run, s, costs) {
  const { outputs, tokens, sampled } = tallyOf(run);
  let bytes = 0;
  for (let i = 0; i <= s; i++) bytes += weightsBytes(costs.work, tokens[i], sampled[i]);
  return { tokens: s < 0 ? 0 : outputs[s], reads: s + 1, bytes };
}

/**
 * What the weights are read for.
 * @param {Run} run
 * @param {number} s
 */
function wordsOf({ steps, scenario }, s) {
  const parts = [];
  const drafts = scenario.num_speculative_tokens ? " (drafts included)" : "";
  if (steps.decode[s]) parts.push(count(steps.decode[s], "token") + drafts);
  if (steps.prefill[s]) parts.push(count(steps.prefill[s], "prompt token"));
  return parts.join(" and ");
}

/**
 * @param {number} n
 * @param {string} noun
 */
export const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** @param {number} bytes */
export const bytesText = (bytes) => inUnits(bytes, ["B", "kB", "MB", "GB", "TB", "PB"]);

/** @param {number} flop */
const flopText = (flop) => inUnits(flop, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"]);

/**
 * Three digits in the unit that suits.
 * @param {number} value
 * @param {string[]} units a thousand apart
 */
function inUnits(value, units) {
  let [scaled, i] = [value, 0];
  while (scaled >= 999.5 && i < units.length - 1) [scaled, i] = [scaled / 1000, i + 1];
  const digits = i === 0 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${units[i]}`;
}
