/**
 * Settings of the server that a replay needs; a fork changes some of them in mid-run.
 *
 * @typedef {object} Setting
 * @property {boolean} isAsync
 * @property {boolean} isStatic
 * @property {boolean} dropsRows finished rows of a static batch give their blocks back
 * @property {boolean} perSlot free slots keep their last sequence
 * @property {boolean} sharesPrefixes
 * @property {number} blockSize
 * @property {number} maxModelLen
 * @property {number} usable blocks there are
 * @property {number} region blocks that each slot reserves (kv=contiguous), else 0
 * @property {(slot: number) => number[]} regionOf blocks that a slot reserves
 */

/**
 * @param {import("./run.js").Run} run
 * @param {boolean} isForked whether the fork is past
 * @returns {Setting}
 */
export function settingOf(run, isForked) {
  const { facts } = run;
  const scenario = isForked ? { ...run.scenario, ...facts.fork.changes } : run.scenario;
  const isStatic = scenario.batching === "static";
  const perSlot = scenario.prefix_cache === "per_slot";
  const region = facts.reserved_blocks;
  return {
    isAsync: scenario.async_scheduling && !isStatic,
    isStatic,
    dropsRows: scenario.static_rows === "dropped" && !region && !perSlot,
    perSlot,
    sharesPrefixes: scenario.prefix_cache === "shared" && !region,
    blockSize: scenario.block_size,
    maxModelLen: facts.max_model_len,
    usable: facts.num_gpu_blocks - 1,
    region,
    regionOf: (slot) => Array.from({ length: region }, (_, i) => 1 + slot * region + i),
  };
}
