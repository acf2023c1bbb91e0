/**
 * The block tables in words: what happened to the blocks in a step, who holds which together, who waits for some.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./frame.js").Seat} Seat
 * @typedef {import("./blocksteps.js").Deed} Deed
 */
import { named, nameOf } from "./blocksketch.js";
import { Kind } from "./kinds.js";
import { tokensOf } from "./kvcells.js";
import { reasonsOf } from "./waits.js";

const MOST_NAMED = 4;

/**
 * One line about a step.
 * @param {Frame} frame
 * @param {Deed[]} deeds
 */
export function wordsOf(frame, deeds) {
  const changes = [...endings(frame, deeds), ...preemptions(frame, deeds), ...joinings(frame, deeds)];
  changes.push(...takings(frame, deeds));
  if (!changes.length) changes.push(...fillings(frame));
  return [...changes, ...sharings(frame), ...waitings(frame)].join(" ");
}

/**
 * @param {Frame} frame
 * @param {Deed[]} deeds
 */
function endings(frame, deeds) {
  const { isStatic, perSlot, region } = frame.setting;
  const ended = deeds.filter(({ kind }) => kind === Kind.FINISH || kind === Kind.RELEASE);
  const gone = ended.filter(({ request }) => !frame.lives.has(request));
  const held = isStatic ? ended.filter(({ kind, request }) => kind === Kind.FINISH && frame.lives.has(request)) : [];
  const texts = [];
  if (held.length) texts.push(`${namesOf(frame, held)} ended, but the batch keeps the slot.`);
  if (!gone.length) return texts;
  const its = gone.length > 1 ? "their" : "its";
  const what = region ? `${its} stretch${gone.length > 1 ? "es" : ""}` : `${its} blocks`;
  const fate = !region && gone.some(({ cached }) => cached) ? "; the full ones keep their content" : "";
  const text = perSlot ? `ended, and ${its} slot keeps what it held` : `ended and let go of ${what}${fate}`;
  return [...texts, `${namesOf(frame, gone)} ${text}.`];
}

/**
 * @param {Frame} frame
 * @param {Deed[]} deeds
 */
function preemptions(frame, deeds) {
  const lost = deeds.filter(({ kind }) => kind === Kind.PREEMPT);
  if (!lost.length) return [];
  const [its, wait] = lost.length > 1 ? ["their", "wait"] : ["its", "waits"];
  return [`No block was free, so ${namesOf(frame, lost)} gave all ${its} blocks back and ${wait} again (preempted).`];
}

/**
 * @param {Frame} frame
 * @param {Deed[]} deeds
 */
function joinings(frame, deeds) {
  const joined = deeds.filter(({ kind }) => kind === Kind.ADMIT || kind === Kind.RESUME);
  if (joined.length > MOST_NAMED) return [`${joined.length} requests joined and took blocks.`];
  return joined.map((deed) => {
    const own = deeds.filter(({ request }) => request === deed.request);
    const parts = own.map((each) => gains(frame, each)).filter(Boolean);
    const verb = deed.kind === Kind.ADMIT ? "joined" : "came back";
    return `${nameOf(frame.run, deed.request)} ${listOf([verb, ...parts])}.`;
  });
}

/**
 * What one that joins gets.
 * @param {Frame} frame
 * @param {Deed} deed
 */
function gains(frame, { kind, request, blocks, evicted }) {
  if (kind === Kind.SHARE)
    return `found its first ${tokensText(blocks.length * frame.setting.blockSize)} in ${idsText(blocks)}`;
  if (kind === Kind.TAKE) return `took ${idsText(blocks)}${lossText(blocks.length, evicted)}`;
  if (kind !== Kind.RESERVE) return "";
  const seat = frame.lives.get(request);
  const room = tokensText(blocks.length * frame.setting.blockSize);
  return `reserved ${idsText(blocks)}: room for ${room}, of which it uses ${seat ? count(tokensOf(seat)) : 0}`;
}

/**
 * Blocks taken by those that were there already.
 * @param {Frame} frame
 * @param {Deed[]} deeds
 */
function takings(frame, deeds) {
  const joined = new Set(deeds.filter(({ kind }) => kind === Kind.ADMIT || kind === Kind.RESUME).map(requestOf));
  const takes = deeds.filter(({ kind, request }) => kind === Kind.TAKE && !joined.has(request));
  if (!takes.length) return [];
  const blocks = takes.flatMap((deed) => deed.blocks);
  if (takes.length > MOST_NAMED) return [`${takes.length} requests took ${count(blocks.length)} blocks.`];
  const texts = takes.map((deed) => {
    const name = nameOf(frame.run, deed.request);
    return `${name} took ${idsText(deed.blocks)}${lossText(deed.blocks.length, deed.evicted)}`;
  });
  return [`${listOf(texts)}: ${takes.length > 1 ? "their last blocks were" : "its last block was"} full.`];
}

