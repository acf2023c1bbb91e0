/**
 * A run as typed arrays, decoded from the lines of /api/v1/steps (app/codec.py is the other side). Times are whole
 * microseconds.
 *
 * @typedef {object} Requests
 * @property {(number | null)[]} arrival_us null where the arrival depends on another request
 * @property {number[]} prompt
 * @property {number[]} output
 * @property {number[]} [after] request whose end it follows; -1: none
 * @property {number[]} [parent] text whose beginning the prompt repeats: a shared one, or behind those a request's; -1: none
 * @property {number[]} [common] tokens of it
 * @property {number[]} [roots] tokens of the shared texts
 *
 * @typedef {object} Row a request in a slot before the first step of a window
 * @property {number} request
 * @property {number} slot
 * @property {number} start_us admission
 * @property {number | null} decode_us end of its prefill
 * @property {number | null} finish_us end, if it is held
 * @property {number} computed
 * @property {number} outputs
 *
 * @typedef {object} Run
 * @property {Record<string, any>} scenario every parameter
 * @property {Record<string, any>} facts
 * @property {Requests} requests
 * @property {number} first index of the first step held here
 * @property {number} count steps held here
 * @property {Float64Array} start_us
 * @property {Float64Array} end_us
 * @property {Record<string, Int32Array>} steps prefill, decode, running, held, waiting, free, why, bound; with blocks also
 *   free_end, cached, needed, sampled, padding, decode_context, prefill_context, matmul_us, attention_us, comm_us, host_us
 * @property {Float64Array} prefill_pairs of tokens that attend to each other, per step; with blocks only
 * @property {Int32Array} events_end per step, index after its last event
 * @property {{kind: Int32Array, request: Int32Array, a: Int32Array, b: Int32Array}} events
 * @property {boolean} hasBlocks
 * @property {Int32Array} ids of blocks, as events take or share them; negative: the block's content goes
 * @property {Row[]} rows who was in a slot before the first step, in order of admission
 * @property {any} state what else a fold needs before the first step of a window; null: nothing, or it is not known
 * @property {number[] | null} order of the arrivals, if their times do not tell
 * @property {Record<string, any>} metrics
 * @property {{request: number, reason: string}[]} rejected
 */

const DELTA = ["dur", "decode", "running", "held", "waiting", "free"];
const PLAIN = ["gap_us", "prefill", "why", "bound", "ev"];
const PARTS = ["matmul_us", "attention_us", "comm_us", "host_us"];
const BLOCK_DELTA = ["free_end", "cached", "sampled", "decode_context", ...PARTS];
const BLOCK_PLAIN = ["needed", "padding", "prefill_context"];

export class CutOff extends Error {}

export class RunReader {
  constructor() {
    /** @type {any} */
    this.head = null;
    /** @type {any[]} */
    this.parts = [];
    /** @type {any} */
    this.last = null;
  }

  /** @param {any} line */
  push(line) {
    if (line.requests) this.head = line;
    else if (line.steps) this.parts.push(line);
    else if (line.metrics) this.last = line;
    else throw new CutOff(line.detail ?? "The run was cut off.");
  }

  /** @returns {Run} */
  finish() {
    if (!this.head || !this.last) throw new CutOff("The run was cut off.");
    const run = emptyRun(this.head, this.last, this.parts);
    let step = 0;
    let event = 0;
    let id = 0;
    for (const part of this.parts) {
      readSteps(run, part, step, event);
      event = readEvents(run, part.events, event);
      id = readIds(run, part.events, id);
      step += part.count;
    }
    return run;
  }
}

/**
 * @param {any} head
 * @param {any} last
 * @param {any[]} parts
 * @returns {Run}
 */
