/**
 * What the timeline draws: one bar for each stay of a request in a slot. Times in microseconds.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {object} Bar
 * @property {number} request
 * @property {number} slot
 * @property {number} start admitted
 * @property {number} decode prompt computed: hatched before, solid after
 * @property {number} end finished or preempted
 * @property {number} free slot given back: held from `end` to here
 * @property {boolean} preempted
 */
import { scenarioAt } from "./fork.js";
import { Kind } from "./kinds.js";

/**
 * @param {Run} run
 * @returns {Bar[]}
 */
export function barsOf(run) {
  /** @type {Bar[]} */
  const bars = [];
  /** @type {Map<number, Bar>} */
  const open = new Map();
  for (const bar of barsBefore(run)) bars.push(track(open, bar));
  const { kind, request, b } = run.events;
  const is_async = Boolean(run.scenario.async_scheduling);
  for (let s = 0, e = 0; s < run.count; s++) {
    const start = run.start_us[s];
    const end = run.end_us[s];
    for (; e < run.events_end[s]; e++) {
      const r = request[e];
      if (kind[e] === Kind.ADMIT || kind[e] === Kind.RESUME) {
        bars.push(track(open, newBar(r, b[e], start)));
        continue;
      }
      const bar = open.get(r);
      if (!bar) continue;
      if (kind[e] === Kind.CHUNK && !isDraft(run, e)) bar.decode = end;
      else if (kind[e] === Kind.PREEMPT) close(open, bar, start, true);
      else if (kind[e] === Kind.FINISH)
        finish(open, bar, is_async ? start : end, scenarioAt(run, s).batching === "static");
      else if (kind[e] === Kind.RELEASE) release(open, bar, end);
      else if (kind[e] === Kind.VACATE) release(open, bar, start);
    }
  }
  const last = run.count ? run.end_us[run.count - 1] : 0;
  for (const bar of open.values()) leaveOpen(bar, last);
  return bars;
}

/**
 * A decode that also verifies drafts is a chunk too; its DRAFT follows at once.
 * @param {Run} run
 * @param {number} e index of a CHUNK
 */
const isDraft = (run, e) =>
  run.events.kind[e + 1] === Kind.DRAFT && run.events.request[e + 1] === run.events.request[e];

/**
 * Bars that were there before the window began.
 * @param {Run} run
 * @returns {Bar[]}
 */
function barsBefore(run) {
  return run.rows.map((row) => {
    const bar = newBar(row.request, row.slot, row.start_us);
    bar.decode = row.decode_us ?? row.start_us;
    if (row.finish_us !== null) bar.end = row.finish_us;
    return bar;
  });
}

/**
 * @param {number} request
 * @param {number} slot
 * @param {number} start
 * @returns {Bar}
 */
const newBar = (request, slot, start) => ({
  request,
  slot,
  start,
  decode: start,
  end: Number.NaN,
  free: Number.NaN,
  preempted: false,
});

/**
 * @param {Map<number, Bar>} open
 * @param {Bar} bar
 */
function track(open, bar) {
  open.set(bar.request, bar);
  return bar;
}

/**
 * @param {Map<number, Bar>} open
 * @param {Bar} bar
 * @param {number} at
 * @param {boolean} preempted
 */
function close(open, bar, at, preempted) {
  bar.end = at;
  bar.free = at;
  bar.preempted = preempted;
  open.delete(bar.request);
}

/**
 * @param {Map<number, Bar>} open
 * @param {Bar} bar
 * @param {number} at
 * @param {boolean} isHeld whether a static batch keeps the slot
 */
function finish(open, bar, at, isHeld) {
  if (isHeld) bar.end = at;
  else close(open, bar, at, false);
}

/**
 * @param {Map<number, Bar>} open
 * @param {Bar} bar
 * @param {number} at
 */
function release(open, bar, at) {
  bar.free = at;
  open.delete(bar.request);
}

/**
 * @param {Bar} bar
 * @param {number} last
 */
function leaveOpen(bar, last) {
  if (Number.isNaN(bar.end)) bar.end = last;
  bar.free = last;
  bar.decode = Math.min(bar.decode, bar.end);
}
