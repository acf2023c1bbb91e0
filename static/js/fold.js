/**
 * What a step does to the state: schedule() from the events at its start, update() from those at its end. Twin of
 * sim/replay.py. One token of decode is implicit: a running request that no event names computes one.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./frame.js").Seat} Seat
 */
import { isUpdate, Kind } from "./kinds.js";
import { settingOf } from "./setting.js";

/**
 * Move a frame, whose step has been updated, to the schedule() of the next one.
 * @param {Frame} frame
 */
export function schedule(frame) {
  const { run } = frame;
  frame.position++;
  if (run.first === 0 || run.state) receive(frame);
  frame.preempted = [];
  for (const seat of frame.seats.values()) {
    seat.scheduled = seat.phase === "held" ? 0 : 1;
    seat.drafts = 0;
  }
  const { kind } = run.events;
  for (let e = firstEvent(frame); e < lastEvent(frame) && !isUpdate(kind[e]); e++) apply(frame, e);
  for (const seat of frame.seats.values()) if (seat.phase !== "held") plan(frame, seat);
  const { region, usable } = frame.setting;
  if (region) frame.free = usable - region * frame.seats.size;
  else frame.free = run.hasBlocks ? frame.pool.size : run.steps.free[frame.position];
}

/**
 * Play the end of the step that a frame stands at.
 * @param {Frame} frame
 */
export function update(frame) {
  const { run, lives } = frame;
  const { kind, request, a } = run.events;
  const first = firstEvent(frame);
  const end = lastEvent(frame);
  for (let e = first; e < end; e++)
    if (kind[e] === Kind.ACCEPT) /** @type {Seat} */ (lives.get(request[e])).accepted = a[e];
  for (const seat of lives.values()) if (seat.phase !== "held") bringHome(frame, seat);
  for (let e = first; e < end; e++)
    if (kind[e] === Kind.FINISH) finish(frame, request[e], a[e]);
    else if (kind[e] === Kind.RELEASE) leave(frame, request[e], a[e]);
}

/** @param {Frame} frame */
const firstEvent = ({ run, position }) => (position ? run.events_end[position - 1] : 0);

/** @param {Frame} frame */
const lastEvent = ({ run, position }) => run.events_end[position];

/**
 * Let those join the line who have arrived. How many they are is told by the column of waiting requests, for microseconds
 * may round an arrival past the start of its step.
 * @param {Frame} frame
 */
function receive(frame) {
  const { run, waiting, order } = frame;
  const rejected = rejectedIn(frame);
  let due = run.steps.waiting[frame.position] - waiting.length + leavingLine(frame) + rejected.length;
  if (due <= 0) return;
  const late = frame.late;
  frame.late = [];
  while (due > 0 && (late.length || frame.arrived < order.length)) {
    const index = late.shift() ?? order[frame.arrived++];
    const isExpected = hasEndedBefore(frame, index);
    if (isExpected) due--;
    if (!isExpected) frame.late.push(index);
    else if (rejected.includes(index)) frame.gone[index] = 1;
    else waiting.push(index);
  }
  frame.late.push(...late);
}

/**
 * Requests that are turned away before a step.
 * @param {Frame} frame
 */
function rejectedIn(frame) {
  const { kind, request } = frame.run.events;
  /** @type {number[]} */
  const rejected = [];
  for (let e = firstEvent(frame); e < lastEvent(frame) && kind[e] === Kind.REJECT; e++) rejected.push(request[e]);
  return rejected;
}

/**
 * How many more a step's schedule() takes from the line than it puts back.
 * @param {Frame} frame
 */
function leavingLine(frame) {
  const { kind } = frame.run.events;
  let count = 0;
  for (let e = firstEvent(frame); e < lastEvent(frame) && !isUpdate(kind[e]); e++)
    if (kind[e] === Kind.ADMIT || kind[e] === Kind.RESUME) count++;
    else if (kind[e] === Kind.PREEMPT) count--;
  return count;
}

/**
 * Whether the end that an arrival follows has been seen: async scheduling sees it when a step has begun.
 * @param {Frame} frame
 * @param {number} index
 */
function hasEndedBefore({ run, gone }, index) {
  const before = run.requests.after?.[index] ?? -1;
  return before < 0 || gone[before] === 1;
}

/**
 * @param {Frame} frame
 * @param {number} e index of an event of schedule()
 */
function apply(frame, e) {
  const { lives, run } = frame;
  const request = run.events.request[e];
  const a = run.events.a[e];
  const b = run.events.b[e];
  const seat = /** @type {Seat} */ (lives.get(request));
  switch (run.events.kind[e]) {
    case Kind.ADMIT:
    case Kind.RESUME:
      return admit(frame, request, b, a);
    case Kind.CHUNK:
      seat.scheduled = a;
      return;
    case Kind.SHARE:
      for (let i = 0; i < a; i++) seat.blocks.push(frame.pool.share(run.ids[frame.ids++]));
      return;
    case Kind.TAKE:
      for (let i = 0; i < a; i++) seat.blocks.push(frame.pool.take(run.ids[frame.ids++]));
      return;
    case Kind.DRAFT:
      seat.drafts = b ? -a : a;
      return;
    case Kind.SKIP:
      seat.scheduled = 0;
      return;
    case Kind.STALL:
      return stall(frame, a);
    case Kind.PREEMPT:
      return preempt(frame, seat, a);
    case Kind.EVICT:
      return evict(frame, b, a);
    case Kind.VACATE:
      return leave(frame, request, a);
    case Kind.FORK:
      return fork(frame);
  }
}