function emptyRun(head, last, parts) {
  const count = parts.reduce((total, part) => total + part.count, 0);
  const events = parts.reduce((total, part) => total + part.events.kind.length, 0);
  const ids = parts.reduce((total, part) => total + (part.events.ids?.length ?? 0), 0);
  const hasBlocks = parts.some((part) => part.events.ids);
  const columns = [...DELTA, ...PLAIN, ...(hasBlocks ? [...BLOCK_DELTA, ...BLOCK_PLAIN] : [])];
  const ints = (/** @type {number} */ n) => new Int32Array(n);
  return {
    scenario: head.scenario,
    facts: head.facts,
    requests: { ...head.requests, arrival_us: last.results?.arrival_us ?? head.requests.arrival_us },
    first: parts[0]?.from ?? 0,
    count,
    start_us: new Float64Array(count),
    end_us: new Float64Array(count),
    steps: Object.fromEntries(columns.map((name) => [name, ints(count)])),
    prefill_pairs: new Float64Array(hasBlocks ? count : 0),
    events_end: ints(count),
    events: { kind: ints(events), request: ints(events), a: ints(events), b: ints(events) },
    hasBlocks,
    ids: ints(ids),
    rows: rowsOf(parts[0]?.rows),
    state: parts[0]?.state ?? null,
    order: last.order ?? null,
    metrics: last.metrics,
    rejected: last.rejected ?? [],
  };
}

/**
 * @param {Record<string, any[]> | undefined} columns
 * @returns {Row[]}
 */
function rowsOf(columns) {
  if (!columns) return [];
  const names = Object.keys(columns);
  return columns.request.map(
    (_, i) => /** @type {any} */ (Object.fromEntries(names.map((name) => [name, columns[name][i]]))),
  );
}

/**
 * @param {Run} run
 * @param {any} part
 * @param {number} at first step of the part
 * @param {number} event events before it
 */
function readSteps(run, part, at, event) {
  for (const name of [...DELTA, ...BLOCK_DELTA]) if (part.steps[name]) undelta(part.steps[name], run.steps[name], at);
  for (const name of [...PLAIN, ...BLOCK_PLAIN]) if (part.steps[name]) run.steps[name].set(part.steps[name], at);
  if (part.steps.prefill_pairs) run.prefill_pairs.set(part.steps.prefill_pairs, at);
  let now = part.end_us ?? (at ? run.end_us[at - 1] : 0);
  let end = event;
  for (let s = at; s < at + part.count; s++) {
    run.start_us[s] = now + run.steps.gap_us[s];
    now = run.start_us[s] + run.steps.dur[s];
    run.end_us[s] = now;
    end += run.steps.ev[s];
    run.events_end[s] = end;
  }
}

/**
 * @param {Run} run
 * @param {Record<string, number[]>} columns
 * @param {number} at
 */
function readEvents(run, columns, at) {
  run.events.kind.set(columns.kind, at);
  undelta(columns.request, run.events.request, at);
  run.events.a.set(columns.a, at);
  run.events.b.set(columns.b, at);
  return at + columns.kind.length;
}

/**
 * @param {Run} run
 * @param {Record<string, number[]>} columns
 * @param {number} at
 */
function readIds(run, { ids, evicted }, at) {
  if (!ids) return at;
  undelta(ids, run.ids, at);
  for (const place of evicted) run.ids[at + place] *= -1;
  return at + ids.length;
}

/**
 * @param {number[]} deltas
 * @param {Int32Array} out
 * @param {number} at
 */
function undelta(deltas, out, at) {
  let value = 0;
  for (let i = 0; i < deltas.length; i++) {
    value += deltas[i];
    out[at + i] = value;
  }
}

/**
 * Position of the step that is running or was last at a time; -1 before the first.
 * @param {Run} run
 * @param {number} us
 */
export function stepAt(run, us) {
  let low = 0;
  let high = run.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.start_us[middle] <= us) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Time of the boundary that a step button leads to [us]; null if it is not among the steps that are here.
 * @param {Run} run
 * @param {number} at
 * @param {string} name start, back, forward or end
 * @returns {number | null}
 */
export function boundary(run, at, name) {
  const isWhole = run.first === 0 && run.count === run.metrics.steps;
  const s = stepAt(run, at);
  const isInside = s >= 1 && s + 1 < run.count;
  if (!run.count || !(isWhole || (isInside && name !== "start" && name !== "end"))) return null;
  if (name === "start") return 0;
  if (name === "end") return run.start_us[run.count - 1];
  if (name === "forward") return run.start_us[Math.min(s + 1, run.count - 1)];
  if (s < 0) return 0;
  return at > run.start_us[s] ? run.start_us[s] : run.start_us[Math.max(0, s - 1)];
}
