/**
 * When slots that finished requests hold cost somebody: the waiting line is not empty. The time that counts is that of
 * the metric held_slot_share in sim/metrics.py.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {{from: number, to: number}} Stretch [us]
 * @typedef {object} HeldTime
 * @property {number} slot_us slot-time held while others wait, of the steps that are here
 * @property {Stretch[]} stretches times in which it is so
 */

/** @type {WeakMap<Run, HeldTime>} */
const known = new WeakMap();

/**
 * @param {Run} run
 * @returns {HeldTime}
 */
export function heldTimeOf(run) {
  const before = known.get(run);
  if (before) return before;
  const held = readHeldTime(run);
  known.set(run, held);
  return held;
}

/**
 * @param {Run} run
 * @returns {HeldTime}
 */
function readHeldTime(run) {
  const { held, waiting } = run.steps;
  const arrivals = arrivalsOf(run);
  /** @type {Stretch[]} */
  const stretches = [];
  let slot_us = 0;
  for (let s = 0, next = 0; s < run.count; s++) {
    const start = run.start_us[s];
    const end = run.end_us[s];
    while (next < arrivals.length && arrivals[next] <= start) next++;
    if (!held[s]) continue;
    // Who arrives during a step waits from then on.
    const from = waiting[s] ? start : Math.min(end, arrivals[next] ?? end);
    if (from >= end) continue;
    slot_us += held[s] * (end - from);
    const last = stretches.at(-1);
    if (last && from - last.to < 1) last.to = end;
    else stretches.push({ from, to: end });
  }
  return { slot_us, stretches };
}

/**
 * Arrivals of requests that are served, in order [us].
 * @param {Run} run
 */
function arrivalsOf({ requests, rejected }) {
  const refused = new Set(rejected.map(({ request }) => request - 1));
  const times = requests.arrival_us.filter((us, i) => us !== null && !refused.has(i));
  return Float64Array.from(/** @type {number[]} */ (times)).sort();
}

/**
 * Whether all steps of a run are here.
 * @param {Run} run
 */
export const isWhole = (run) => run.first === 0 && run.count === run.metrics.steps;

/**
 * What the slots held while others wait come to, in words; empty: none are.
 * @param {Run} run
 */
export function heldWords(run) {
  const share = run.metrics.held_slot_share;
  if (!share) return "";
  const percent = `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0% of slot time`;
  return `held while others wait: ${isWhole(run) ? `${secondsText(heldTimeOf(run).slot_us / 1e6)}, ` : ""}${percent}`;
}

/** @param {number} slot_s */
const secondsText = (slot_s) => `${slot_s.toFixed(slot_s < 100 ? 1 : 0)}\u00a0slot·s`;
