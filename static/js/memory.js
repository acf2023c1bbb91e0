/**
 * The memory of one GPU as parts of a bar [bytes], from the formulas and from what is in use at a step.
 *
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {{name: string, title: string, bytes: number}} Part
 * @typedef {object} Use blocks of the KV pool
 * @property {number} used
 * @property {number} cached free, but with content
 */

const GIB = 2 ** 30;

/**
 * Parts in the order of the bar. Together they are what software sees of the GPU, or more if they do not fit.
 * @param {Costs} costs
 * @param {Use | null} use null: nothing runs
 * @returns {Part[]}
 */
export function partsOf({ memory }, use) {
  const { weights_bytes, activation_bytes, other_bytes, kv_bytes, gpu_bytes, visible_bytes, block_bytes } = memory;
  const used = Math.min(kv_bytes, (use?.used ?? 0) * block_bytes);
  const cached = Math.min(kv_bytes - used, (use?.cached ?? 0) * block_bytes);
  const taken = weights_bytes + activation_bytes + other_bytes + kv_bytes;
  return [
    { name: "weights", title: "weights", bytes: weights_bytes },
    { name: "activations", title: "activations", bytes: activation_bytes },
    { name: "other", title: "other", bytes: other_bytes },
    { name: "kv-used", title: "KV in use", bytes: used },
    { name: "kv-cached", title: "KV cached", bytes: cached },
    { name: "kv-free", title: "KV free", bytes: kv_bytes - used - cached },
    { name: "spare", title: "not given to KV", bytes: Math.max(0, gpu_bytes - taken) },
    {
      name: "outside",
      title: "outside the server's share",
      bytes: Math.max(0, visible_bytes - Math.max(gpu_bytes, taken)),
    },
  ];
}

/**
 * By how much the parts exceed what the server may use [bytes].
 * @param {Costs} costs
 */
export function overOf({ memory }) {
  const { weights_bytes, activation_bytes, other_bytes, kv_bytes, gpu_bytes, missing_bytes } = memory;
  return Math.max(missing_bytes, weights_bytes + activation_bytes + other_bytes + kv_bytes - gpu_bytes, 0);
}

/** @param {number} bytes */
export const gib = (bytes) => (bytes / GIB).toFixed(bytes < 10 * GIB ? 2 : 1);
