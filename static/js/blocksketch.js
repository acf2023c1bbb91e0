/**
 * What the block tables draw of a frame, as plain rows: tables, physical blocks, and the stretches of contiguous KV.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./frame.js").Seat} Seat
 * @typedef {{request: number, prompt: number, output: number}} Fill tokens of a request in a block
 * @typedef {object} Spot a block as a table or the pool has it
 * @property {number} block physical; 0: blocks between are left out
 * @property {number} logical -1: in the pool
 * @property {number} kind
 * @property {Fill[]} fills of each request that holds it
 * @property {string} id what is written below it
 * @property {string} mark what is written on it
 * @property {boolean} isTaken in this step
 * @typedef {{seat: Seat, spots: Spot[]}} Table
 * @typedef {{seat: Seat | null, first: number, last: number, tokens: number, fill: Fill | null}} Stretch
 */
import { Cell, tokensOf } from "./kvcells.js";

/** What is drawn at most. */
export const MOST = Object.freeze({ requests: 8, blocks: 64, logical: 12, stretches: 16 });

const LETTERS = 26;
const FIRST_LETTER = 65;
const LAST_OF_LONG = 2;
const MOST_SIGNS = 5;

/**
 * A, B, C for the requests of a small run, else their numbers.
 * @param {import("./run.js").Run} run
 * @param {number} request
 */
export const nameOf = (run, request) =>
  run.requests.prompt.length <= LETTERS ? String.fromCharCode(FIRST_LETTER + request) : String(request + 1);

/**
 * A text that numbers requests, with the names that the block tables give them.
 * @param {import("./run.js").Run} run
 * @param {string} text
 */
export function named(run, text) {
  if (run.requests.prompt.length > LETTERS) return text;
  const rename = (/** @type {string} */ numbers) =>
    numbers.replace(/\d+/g, (number) => nameOf(run, Number(number) - 1));
  return text.replace(/\brequests? (\d+(?:, \d+)*)/g, (_, numbers) => rename(numbers));
}

/**
 * Tokens of a request in a logical block.
 * @param {Seat} seat
 * @param {number} logical
 * @param {number} blockSize
 * @returns {Fill}
 */
export function fillOf(seat, logical, blockSize) {
  const before = logical * blockSize;
  const tokens = Math.min(blockSize, Math.max(0, tokensOf(seat) - before));
  const prompt = Math.min(tokens, Math.max(0, seat.prompt - before));
  return { request: seat.request, prompt, output: tokens - prompt };
}

/**
 * Block tables in order of admission.
 * @param {Frame} frame
 * @param {Set<number>} taken blocks that the step took
 * @returns {Table[]}
 */
export const tablesOf = (frame, taken) =>
  [...frame.seats.values()].slice(0, MOST.requests).map((seat) => ({ seat, spots: spotsOf(frame, seat, taken) }));

/**
 * @param {Frame} frame
 * @param {Seat} seat
 * @param {Set<number>} taken
 * @returns {Spot[]}
 */
function spotsOf({ setting, users }, seat, taken) {
  return placesOf(seat.blocks.length).map((logical) => {
    const block = seat.blocks[logical] ?? 0;
    const fills = block ? [fillOf(seat, logical, setting.blockSize)] : [];
    const kind = users[block] > 1 ? Cell.SHARED : seat.phase === "held" ? Cell.HELD : Cell.OWN;
    const id = block ? wayOf(logical, block) : `+${seat.blocks.length - MOST.logical + 1}`;
    return { block, logical, kind, fills, id, mark: "", isTaken: taken.has(block) };
  });
}

/**
 * An entry of a block table, as far as there is room.
 * @param {number} logical
 * @param {number} block
 */
function wayOf(logical, block) {
  const whole = `${logical}→${block}`;
  return whole.length > MOST_SIGNS ? `→${block}` : whole;
}

/**
 * Logical blocks that are drawn of a table; -1 stands for those between.
 * @param {number} count
 */
function placesOf(count) {
  const all = Array.from({ length: count }, (_, logical) => logical);
  if (count <= MOST.logical) return all;
  return [...all.slice(0, MOST.logical - 1 - LAST_OF_LONG), -1, ...all.slice(-LAST_OF_LONG)];
}

/**
 * Physical blocks by number; of a large pool those in use, those with content and the next to be taken.
 * @param {Frame} frame
 * @param {import("./kvcells.js").Cells} cells
 * @param {Set<number>} taken
 * @returns {Spot[]}
 */
export function poolOf(frame, cells, taken) {
  const holders = holdersOf(frame);
  const marks = marksOf(frame);
  return drawnOf(frame, [...holders.keys()]).map((block) => {
    const held = holders.get(block) ?? [];
    const fills = held.map(({ seat, logical }) => fillOf(seat, logical, frame.setting.blockSize));
    const id = held.length > 1 ? `${block} ×${held.length}` : String(block);
    return {
      block,
      logical: -1,
      kind: cells.kind[block],
      fills,
      id,
      mark: marks.get(block) ?? "",
      isTaken: taken.has(block),
    };
  });
}

/** @param {Frame} frame */
function holdersOf(frame) {
  /** @type {Map<number, {seat: Seat, logical: number}[]>} */
  const holders = new Map();
  for (const seat of frame.seats.values())
    seat.blocks.forEach((block, logical) => {
      const held = holders.get(block);
      if (held) held.push({ seat, logical });
      else holders.set(block, [{ seat, logical }]);
    });
  return holders;
}

/**
 * The next block to be taken, and the order in which cached ones will go.
 * @param {Frame} frame
 */
function marksOf({ queue, pool }) {
  /** @type {Map<number, string>} */
  const marks = new Map();
  let cached = 0;
  let isFirst = true;
  for (const block of queue) {
    if (pool.isCached[block]) marks.set(block, ordinal(++cached));
    if (isFirst) marks.set(block, "next");
    isFirst = false;
  }
  return marks;
}

/**
 * @param {Frame} frame
 * @param {number[]} held
 */
function drawnOf(frame, held) {
  const { usable } = frame.setting;
  if (usable <= MOST.blocks) return Array.from({ length: usable }, (_, i) => i + 1);
  const drawn = new Set(held.slice(0, MOST.blocks));
  const { isCached } = frame.pool;
  const free = [...frame.queue];
  for (const block of [...free.slice(0, 1), ...free.filter((each) => isCached[each]), ...free])
    if (drawn.size < MOST.blocks) drawn.add(block);
  return [...drawn].sort((x, y) => x - y);
}

/** @param {number} n */
export function ordinal(n) {
  const isTeen = n % 100 > 10 && n % 100 < 14;
  return `${n}${isTeen ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;
}

/**
 * Contiguous KV: a stretch a slot, whoever sits there. What is left over after them is not among them.
 * @param {Frame} frame
 * @returns {Stretch[]}
 */
export function stretchesOf({ setting, seats }) {
  const { region, usable, blockSize } = setting;
  const fitting = Math.floor(usable / region);
  const tokens = region * blockSize;
  return Array.from({ length: fitting }, (_, slot) => {
    const seat = seats.get(slot) ?? null;
    const fill = seat && fillOf(seat, 0, tokens);
    return { seat, first: 1 + slot * region, last: (slot + 1) * region, tokens, fill };
  });
}
