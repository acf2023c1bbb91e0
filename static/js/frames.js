/**
 * The state at a step, folded from the events: who sits in which slot, and how far each is. Checkpoints make seeking short.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {object} Seat
 * @property {number} request
 * @property {number} computed tokens computed before the step
 * @property {number} outputs tokens that have come out before the step
 * @property {"prefill" | "decode" | "held"} phase what the step does with it
 *
 * @typedef {object} State
 * @property {Map<number, Seat>} seats by slot, in the order of admission
 * @property {Map<number, number>} parked outputs of preempted requests
 */
import { isUpdate, Kind } from "./kinds.js";

const EVERY = 128;

export class Frames {
  /** @param {Run} run */
  constructor(run) {
    this.run = run;
    /** State before step i * EVERY. */
    this.checkpoints = [before(run)];
  }

  /**
   * Seats by slot after the step's schedule().
   * @param {number} s position in the run's columns
   * @returns {Map<number, Seat>}
   */
  at(s) {
    const index = Math.min(Math.floor(s / EVERY), this.checkpoints.length - 1);
    const state = copy(this.checkpoints[index]);
    for (let step = index * EVERY; step < s; step++) {
      const plan = schedule(this.run, state, step);
      update(this.run, state, step, plan);
      const next = step + 1;
      if (next % EVERY === 0 && next / EVERY === this.checkpoints.length) this.checkpoints.push(copy(state));
    }
    schedule(this.run, state, s);
    return state.seats;
  }
}

/**
 * @param {Run} run
 * @returns {State}
 */
function before(run) {
  /** @type {Map<number, Seat>} */
  const seats = new Map();
  const rows = [...run.rows].sort((x, y) => x.start_us - y.start_us || x.request - y.request);
  for (const { request, slot, computed, outputs, finish_us } of rows)
    seats.set(slot, { request, computed, outputs, phase: finish_us === null ? "decode" : "held" });
  return { seats, parked: new Map() };
}

/**
 * @param {State} state
 * @returns {State}
 */
const copy = ({ seats, parked }) => ({
  seats: new Map([...seats].map(([slot, seat]) => [slot, { ...seat }])),
  parked: new Map(parked),
});

/**
 * Play schedule() of a step and say how many tokens each request gets, and how many of them are drafts.
 * @param {Run} run
 * @param {State} state
 * @param {number} s
 */
function schedule(run, { seats, parked }, s) {
  const { kind, request, a, b } = run.events;
  const line = [...seats.values()];
  /** @type {Map<number, number>} */
  const tokens = new Map();
  /** @type {Map<number, number>} */
  const drafts = new Map();
  for (let e = firstEvent(run, s); e < run.events_end[s] && !isUpdate(kind[e]); e++) {
    const r = request[e];
    if (kind[e] === Kind.ADMIT || kind[e] === Kind.RESUME)
      seats.set(b[e], { request: r, computed: a[e], outputs: parked.get(r) ?? 0, phase: "prefill" });
    else if (kind[e] === Kind.PREEMPT) park(seats, parked, r);
    else if (kind[e] === Kind.CHUNK) tokens.set(r, a[e]);
    else if (kind[e] === Kind.DRAFT) drafts.set(r, a[e]);
    else if (kind[e] === Kind.SKIP) tokens.set(r, 0);
    else if (kind[e] === Kind.STALL) for (const seat of line.slice(a[e])) tokens.set(seat.request, 0);
  }
  for (const seat of seats.values()) if (seat.phase !== "held") seat.phase = phaseOf(run, seat);
  return { tokens, drafts };
}

/**
 * @param {Run} run
 * @param {State} state
 * @param {number} s
 * @param {{tokens: Map<number, number>, drafts: Map<number, number>}} plan
 */
function update(run, { seats }, s, { tokens, drafts }) {
  const { kind, request, a } = run.events;
  /** @type {Map<number, number>} */
  const accepted = new Map();
  for (let e = firstEvent(run, s); e < run.events_end[s]; e++)
    if (kind[e] === Kind.ACCEPT) accepted.set(request[e], a[e]);
  for (const seat of seats.values()) {
    if (seat.phase === "held") continue;
    const given = tokens.get(seat.request) ?? 1;
    const kept = accepted.get(seat.request) ?? 0;
    const samples = given > 0 && seat.computed + given >= known(run, seat);
    seat.computed += given - (drafts.get(seat.request) ?? 0) + kept;
    if (samples) seat.outputs += 1 + kept;
  }
  for (let e = firstEvent(run, s); e < run.events_end[s]; e++)
    if (kind[e] === Kind.FINISH || kind[e] === Kind.RELEASE) leave(run, seats, request[e], kind[e]);
}

/**
 * @param {Run} run
 * @param {number} s
 */
const firstEvent = (run, s) => (s ? run.events_end[s - 1] : 0);

/**
 * Tokens of a request whose text is known: its prompt and what has come out.
 * @param {Run} run
 * @param {Seat} seat
 */
const known = (run, seat) => run.requests.prompt[seat.request] + seat.outputs;

/**
 * A row works on its prompt, or computes again what a preemption lost, until it samples from its last known token.
 * @param {Run} run
 * @param {Seat} seat
 */
const phaseOf = (run, seat) =>
  seat.computed >= run.requests.prompt[seat.request] && seat.computed >= known(run, seat) - 1 ? "decode" : "prefill";

/**
 * @param {Map<number, Seat>} seats
 * @param {number} request
 */
function slotOf(seats, request) {
  for (const [slot, seat] of seats) if (seat.request === request) return slot;
  return -1;
}

/**
 * @param {Map<number, Seat>} seats
 * @param {Map<number, number>} parked
 * @param {number} request
 */
function park(seats, parked, request) {
  const slot = slotOf(seats, request);
  parked.set(request, seats.get(slot)?.outputs ?? 0);
  seats.delete(slot);
}

/**
 * @param {Run} run
 * @param {Map<number, Seat>} seats
 * @param {number} request
 * @param {number} kind
 */
function leave(run, seats, request, kind) {
  const seat = seats.get(slotOf(seats, request));
  if (kind === Kind.FINISH && run.scenario.batching === "static" && seat) seat.phase = "held";
  else seats.delete(slotOf(seats, request));
}
