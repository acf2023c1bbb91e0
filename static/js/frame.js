/**
 * A frame: the state of a run at a step, after its schedule(). Twin of sim/frame.py and of the state in sim/replay.py.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {object} Seat a request in a slot, or a preempted one
 * @property {number} request
 * @property {number} slot -1 while it is preempted
 * @property {"prefill" | "decode" | "held"} phase what the step does with it
 * @property {number} computed tokens computed before the step
 * @property {number} scheduled tokens of this step
 * @property {number} prompt
 * @property {number} outputs tokens that have come out before the step
 * @property {number} target prompt and output when it ends
 * @property {number} drafts tokens of the step that are drafts; negative: they only fill the row up
 * @property {number[]} blocks its block table
 * @property {boolean} samples whether the step brings a token
 * @property {number} accepted drafts that the step accepts
 * @property {number} placeholders async: tokens that are computed on before they are known
 * @property {boolean} isFlying async: the step before brings a token, which is seen at the end of this one
 *
 * @typedef {{request: number, tokens: number, blocks: number[]}} Kept last sequence of a free slot (per_slot)
 */

export class Frame {
  /**
   * @param {Run} run
   * @param {import("./setting.js").Setting} setting
   * @param {Int32Array} order requests in order of arrival
   * @param {import("./freequeue.js").FreeQueue} pool
   */
  constructor(run, setting, order, pool) {
    this.run = run;
    this.setting = setting;
    this.order = order;
    /** Position of the step in the run's columns; -1 before the first. */
    this.position = -1;
    /** Who is in a slot, in order of admission. @type {Map<number, Seat>} */
    this.seats = new Map();
    /** Seats and preempted requests, by request. @type {Map<number, Seat>} */
    this.lives = new Map();
    /** The waiting line. @type {number[]} */
    this.waiting = [];
    /** Who is preempted in this step. @type {number[]} */
    this.preempted = [];
    /** Sequences that free slots keep, by slot. @type {Map<number, Kept>} */
    this.kept = new Map();
    this.pool = pool;
    /** Free blocks. */
    this.free = 0;
    /** Requests of the order that have arrived. */
    this.arrived = 0;
    /** Those that the engine does not know yet: the end they follow is not seen. @type {number[]} */
    this.late = [];
    /** 1 for requests that have ended. */
    this.gone = new Uint8Array(order.length);
    /** Block ids that are used up. */
    this.ids = 0;
  }

  /** Number of the step. */
  get step() {
    return this.run.first + this.position;
  }

  /** Finished requests whose slot the batch keeps. */
  get held() {
    return [...this.seats.values()].filter((seat) => seat.phase === "held");
  }

  /** Free blocks that still carry content. */
  get cached() {
    return this.pool.cached;
  }

  /** Free blocks in the order in which they will be handed out. */
  get queue() {
    return this.pool.order();
  }

  /** By block how many requests use it. */
  get users() {
    return this.pool.users;
  }

  /** Bytes that a copy takes, about. */
  get bytes() {
    let bytes = this.pool.bytes + this.gone.length + 8 * this.waiting.length;
    for (const seat of this.lives.values()) bytes += SEAT_BYTES + (this.setting.region ? 0 : 8 * seat.blocks.length);
    return bytes;
  }

  copy() {
    const other = new Frame(this.run, this.setting, this.order, this.pool.copy());
    other.position = this.position;
    for (const [request, seat] of this.lives) other.lives.set(request, this.copySeat(seat));
    for (const [slot, { request }] of this.seats) other.seats.set(slot, /** @type {Seat} */ (other.lives.get(request)));
    other.waiting = this.waiting.slice();
    other.preempted = this.preempted.slice();
    other.kept = new Map(this.kept);
    other.free = this.free;
    other.arrived = this.arrived;
    other.late = this.late.slice();
    other.gone = this.gone.slice();
    other.ids = this.ids;
    return other;
  }

  /**
   * Tables grow and are copied; a region is as it is.
   * @param {Seat} seat
   * @returns {Seat}
   */
  copySeat(seat) {
    return { ...seat, blocks: this.setting.region ? seat.blocks : seat.blocks.slice() };
  }

  /**
   * Seat a request.
   * @param {number} request
   * @param {number} slot
   * @param {number} computed
   * @param {number} outputs
   * @returns {Seat}
   */
  seat(request, slot, computed, outputs) {
    const { prompt, output } = this.run.requests;
    /** @type {Seat} */
    const seat = {
      request,
      slot,
      phase: "prefill",
      computed,
      scheduled: 0,
      prompt: prompt[request],
      outputs,
      target: prompt[request] + output[request],
      drafts: 0,
      blocks: this.setting.region ? this.setting.regionOf(slot) : [],
      samples: false,
      accepted: 0,
      placeholders: 0,
      isFlying: false,
    };
    this.seats.set(slot, seat);
    this.lives.set(request, seat);
    return seat;
  }
}

const SEAT_BYTES = 160;
