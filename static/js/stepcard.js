/**
 * What the card of a step says: twin of app/stepcard.py, for while the playhead moves.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./cost.js").Limits} Limits
 * @typedef {{series: number, style: string, percent: number, title: string}} Slice
 * @typedef {{label: string, ms: string, percent: number, other: number, note: string, isBound: boolean}} Part
 */
import { compositionOf } from "./composition.js";
import { price } from "./cost.js";
import { seriesOf } from "./palette.js";

const LEAST_PERCENT = 0.7;
/** How far a price may be from the time of its step on the clock of the stream. */
export const DRIFT_US = 40;
const BOUND_NAMES = ["the weights", "the KV cache", "compute", "communication", "overhead"];

const BOUND_SENTENCES = [
  "Reading the weights takes longer than computing {tokens}: one more request costs next to nothing.",
  "Reading the KV cache of {context} tokens of context takes longest: every request in the batch costs its share.",
  "Computing {tokens} takes longer than reading the weights: more tokens in a step now cost time.",
  "The GPUs wait for each other's results longest.",
  "Starting kernels and preparing the batch takes longest.",
];

/** @param {number} n */
const count = (n) => n.toLocaleString("en");

/**
 * Tokens by request, decodes first.
 * @param {Frame} frame
 * @returns {Slice[]}
 */
export function budgetSlices(frame) {
  const seats = [...frame.seats.values()].filter((seat) => seat.scheduled > 0 && seat.phase !== "held");
  seats.sort((x, y) => Number(x.phase === "prefill") - Number(y.phase === "prefill") || x.slot - y.slot);
  const total = seats.reduce((sum, seat) => sum + seat.scheduled, 0);
  const whole = Math.max(budgetOf(frame.run, frame.position), total);
  const widths = seats.map((seat) => Math.max(LEAST_PERCENT, (100 * seat.scheduled) / whole));
  const sum = widths.reduce((all, width) => all + width, 0);
  return seats.map(({ request, phase, scheduled }, i) => ({
    series: seriesOf(request) + 1,
    style: phase === "prefill" ? "prefill" : "",
    percent: sum > 100 ? (widths[i] * 100) / sum : widths[i],
    title: `request ${request + 1}: ${scheduled}`,
  }));
}

/** @param {Frame} frame */
export function budgetTitle({ run, position, setting }) {
  const tokens = count(run.steps.prefill[position] + run.steps.decode[position]);
  return setting.isStatic ? `${tokens} tokens` : `${tokens} of ${count(budgetOf(run, position))} tokens`;
}

/** @param {Frame} frame */
export function budgetCaption({ run, position, seats, setting }) {
  const working = [...seats.values()].filter((seat) => seat.scheduled > 0 && seat.phase !== "held");
  const chunks = working.filter((seat) => seat.phase === "prefill").map((seat) => seat.scheduled);
  const prefill = chunks.reduce((sum, tokens) => sum + tokens, 0);
  const decode = working.reduce((sum, seat) => sum + seat.scheduled, 0) - prefill;
  const parts = [
    `${count(decode)} decode token${decode === 1 ? "" : "s"}`,
    chunks.length
      ? `${chunks.length} prompt chunk${chunks.length === 1 ? "" : "s"} of ${count(prefill)} tokens`
      : "no prefill",
  ];
  const padding = run.hasBlocks ? run.steps.padding[position] : 0;
  if (!setting.isStatic) parts.push(`${count(budgetOf(run, position) - decode - prefill)} left over`);
  else if (padding) parts.push(`${count(padding)} of padding`);
  return parts.join(" · ");
}

/**
 * Token budget of a step, which a fork may change.
 * @param {Run} run
 * @param {number} position
 */
function budgetOf({ facts, first }, position) {
  const { fork } = facts;
  const isForked = fork && fork.step !== null && first + position >= fork.step;
  const changed = isForked ? fork.changes.max_num_batched_tokens : null;
  return typeof changed === "number" ? changed : facts.max_num_batched_tokens;
}

/** @param {Frame} frame */
export function timeTitle({ run, position }) {
  const duration = durationText((run.end_us[position] - run.start_us[position]) / 1e6);
  return run.scenario.cost === "unit" ? duration : `${duration}, bound by ${BOUND_NAMES[run.steps.bound[position]]}`;
}

/**
 * What it means that this bound the step.
 * @param {Frame} frame
 */
export function boundSentence({ run, position }) {
  if (run.scenario.cost === "unit") return "Every step takes one second here, so that steps can be counted.";
  const tokens = run.steps.prefill[position] + run.steps.decode[position];
  const context = run.hasBlocks ? count(run.steps.decode_context[position]) : "all the";
  const computed = `${count(tokens)} token${tokens === 1 ? "" : "s"}`;
  return BOUND_SENTENCES[run.steps.bound[position]].replace("{tokens}", computed).replace("{context}", context);
}

/**
 * Parts of the step's time; null while its composition or its prices are not here.
 * @param {Frame} frame
 * @param {import("./costs.js").Costs | undefined} costs
 * @returns {Part[] | null}
 */
export function timeParts({ run, position }, costs) {
  if (!run.hasBlocks || !costs || costs.kind === "unit") return null;
  const priced = price(costs.coefficients, compositionOf(run, position));
  const { duration_s, matmul, attention } = priced;
  // The prices may be those of controls that have moved on, while the run is the one before.
  if (Math.abs(1e6 * duration_s - (run.end_us[position] - run.start_us[position])) > DRIFT_US) return null;
  const whole = Math.max(duration_s, 1e-12);
  const computing = matmul.compute_s > matmul.memory_s ? "matmuls" : "attention";
  const binding = ["matmuls", "attention", computing, "communication", "host"][priced.bound];
  const part = (/** @type {string} */ label, /** @type {number} */ seconds, other_s = 0, note = "") => ({
    label,
    ms: `${(1000 * seconds).toFixed(2)} ms`,
    percent: Math.min(100, (100 * seconds) / whole),
    other: Math.min(100, (100 * other_s) / whole),
    note,
    isBound: label === binding,
  });
  const least = (/** @type {Limits} */ { memory_s, compute_s }) => Math.min(memory_s, compute_s);
  return [
    part("matmuls", priced.matmul_s, least(matmul), noteOf(matmul, "reading the weights")),
    part("attention", priced.attention_s, least(attention), noteOf(attention, "reading the KV cache")),
    ...(priced.comm_s ? [part("communication", priced.comm_s)] : []),
    part("host", priced.host_s, 0, "starting kernels, preparing the batch"),
  ];
}

/**
 * @param {Limits} limits
 * @param {string} reading
 */
function noteOf({ memory_s, compute_s }, reading) {
  if (!compute_s) return memory_s ? reading : "";
  const ms = (/** @type {number} */ seconds) => `${(1000 * seconds).toFixed(2)} ms`;
  return compute_s > memory_s
    ? `computing; ${reading} would need ${ms(memory_s)}`
    : `${reading}; computing would need ${ms(compute_s)}`;
}

/**
 * Three digits or so, with the unit that suits.
 * @param {number} seconds
 */
export function durationText(seconds) {
  if (seconds >= 1) return `${seconds.toFixed(seconds >= 10 ? 1 : 2)} s`;
  return `${(1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
}