/** @param {Deed} deed */
const requestOf = (deed) => deed.request;

/**
 * Nothing changed hands: how far the last blocks are filled.
 * @param {Frame} frame
 */
function fillings(frame) {
  const { blockSize, region } = frame.setting;
  const rows = [...frame.seats.values()].filter((seat) => seat.scheduled && seat.blocks.length);
  if (!rows.length) return ["No token was written."];
  const texts = rows.slice(0, MOST_NAMED).map((seat) => {
    const tokens = tokensOf(seat) - (seat.blocks.length - 1) * blockSize;
    return `${nameOf(frame.run, seat.request)} ${count(tokens)} of ${count(blockSize)}`;
  });
  const more = rows.length > texts.length ? `; ${rows.length - texts.length} more likewise` : "";
  if (region) return ["Each stretch fills token by token."];
  return [`No block changed hands; last blocks fill: ${texts.join(", ")}${more}.`];
}

/**
 * Who holds which blocks together.
 * @param {Frame} frame
 */
function sharings(frame) {
  if (frame.setting.region) return [];
  const groups = [...groupsOf(frame)].slice(0, MOST_NAMED);
  return groups.map(([names, blocks]) => `${names} hold ${idsText(blocks)} together.`);
}

/**
 * Shared blocks by the names of their holders.
 * @param {Frame} frame
 */
function groupsOf(frame) {
  /** @type {Map<number, number[]>} */
  const holders = new Map();
  for (const seat of frame.seats.values())
    for (const block of seat.blocks)
      if (frame.users[block] > 1) holders.set(block, [...(holders.get(block) ?? []), seat.request]);
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const [block, requests] of holders) {
    if (requests.length < 2) continue;
    const names = namesOf(
      frame,
      requests.map((request) => ({ request })),
    );
    groups.set(names, [...(groups.get(names) ?? []), block]);
  }
  return groups;
}

/** @param {Frame} frame */
function waitings(frame) {
  const [first] = frame.waiting;
  if (first === undefined || frame.preempted.includes(first)) return [];
  const name = nameOf(frame.run, first);
  const head = named(frame.run, reasonsOf(frame).head);
  return [`${name} waits: ${head.replace(new RegExp(`^${name}(?= )`), "it")}.`];
}

/**
 * @param {Frame} frame
 * @param {{request: number}[]} deeds
 */
function namesOf({ run }, deeds) {
  const names = [...new Set(deeds.map(({ request }) => nameOf(run, request)))];
  const more = names.length - MOST_NAMED;
  return listOf(more > 0 ? [...names.slice(0, MOST_NAMED), `${more} more`] : names);
}

/** @param {string[]} texts */
export const listOf = (texts) =>
  texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts[texts.length - 1]}`;

/**
 * Blocks by number, those in a row as a span.
 * @param {number[]} blocks
 */
export function idsText(blocks) {
  /** @type {string[]} */
  const spans = [];
  for (let end = 0, start = 0; end < blocks.length; start = end) {
    end = start + 1;
    while (end < blocks.length && blocks[end] === blocks[end - 1] + 1) end++;
    const isPair = end - start === 2;
    if (isPair) spans.push(String(blocks[start]), String(blocks[end - 1]));
    else spans.push(end - start === 1 ? String(blocks[start]) : `${blocks[start]}–${blocks[end - 1]}`);
  }
  const more = spans.length - 2 * MOST_NAMED;
  const shown = more > 0 ? [...spans.slice(0, 2 * MOST_NAMED), "others"] : spans;
  return `block${blocks.length > 1 ? "s" : ""} ${listOf(shown)}`;
}

/**
 * @param {number} blocks
 * @param {number} evicted
 */
function lossText(blocks, evicted) {
  if (!evicted) return "";
  return blocks === evicted ? ", whose cached content is lost" : ` (cached content of ${evicted} is lost)`;
}

/** @param {number} tokens */
const tokensText = (tokens) => `${count(tokens)} token${tokens === 1 ? "" : "s"}`;

/** @param {number} n */
const count = (n) => n.toLocaleString("en");