/**
 * @param {Frame} frame
 * @param {number} request
 * @param {number} slot
 * @param {number} computed tokens that the cache spares
 */
function admit(frame, request, slot, computed) {
  const place = frame.waiting.indexOf(request);
  if (place >= 0) frame.waiting.splice(place, 1);
  const seat = frame.seat(request, slot, computed, frame.lives.get(request)?.outputs ?? 0);
  seat.scheduled = 1;
  if (!frame.setting.region) seat.blocks = frame.kept.get(slot)?.blocks.slice() ?? [];
  frame.kept.delete(slot);
}

/**
 * The budget left nothing for those from a place of the running list on.
 * @param {Frame} frame
 * @param {number} from
 */
function stall(frame, from) {
  let place = 0;
  for (const seat of frame.seats.values()) if (place++ >= from) seat.scheduled = 0;
}

/**
 * @param {Frame} frame
 * @param {Seat} seat
 * @param {number} hashed
 */
function preempt(frame, seat, hashed) {
  frame.seats.delete(seat.slot);
  freeTable(frame, seat.blocks, hashed);
  frame.waiting.unshift(seat.request);
  frame.preempted.push(seat.request);
  seat.slot = -1;
  seat.computed = seat.scheduled = seat.drafts = seat.placeholders = 0;
  seat.samples = false;
  seat.blocks = [];
}

/**
 * What a slot keeps is cut to its first blocks.
 * @param {Frame} frame
 * @param {number} slot
 * @param {number} length
 */
function evict(frame, slot, length) {
  const kept = frame.kept.get(slot);
  if (!kept) return;
  freeTable(frame, kept.blocks, 0, length);
  if (length) frame.kept.set(slot, { ...kept, blocks: kept.blocks.slice(0, length) });
  else frame.kept.delete(slot);
}

/** @param {Frame} frame */
function fork(frame) {
  const { sharesPrefixes } = frame.setting;
  frame.setting = settingOf(frame.run, true);
  if (sharesPrefixes && !frame.setting.sharesPrefixes) frame.pool.clear();
}

/**
 * Say what the step does with a seat.
 * @param {Frame} frame
 * @param {Seat} seat
 */
function plan(frame, seat) {
  const { computed, scheduled, prompt, outputs } = seat;
  seat.samples = scheduled > 0 && computed + scheduled >= prompt + outputs + seat.placeholders;
  // A row works on its prompt, or computes again what a preemption lost, up to its last known token.
  const known = prompt + outputs + seat.placeholders - 1;
  seat.phase = computed >= Math.max(known, prompt) ? "decode" : "prefill";
  if (frame.setting.isAsync && seat.samples) seat.placeholders++;
}

/**
 * The result of a row comes home: async scheduling has planned one more step by then.
 * @param {Frame} frame
 * @param {Seat} seat
 */
function bringHome(frame, seat) {
  const { isAsync, maxModelLen } = frame.setting;
  seat.computed += seat.scheduled;
  seat.scheduled = 0;
  const hasToken = isAsync ? seat.isFlying : seat.samples;
  if (isAsync) seat.isFlying = seat.samples;
  seat.samples = false;
  if (!hasToken) return;
  const known = seat.prompt + seat.outputs;
  const surplus = Math.max(known + 1 + seat.accepted - Math.min(seat.target, maxModelLen), 0);
  seat.outputs += 1 + seat.accepted - surplus;
  seat.computed -= Math.abs(seat.drafts) - seat.accepted + surplus;
  if (seat.placeholders > 0) seat.placeholders -= 1;
  seat.accepted = 0;
}

/**
 * A request ends; a static batch keeps its slot.
 * @param {Frame} frame
 * @param {number} request
 * @param {number} hashed
 */
function finish(frame, request, hashed) {
  const seat = /** @type {Seat} */ (frame.lives.get(request));
  const { isStatic, dropsRows } = frame.setting;
  frame.gone[request] = 1;
  if (seat.slot < 0) {
    frame.waiting.splice(frame.waiting.indexOf(request), 1);
    frame.lives.delete(request);
  } else if (!isStatic) {
    leave(frame, request, hashed);
  } else {
    seat.phase = "held";
    if (dropsRows) seat.blocks = freeTable(frame, seat.blocks, hashed);
  }
}

/**
 * A request gives its slot back, and its blocks unless the slot keeps them.
 * @param {Frame} frame
 * @param {number} request
 * @param {number} hashed
 */
function leave(frame, request, hashed) {
  const seat = /** @type {Seat} */ (frame.lives.get(request));
  const { perSlot, region, blockSize } = frame.setting;
  frame.seats.delete(seat.slot);
  frame.lives.delete(request);
  if (!perSlot) return void freeTable(frame, seat.blocks, hashed);
  const size = region ? 0 : Math.ceil(seat.computed / blockSize);
  frame.kept.set(seat.slot, { request, tokens: seat.computed, blocks: seat.blocks.slice(0, size) });
  freeTable(frame, seat.blocks, 0, size);
}

/**
 * @param {Frame} frame
 * @param {number[]} table
 * @param {number} hashed
 * @param {number} [first]
 * @returns {number[]} what is left of it
 */
function freeTable(frame, table, hashed, first = 0) {
  if (!frame.setting.region) frame.pool.release(table, hashed, first);
  return [];
}
