/**
 * Single steps in words and numbers.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./lives.js").Life} Life
 */
import { durationText } from "./lives.js";
import { timeTitle } from "./stepcard.js";
import { bytesText, count, soFar } from "./steptime.js";
import { tallyOf } from "./tally.js";

/** @param {Frame} frame */
export function titleOf(frame) {
  const { run, position } = frame;
  const { prefill, decode } = run.steps;
  const parts = [];
  if (prefill[position]) parts.push(`prefill of ${count(prefill[position], "token")}`);
  if (decode[position]) parts.push(`${count(decode[position], "token")} of decode`);
  const { outputs } = tallyOf(run);
  const isOne = run.requests.output.length === 1;
  const token = isOne ? ` (token ${outputs[position]} of the answer)` : "";
  return `Step ${frame.step}${token}: ${parts.join(" and ")}, ${timeTitle(frame)}.`;
}

/**
 * What has been read up to and with a step.
 * @param {Run} run
 * @param {number} s
 * @param {import("./costs.js").Costs | undefined} costs
 */
export function soFarText(run, s, costs) {
  if (!costs || s < 0) return "";
  const { tokens, reads, bytes } = soFar(run, s, costs);
  const each = tokens >= 1.05 * reads ? `, ${(tokens / reads).toFixed(1)} tokens for each` : "";
  const place = run.first ? "In the steps that are here" : "So far";
  return `${place}: ${count(tokens, "token")}, ${count(reads, "read")} of the weights = ${bytesText(bytes)}${each}.`;
}

/** @param {Life} life */
export function lifeText({ request, arrival, admitted, first, ttft, tpot }) {
  const name = `Request ${request + 1}`;
  if (ttft === null || admitted === null || arrival === null || first === null) return "";
  const parts = `${durationText(admitted - arrival)} in the queue + ${durationText(first - admitted)} of prefill`;
  const later = tpot === null ? "" : `; then a token every ${durationText(tpot)} (TPOT)`;
  return `${name}: first token after ${durationText(ttft)} (TTFT) = ${parts}${later}.`;
}

/**
 * @param {Run} run
 * @param {number} s
 */
export function rowOf(run, s) {
  const ms = (run.end_us[s] - run.start_us[s]) / 1000;
  const counts = [run.steps.prefill[s], run.steps.decode[s], tallyOf(run).outputs[s]];
  return [
    String(run.first + s),
    `${(run.start_us[s] / 1e6).toFixed(3)} s`,
    `${ms.toFixed(2)} ms`,
    ...counts.map((n) => n.toLocaleString("en")),
  ];
}
