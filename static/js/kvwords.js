/**
 * The block map in words: what a block is, and what of the memory is used. app/blocks.py says the numbers in the same
 * words.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./frame.js").Seat} Seat
 */
import { Cell, tokensOf, usersOf } from "./kvcells.js";

const MOST_NAMES = 6;

/**
 * @param {Frame} frame
 * @param {import("./kvcells.js").Cells} cells
 * @param {number} block
 */
export function nameOfBlock(frame, cells, block) {
  return `block ${block}: ${contentOf(frame, cells, block)}`;
}

/**
 * @param {Frame} frame
 * @param {import("./kvcells.js").Cells} cells
 * @param {number} block
 */
function contentOf(frame, cells, block) {
  const request = `request ${cells.owner[block] + 1}`;
  const logical = `logical block ${cells.logical[block]}`;
  const tokens = `${cells.tokens[block]} of ${frame.setting.blockSize} tokens`;
  switch (cells.kind[block]) {
    case Cell.OWN:
      return `${request}, ${logical}, ${tokens}`;
    case Cell.HELD:
      return `${request}, done but held until its batch ends, ${logical}, ${tokens}`;
    case Cell.SHARED:
      return `shared by requests ${listOf(usersOf(frame, block))}, ${logical}`;
    case Cell.KEPT:
      return `kept by free slot ${-cells.users[block]} from ${request}, ${logical}, ${tokens}`;
    case Cell.RESERVED:
      return `reserved for ${request}, unused`;
    case Cell.CACHED:
      return `cached content, free to take${placeOf(frame, block)}`;
    default:
      return `free${placeOf(frame, block)}`;
  }
}

/**
 * @param {Frame} frame
 * @param {number} block
 */
function placeOf(frame, block) {
  let place = 0;
  for (const free of frame.queue) {
    place++;
    if (free === block) return place === 1 ? ", the next to be taken" : `, number ${count(place)} in the free queue`;
  }
  return "";
}

/** @param {number[]} requests */
function listOf(requests) {
  const names = requests.slice(0, MOST_NAMES).map((request) => request + 1);
  const more = requests.length - names.length;
  return names.join(", ") + (more ? ` and ${more} more` : "");
}

/**
 * Numbers of the map at a step.
 * @param {Frame} frame
 */
export function captionOf(frame) {
  const { usable, blockSize, region } = frame.setting;
  const owners = ownersOf(frame);
  let shared = 0;
  for (const users of owners.values()) shared += Number(users > 1);
  const kept = [...frame.kept.values()].reduce((sum, { blocks }) => sum + blocks.length, 0);
  const parts = [`${count(usable - frame.free)} of ${count(usable)} blocks in use`];
  if (shared) parts.push(`${count(shared)} of them shared`);
  if (kept) parts.push(`${count(kept)} of them kept by free slots`);
  if (frame.cached) parts.push(`${count(frame.cached)} more cached, free to take`);
  const waste = region ? regionWaste(frame) : blockWaste(frame, owners.size);
  return `${parts.join(", ")} · ${blockSize} tokens each. ${waste}`.trim();
}

/** @param {Frame} frame */
function ownersOf(frame) {
  /** @type {Map<number, number>} */
  const owners = new Map();
  for (const seat of frame.seats.values())
    for (const block of seat.blocks) owners.set(block, (owners.get(block) ?? 0) + 1);
  return owners;
}

/**
 * Paged KV wastes in the last block of a table only.
 * @param {Frame} frame
 * @param {number} blocks in tables
 */
function blockWaste(frame, blocks) {
  const { blockSize } = frame.setting;
  const rows = [...frame.seats.values()].filter((seat) => seat.blocks.length);
  if (!rows.length) return "";
  const unused = rows.reduce((sum, seat) => sum + seat.blocks.length * blockSize - tokensOf(seat), 0);
  return `Reserved but unused: ${count(unused)} tokens (${inPercent(unused, blocks * blockSize)}), all in last blocks.`;
}

/**
 * Both kinds of fragmentation, and how many more requests like those that run blocks would hold.
 * @param {Frame} frame
 */
function regionWaste(frame) {
  const { usable, blockSize, region } = frame.setting;
  const rows = [...frame.seats.values()];
  const reserved = rows.length * region * blockSize;
  const unused = reserved - rows.reduce((sum, seat) => sum + tokensOf(seat), 0);
  const texts = [];
  if (rows.length)
    texts.push(
      `Internal fragmentation: ${count(unused)} of ${count(reserved)} reserved tokens unused ` +
        `(${inPercent(unused, reserved)}).`,
    );
  texts.push(`External: ${count(frame.free % region)} free blocks in which no reservation of ${count(region)} fits.`);
  const blocks = rows.reduce((sum, seat) => sum + Math.ceil(tokensOf(seat) / blockSize), 0);
  if (blocks) {
    const more = Math.floor((usable * rows.length) / blocks) - rows.length;
    const mean = tenths(blocks, rows.length);
    texts.push(`Paged, with the ${mean} blocks that each uses on average now, ${count(more)} more requests would fit.`);
  }
  return texts.join(" ");
}

/**
 * The block table of a request.
 * @param {Frame} frame
 * @param {number} request
 */
export function tableOf(frame, request) {
  const seat = frame.lives.get(request);
  if (!seat?.blocks.length) return `Request ${request + 1} has no blocks.`;
  const owners = ownersOf(frame);
  return `Block table of request ${request + 1}, logical to physical: ${runsOf(seat.blocks, owners).join(", ")}.`;
}

/**
 * Runs of physical blocks, rising or falling by one, with equally many users.
 * @param {number[]} table
 * @param {Map<number, number>} owners
 */
function runsOf(table, owners) {
  const texts = [];
  for (let end = 0, start = 0; end < table.length; start = end) {
    const users = owners.get(table[start]) ?? 1;
    const way = table[start + 1] - table[start];
    end = start + 1;
    while (Math.abs(way) === 1 && table[end] - table[end - 1] === way && owners.get(table[end]) === users) end++;
    const text = `${span(start, end - 1)} to ${span(table[start], table[end - 1])}`;
    texts.push(users > 1 ? `${text} shared by ${users}` : text);
  }
  return texts;
}

/**
 * @param {number} first
 * @param {number} last
 */
const span = (first, last) => (first === last ? `${first}` : `${first}–${last}`);

/** @param {number} n */
const count = (n) => n.toLocaleString("en");

/**
 * @param {number} part
 * @param {number} whole
 */
const inPercent = (part, whole) => `${tenths(100 * part, whole)}\u00a0%`;

/**
 * Quotient with one digit, rounded half up.
 * @param {number} part
 * @param {number} whole
 */
function tenths(part, whole) {
  const rounded = whole ? Math.floor((20 * part + whole) / (2 * whole)) : 0;
  return `${count(Math.floor(rounded / 10))}.${rounded % 10}`;
}
