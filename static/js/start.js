/** The frame that a replay begins with: nothing, or how things stood before a window (app/midrun.py is the other side). */

import { Frame } from "./frame.js";
import { FreeQueue } from "./freequeue.js";
import { settingOf } from "./setting.js";

/**
 * Frame before the first step of a run or a window of it.
 * @param {import("./run.js").Run} run
 * @returns {Frame}
 */
export function firstFrame(run) {
  const { fork } = run.facts;
  const isForked = Boolean(fork) && fork.step !== null && run.first > fork.step;
  const setting = settingOf(run, isForked);
  const pool = new FreeQueue(run.hasBlocks && !setting.region ? setting.usable : 0);
  const frame = new Frame(run, setting, orderOf(run), pool);
  for (const row of run.rows) {
    const seat = frame.seat(row.request, row.slot, row.computed, row.outputs);
    if (row.finish_us !== null) seat.phase = "held";
    seat.isFlying = setting.isAsync && seat.computed >= seat.prompt + seat.outputs;
    seat.placeholders = Number(seat.isFlying);
  }
  if (run.state) continueFrom(frame, run.state);
  return frame;
}

/**
 * @param {Frame} frame
 * @param {any} state
 */
function continueFrom(frame, state) {
  frame.waiting = valuesOf(state.waiting);
  frame.late = state.late;
  frame.arrived = state.arrived;
  const { preempted, kept } = state;
  preempted.request.forEach((/** @type {number} */ request, /** @type {number} */ i) => {
    frame.seat(request, -1, 0, preempted.outputs[i]);
  });
  frame.seats.delete(-1);
  const keptTables = tablesOf(kept.tables);
  kept.slot.forEach((/** @type {number} */ slot, /** @type {number} */ i) => {
    frame.kept.set(slot, { request: kept.request[i], tokens: kept.tokens[i], blocks: keptTables[i] });
  });
  if (!frame.setting.region) fillPool(frame, state);
  endOthers(frame);
}

/**
 * @param {Frame} frame
 * @param {any} state
 */
function fillPool(frame, state) {
  const { pool } = frame;
  const tables = tablesOf(state.tables);
  [...frame.seats.values()].forEach((seat, i) => {
    seat.blocks = tables[i];
  });
  pool.arrange(valuesOf(state.queue), valuesOf(state.cached));
  pool.users.fill(0);
  for (const table of [...tables, ...[...frame.kept.values()].map((kept) => kept.blocks)])
    for (const block of table) pool.users[block]++;
}

/**
 * Who has arrived and is nowhere any more has ended.
 * @param {Frame} frame
 */
function endOthers(frame) {
  for (let i = 0; i < frame.arrived; i++) frame.gone[frame.order[i]] = 1;
  for (const request of [...frame.waiting, ...frame.late]) frame.gone[request] = 0;
  for (const seat of frame.lives.values()) frame.gone[seat.request] = Number(seat.phase === "held");
}

/**
 * Requests in order of arrival.
 * @param {import("./run.js").Run} run
 * @returns {Int32Array}
 */
function orderOf(run) {
  if (run.order) return Int32Array.from(run.order);
  const arrivals = run.requests.arrival_us.map((us) => us ?? Number.POSITIVE_INFINITY);
  return Int32Array.from(arrivals.keys()).sort((x, y) =>
    arrivals[x] === arrivals[y] ? x - y : arrivals[x] - arrivals[y],
  );
}

/**
 * Whole numbers from runs of equal differences.
 * @param {{by: number[], n: number[]}} runs
 * @returns {number[]}
 */
export function valuesOf({ by, n }) {
  const values = [];
  let value = 0;
  for (let run = 0; run < by.length; run++)
    for (let i = 0; i < n[run]; i++) {
      value += by[run];
      values.push(value);
    }
  return values;
}

/**
 * @param {{length: number[], ids: {by: number[], n: number[]}}} tables
 * @returns {number[][]}
 */
function tablesOf({ length, ids }) {
  const blocks = valuesOf(ids);
  let at = 0;
  return length.map((n) => {
    at += n;
    return blocks.slice(at - n, at);
  });
}
