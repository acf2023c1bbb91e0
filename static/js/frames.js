/**
 * The state at a step, folded from the events: who sits in which slot, and how far each is. Checkpoints make seeking short.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {object} Seat
 * @property {number} request
 * @property {number} computed tokens computed before the step
 * @property {number} outputs tokens that have come out before the step
 * @property {"prefill" | "decode" | "held"} phase what the step does with it
 */
import { isDraft } from "./bars.js";
import { isUpdate, Kind } from "./kinds.js";

const EVERY = 128;

export class Frames {
  /** @param {Run} run */
  constructor(run) {
    this.run = run;
    /** @type {Map<number, Seat>[]} slots before step i * EVERY */
    this.checkpoints = [seatsBefore(run)];
  }

  /**
   * Seats by slot after the step's schedule().
   * @param {number} s position in the run's columns
   * @returns {Map<number, Seat>}
   */
  at(s) {
    const index = Math.min(Math.floor(s / EVERY), this.checkpoints.length - 1);
    const seats = copy(this.checkpoints[index]);
    for (let step = index * EVERY; step < s; step++) {
      schedule(this.run, seats, step);
      update(this.run, seats, step);
      const next = step + 1;
      if (next % EVERY === 0 && next / EVERY === this.checkpoints.length) this.checkpoints.push(copy(seats));
    }
    schedule(this.run, seats, s);
    return seats;
  }
}

/**
 * @param {Run} run
 * @returns {Map<number, Seat>}
 */
function seatsBefore(run) {
  /** @type {Map<number, Seat>} */
  const seats = new Map();
  for (const { request, slot, computed, outputs, finish_us } of run.rows)
    seats.set(slot, { request, computed, outputs, phase: finish_us === null ? "decode" : "held" });
  return seats;
}

/** @param {Map<number, Seat>} seats */
const copy = (seats) => new Map([...seats].map(([slot, seat]) => [slot, { ...seat }]));

/**
 * @param {Map<number, Seat>} seats
 * @param {number} request
 */
function slotOf(seats, request) {
  for (const [slot, seat] of seats) if (seat.request === request) return slot;
  return -1;
}

/**
 * @param {Run} run
 * @param {number} s
 */
const firstEvent = (run, s) => (s ? run.events_end[s - 1] : 0);

/**
 * @param {Run} run
 * @param {Map<number, Seat>} seats
 * @param {number} s
 */
function schedule(run, seats, s) {
  const { kind, request, a, b } = run.events;
  for (const seat of seats.values()) if (seat.phase !== "held") seat.phase = "decode";
  for (let e = firstEvent(run, s); e < run.events_end[s] && !isUpdate(kind[e]); e++) {
    if (kind[e] === Kind.ADMIT || kind[e] === Kind.RESUME)
      seats.set(b[e], { request: request[e], computed: a[e], outputs: 0, phase: "prefill" });
    else if (kind[e] === Kind.PREEMPT) seats.delete(slotOf(seats, request[e]));
    else if (kind[e] === Kind.CHUNK && !isDraft(run, e)) setPhase(seats, request[e], "prefill");
  }
}

/**
 * @param {Run} run
 * @param {Map<number, Seat>} seats
 * @param {number} s
 */
function update(run, seats, s) {
  const { kind, request, a } = run.events;
  const isStatic = run.scenario.batching === "static";
  /** @type {Map<number, number>} */
  const chunks = new Map();
  const idle = new Set();
  for (let e = firstEvent(run, s); e < run.events_end[s]; e++) {
    if (kind[e] === Kind.CHUNK) chunks.set(request[e], a[e]);
    else if (kind[e] === Kind.SKIP) idle.add(request[e]);
    else if (kind[e] === Kind.FIRST) bump(seats, request[e], 1);
    else if (kind[e] === Kind.ACCEPT) bump(seats, request[e], a[e]);
  }
  for (const seat of seats.values()) {
    if (seat.phase === "held" || idle.has(seat.request)) continue;
    seat.computed += chunks.get(seat.request) ?? 1;
    if (seat.phase === "decode") seat.outputs++;
  }
  for (let e = firstEvent(run, s); e < run.events_end[s]; e++) {
    if (kind[e] === Kind.FINISH && isStatic) setPhase(seats, request[e], "held");
    else if (kind[e] === Kind.FINISH || kind[e] === Kind.RELEASE) seats.delete(slotOf(seats, request[e]));
  }
}

/**
 * @param {Map<number, Seat>} seats
 * @param {number} request
 * @param {Seat["phase"]} phase
 */
function setPhase(seats, request, phase) {
  const seat = seats.get(slotOf(seats, request));
  if (seat) seat.phase = phase;
}

/**
 * @param {Map<number, Seat>} seats
 * @param {number} request
 * @param {number} tokens
 */
function bump(seats, request, tokens) {
  const seat = seats.get(slotOf(seats, request));
  if (seat) seat.outputs += tokens;
}
