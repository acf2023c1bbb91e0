/**
 * KV memory of a frame in numbers: used, reserved, wasted, and how many more would fit. Wasted inside is what a request
 * holds and does not use (internal fragmentation), outside what is free and too small to be reserved (external).
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {object} Tally
 * @property {number} requests that hold blocks
 * @property {number} used_tokens keys and values that are there once the step is done; shared ones count once
 * @property {number} reserved_tokens places of the blocks that they hold
 * @property {number} internal_tokens places held and not used
 * @property {number} external_tokens places free, and too few in a row for a reservation
 * @property {number} wasted_tokens both
 * @property {number | null} fit_more requests like these that would fit beside them; null: there are none to go by
 * @property {number} used_blocks in tables
 * @property {number} free_blocks cached ones included
 * @property {number} cached_blocks free blocks with content
 * @property {number} shared_blocks that two or more requests hold
 * @property {number} spared_copies blocks that there would be more of without sharing
 */
import { tokensOf } from "./kvcells.js";

/**
 * @param {Frame} frame
 * @returns {Tally}
 */
export function tallyOf(frame) {
  const { usable, blockSize, region } = frame.setting;
  const seats = [...frame.seats.values()].filter((seat) => seat.blocks.length);
  const users = usersIn(seats);
  const held = seats.reduce((sum, seat) => sum + seat.blocks.length, 0);
  const internal = held * blockSize - seats.reduce((sum, seat) => sum + tokensOf(seat), 0);
  const external = region ? (usable % region) * blockSize : 0;
  return {
    requests: seats.length,
    used_tokens: users.size * blockSize - internal,
    reserved_tokens: users.size * blockSize,
    internal_tokens: internal,
    external_tokens: external,
    wasted_tokens: internal + external,
    fit_more: region ? Math.floor(frame.free / region) : moreOf(frame.free, seats.length, users.size),
    used_blocks: users.size,
    free_blocks: frame.free,
    cached_blocks: region ? 0 : frame.cached,
    shared_blocks: [...users.values()].filter((count) => count > 1).length,
    spared_copies: held - users.size,
  };
}

/**
 * How many more fit if each takes as many blocks as those that run do on average now.
 * @param {number} free
 * @param {number} requests
 * @param {number} blocks
 */
const moreOf = (free, requests, blocks) => (blocks ? Math.floor((free * requests) / blocks) : null);

/**
 * By block how many tables it is in.
 * @param {import("./frame.js").Seat[]} seats
 */
function usersIn(seats) {
  /** @type {Map<number, number>} */
  const users = new Map();
  for (const seat of seats) for (const block of seat.blocks) users.set(block, (users.get(block) ?? 0) + 1);
  return users;
}

const NAMES = /** @type {(keyof Tally)[]} */ ([
  "requests",
  "used_tokens",
  "reserved_tokens",
  "internal_tokens",
  "external_tokens",
  "wasted_tokens",
  "fit_more",
  "used_blocks",
  "free_blocks",
  "cached_blocks",
  "shared_blocks",
  "spared_copies",
]);

/**
 * Numbers under their names, after a prefix; null while there are none.
 * @param {Tally | null} tally
 * @param {string} prefix
 * @returns {[string, number | null][]}
 */
export const entriesOf = (tally, prefix) => NAMES.map((name) => [`${prefix}${name}`, tally ? tally[name] : null]);
