/**
 * Who waits and for what: twin of explain_waiting in sim/explain.py, for while the playhead moves.
 *
 * @typedef {import("./frame.js").Frame} Frame
 */

/** Reasons, numbered as sim.engine.record.Why. */
export const Why = Object.freeze({
  NOBODY: 0,
  SLOT: 1,
  BLOCKS: 2,
  BUDGET: 3,
  PREEMPTION: 4,
  BATCH_RUNNING: 5,
  BATCH_FILLING: 6,
  WHOLE_PROMPT: 7,
  IN_FLIGHT: 8,
});
/** Reasons that hold for the whole line alike. @type {Set<number>} */
const FOR_ALL = new Set([Why.BATCH_RUNNING, Why.BATCH_FILLING, Why.PREEMPTION]);

/** @param {number} n */
const count = (n) => n.toLocaleString("en");

/**
 * Reasons of the first of the line and of all behind it.
 * @param {Frame} frame with somebody waiting
 */
export function reasonsOf(frame) {
  const why = frame.run.steps.why[frame.position];
  const head = headReason(frame, why);
  return { head, rest: FOR_ALL.has(why) ? head : `behind request ${frame.waiting[0] + 1}, the head of the line` };
}

/**
 * @param {Frame} frame
 * @param {number} why
 */
function headReason(frame, why) {
  const name = `request ${frame.waiting[0] + 1}`;
  switch (why) {
    case Why.SLOT:
      return slotReason(frame);
    case Why.BLOCKS:
      return blocksReason(frame, name);
    case Why.BUDGET:
      return budgetReason(frame, name);
    case Why.PREEMPTION:
      return "nobody is admitted in a step that had to preempt";
    case Why.BATCH_RUNNING:
      return "the static batch has to end first";
    case Why.BATCH_FILLING:
      return "the static batch is not full yet";
    case Why.WHOLE_PROMPT:
      return `${name}'s prompt is over what is left of the step's budget, and is not cut`;
    case Why.IN_FLIGHT:
      return "a result of the step before is still to come";
    default:
      return "just arrived";
  }
}

/**
 * Value of a parameter at the step of a frame, which a fork may change.
 * @param {Frame} frame
 * @param {string} name
 */
function settingAt({ run, step }, name) {
  const { fork } = run.facts;
  const isForked = fork && fork.step !== null && step >= fork.step;
  const value = isForked && name in fork.changes ? fork.changes[name] : run.scenario[name];
  return typeof value === "number" ? value : run.facts[name];
}

/** @param {Frame} frame */
function slotReason(frame) {
  const slots = settingAt(frame, "max_num_seqs");
  if (frame.seats.size > slots) return `${frame.seats.size} requests still run, on ${slots} slots`;
  return `all ${slots} slots are taken`;
}

/**
 * @param {Frame} frame
 * @param {string} name
 */
function budgetReason(frame, name) {
  const { run, position } = frame;
  const budget = settingAt(frame, "max_num_batched_tokens");
  if (run.steps.prefill[position] + run.steps.decode[position] < budget)
    return `${name} with its drafts is over what is left of the step's budget of ${count(budget)} tokens`;
  return `the step's budget of ${count(budget)} tokens is spent`;
}

/**
 * How many the head needs is known with the block ids.
 * @param {Frame} frame
 * @param {string} name
 */
function blocksReason(frame, name) {
  const { run, position, setting, free } = frame;
  if (setting.region)
    return `${name} would reserve ${count(setting.region)} KV blocks in one piece, ${count(free)} are free`;
  if (!run.hasBlocks) return `${name} needs more KV blocks than the ${count(free)} that are free`;
  const hasWatermark = Math.trunc(run.scenario.watermark * run.facts.num_gpu_blocks) > 0;
  const needs = `${name} needs ${count(run.steps.needed[position])} KV blocks${hasWatermark ? " with the watermark" : ""}`;
  if (!setting.perSlot) return `${needs}, ${count(free)} are free`;
  const kept = [...frame.kept.values()].reduce((sum, { blocks }) => sum + blocks.length, 0);
  return `${needs}, ${count(free)} are free and ${count(kept)} kept by free slots`;
}
