/** Kinds of event and reasons, numbered as sim.engine.record numbers them. */

export const Kind = Object.freeze({
  ADMIT: 1,
  RESUME: 2,
  CHUNK: 3,
  SHARE: 4,
  TAKE: 5,
  FIRST: 6,
  PREEMPT: 7,
  FINISH: 8,
  RELEASE: 9,
  DRAFT: 10,
  ACCEPT: 11,
  STALL: 12,
  SKIP: 13,
  REJECT: 14,
  BATCH: 15,
  EVICT: 16,
  RESERVE: 17,
  VACATE: 19,
  FORK: 20,
});

/** @type {Set<number>} */
const UPDATE_KINDS = new Set([Kind.ACCEPT, Kind.FIRST, Kind.FINISH, Kind.RELEASE]);

/**
 * Whether a kind belongs to the update at the end of a step; all others belong to its schedule() at the start.
 * @param {number} kind
 */
export const isUpdate = (kind) => UPDATE_KINDS.has(kind);
