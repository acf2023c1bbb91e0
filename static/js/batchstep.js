/** The step at the playhead as a point of the batch curve, and the description twin of both. */
import { countsOf } from "./composition.js";

/**
 * @typedef {import("./stage.js").Stage} Stage
 * @typedef {import("./batchwords.js").Reading} Reading
 */

/**
 * Batch size, time and throughput of the current step; null: none runs.
 * @param {Stage} stage
 */
export function stepAt(stage) {
  const { run } = stage;
  const frame = stage.frame();
  if (!run || !frame) return null;
  const s = frame.position;
  if (stage.at > run.end_us[s] && s + 1 < run.count) return null;
  const seats = [...frame.seats.values()].filter((seat) => seat.phase === "decode" && seat.scheduled > 0);
  const duration_s = (run.end_us[s] - run.start_us[s]) / 1e6;
  const tokens = seats.length + countsOf(run, s).accepted;
  const prefill = run.steps.prefill[s];
  return { step: run.first + s, batch: seats.length, prefill, duration_s, tokens_s: tokens / duration_s };
}

/**
 * @param {Stage} stage
 * @param {Reading} reading
 */
export function twinOf(stage, { users, context, step_ms, one_step_ms, tokens_s, one_tokens_s }) {
  const now = stepAt(stage);
  const prompts = now?.prefill ? ` beside ${now.prefill} prompt tokens` : "";
  const step = now
    ? `Step ${now.step} decodes ${now.batch} requests${prompts} in ${(1000 * now.duration_s).toFixed(2)} ms.`
    : "No step runs.";
  return (
    `${stage.labelOf(stage.state.run)}, ${context} tokens of context. One user: ${one_step_ms.toFixed(2)} ms a step, ` +
    `${one_tokens_s.toFixed(0)} tokens a second. ${users} users: ${step_ms.toFixed(2)} ms a step, ` +
    `${tokens_s.toFixed(0)} tokens a second. ${step}`
  );
}
