/**
 * What a step did to the blocks, from its events: who joined, took, shared, gave back.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {object} Deed
 * @property {number} kind
 * @property {number} request
 * @property {number[]} blocks taken, shared or reserved
 * @property {number} evicted how many of them lost their content
 * @property {number} cached how many of the blocks given back stay cached
 */
import { isUpdate, Kind } from "./kinds.js";

/** @type {Set<number>} */
const WITH_IDS = new Set([Kind.TAKE, Kind.SHARE]);

/**
 * Deeds of a step's schedule(), and before them those at the end of the step before.
 * @param {Frame} frame
 * @returns {Deed[]}
 */
export function deedsOf({ run, position, ids }) {
  const { kind, a } = run.events;
  const [before, first, end] = [position - 2, position - 1, position].map((s) => (s < 0 ? 0 : run.events_end[s]));
  const ended = indices(before, first).filter((e) => isUpdate(kind[e]));
  const planned = indices(first, end).filter((e) => !isUpdate(kind[e]));
  const count = planned.reduce((sum, e) => sum + (WITH_IDS.has(kind[e]) ? a[e] : 0), 0);
  const place = { id: ids - count };
  return [...ended, ...planned].map((e) => deedOf(run, e, place));
}

/**
 * @param {number} from
 * @param {number} to
 */
const indices = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);

/**
 * @param {import("./run.js").Run} run
 * @param {number} e
 * @param {{id: number}} place of the next block id
 * @returns {Deed}
 */
function deedOf({ events, ids }, e, place) {
  const [kind, request, a, b] = [events.kind[e], events.request[e], events.a[e], events.b[e]];
  const deed = { kind, request, blocks: /** @type {number[]} */ ([]), evicted: 0, cached: 0 };
  if (WITH_IDS.has(kind)) {
    const own = [...ids.subarray(place.id, place.id + a)];
    place.id += a;
    return { ...deed, blocks: own.map(Math.abs), evicted: own.filter((id) => id < 0).length };
  }
  if (kind === Kind.RESERVE) return { ...deed, blocks: Array.from({ length: a }, (_, i) => b + i) };
  return { ...deed, cached: kind === Kind.FINISH || kind === Kind.PREEMPT || kind === Kind.RELEASE ? a : 0 };
}

/**
 * Blocks that a step took.
 * @param {Deed[]} deeds
 */
export const takenIn = (deeds) =>
  new Set(deeds.filter(({ kind }) => kind === Kind.TAKE || kind === Kind.RESERVE).flatMap(({ blocks }) => blocks));
