/**
 * The life of each request of a run, from its events; sim.history tells the same. Times in microseconds, null for what
 * did not happen, or not in the part of the run that is here.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {object} Life
 * @property {number} request
 * @property {number | null} arrival
 * @property {number | null} admitted
 * @property {number | null} first
 * @property {number[]} preempted
 * @property {number | null} finish
 * @property {number | null} ttft
 * @property {number | null} tpot
 * @property {number} prompt tokens
 * @property {number | null} outputs tokens
 * @property {number | null} hit tokens of the prompt that were in the cache
 */
import { Kind } from "./kinds.js";

/** @type {WeakMap<Run, Map<number, Life>>} */
const known = new WeakMap();

/**
 * @param {Run} run
 * @returns {Map<number, Life>} of those that were in a slot
 */
export function livesOf(run) {
  const before = known.get(run);
  if (before) return before;
  const lives = readLives(run);
  known.set(run, lives);
  return lives;
}

/** @param {Run} run */
function readLives(run) {
  /** @type {Map<number, Life>} */
  const lives = new Map(run.rows.map((row) => [row.request, lifeBefore(run, row)]));
  const { kind, request } = run.events;
  for (let s = 0, e = 0; s < run.count; s++)
    for (; e < run.events_end[s]; e++) {
      const r = request[e];
      if (kind[e] === Kind.ADMIT && !lives.has(r)) lives.set(r, newLife(run, r));
      const life = lives.get(r);
      if (life) live(life, run, s, e);
    }
  for (const life of lives.values()) conclude(life);
  return lives;
}

/**
 * One event of a request.
 * @param {Life} life
 * @param {Run} run
 * @param {number} s
 * @param {number} e
 */
function live(life, run, s, e) {
  const { kind, a, b } = run.events;
  const seen = run.scenario.async_scheduling ? run.start_us[s] : run.end_us[s];
  if (kind[e] === Kind.ADMIT) {
    life.admitted = run.start_us[s];
    life.hit = a[e];
  } else if (kind[e] === Kind.FIRST) life.first = seen;
  else if (kind[e] === Kind.PREEMPT) life.preempted.push(run.start_us[s]);
  else if (kind[e] === Kind.FINISH) {
    life.finish = seen;
    life.outputs = b[e];
  }
}

/** @param {Life} life */
function conclude(life) {
  const { arrival, first, finish, outputs } = life;
  if (arrival !== null && first !== null) life.ttft = first - arrival;
  if (first !== null && finish !== null && outputs !== null && outputs > 1)
    life.tpot = (finish - first) / (outputs - 1);
}

/**
 * @param {Run} run
 * @param {number} request
 * @returns {Life}
 */
const newLife = (run, request) => ({
  request,
  arrival: run.requests.arrival_us[request],
  admitted: null,
  first: null,
  preempted: [],
  finish: null,
  ttft: null,
  tpot: null,
  prompt: run.requests.prompt[request],
  outputs: null,
  hit: null,
});

/**
 * A request that was in its slot before the first step that is here.
 * @param {Run} run
 * @param {import("./run.js").Row} row
 */
const lifeBefore = (run, row) => ({
  ...newLife(run, row.request),
  admitted: row.start_us,
  first: row.decode_us,
  finish: row.finish_us,
});

/**
 * A life as lines of a name and a value.
 * @param {Life} life
 * @returns {[string, string][]}
 */
export function linesOf(life) {
  const at = (/** @type {number | null} */ us) => (us === null ? "" : `${(us / 1e6).toFixed(3)} s`);
  const queued = life.arrival === null || life.admitted === null ? "" : durationText(life.admitted - life.arrival);
  const tokens = (/** @type {number | null} */ count) => (count === null ? "" : `${count.toLocaleString("en")} tok`);
  /** @type {[string, string][]} */
  const lines = [
    ["arrived", at(life.arrival)],
    ["admitted", at(life.admitted) && `${at(life.admitted)}${queued && `, after ${queued}`}`],
    ["first token", at(life.first)],
    ["preempted", life.preempted.length ? life.preempted.slice(0, 3).map(at).join(", ") + more(life.preempted, 3) : ""],
    ["finished", at(life.finish)],
    ["TTFT", life.ttft === null ? "" : durationText(life.ttft)],
    ["TPOT", life.tpot === null ? "" : durationText(life.tpot)],
    ["prompt", tokens(life.prompt) + (life.hit ? `, ${life.hit.toLocaleString("en")} cached` : "")],
    ["output", tokens(life.outputs)],
  ];
  return lines.filter(([, value]) => value);
}

/**
 * @param {number[]} list
 * @param {number} most
 */
const more = (list, most) => (list.length > most ? ` and ${list.length - most} more times` : "");

/**
 * A time with three digits or so, in the unit that suits it; sim.history writes it alike.
 * @param {number} us
 */
export function durationText(us) {
  if (us >= 1e6) return `${(us / 1e6).toFixed(us >= 1e7 ? 1 : 2)} s`;
  return `${(us / 1e3).toFixed(us >= 1e4 ? 0 : 1)} ms`;
}
