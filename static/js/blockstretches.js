/**
 * Contiguous KV of a run at a step: the memory as one bar, a stretch for each request, used as far as its tokens, and at
 * the end what is too small for a stretch.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./blocksketch.js").Stretch} Stretch
 */
import { bandOf, draw, optionsIn, write } from "./blockcell.js";
import { MOST, nameOf, stretchesOf } from "./blocksketch.js";
import { element } from "./dom.js";

/**
 * @typedef {object} Piece of the bar
 * @property {string} kind
 * @property {number} blocks
 * @property {string} id
 * @property {Stretch | null} stretch
 * @property {string} name
 */

export class StretchView {
  constructor() {
    this.bar = element("div", { class: "bt-bar", role: "listbox" });
    this.root = element("div", { class: "bt-contiguous" }, this.bar);
  }

  /** @param {string} label of the run */
  title(label) {
    this.bar.setAttribute("aria-label", `Memory in one piece for each request, ${label}`);
  }

  /**
   * @param {Frame} frame
   * @param {Set<number>} taken
   */
  paint(frame, taken) {
    const pieces = piecesOf(frame);
    const options = optionsIn(this.bar, pieces.length, "bt-stretch");
    for (const [i, piece] of pieces.entries()) paintPiece(options[i], piece, taken);
  }

  /**
   * @param {number} block first of a stretch
   */
  point(block) {
    for (const option of this.bar.children)
      option.setAttribute("aria-selected", String(block > 0 && option.getAttribute("data-block") === String(block)));
  }
}

/**
 * @param {Frame} frame
 * @returns {Piece[]}
 */
function piecesOf(frame) {
  const { usable, region, blockSize } = frame.setting;
  const all = stretchesOf(frame);
  const drawn = all.slice(0, MOST.stretches).map((stretch) => pieceOf(frame, stretch));
  const out = all.slice(MOST.stretches);
  if (out.length) drawn.push(restOf(out, region));
  const left = usable % region;
  if (!left) return drawn;
  const tokens = count(left * blockSize);
  const name = `${tokens} tokens left over: too small for a stretch of ${count(region * blockSize)}`;
  return [...drawn, { kind: "left", blocks: left, id: `${tokens}: too small`, stretch: null, name }];
}

/**
 * @param {Frame} frame
 * @param {Stretch} stretch
 * @returns {Piece}
 */
function pieceOf(frame, stretch) {
  const { seat, fill, tokens, first, last } = stretch;
  const blocks = last - first + 1;
  const place = first === last ? `block ${first}` : `blocks ${first} to ${last}`;
  if (!seat || !fill)
    return {
      kind: "free",
      blocks,
      id: `${count(tokens)}: free`,
      stretch,
      name: `Free stretch, ${place}: ${tokens} tokens`,
    };
  const used = fill.prompt + fill.output;
  const name = nameOf(frame.run, seat.request);
  const text = `${name}: ${place} reserved, ${used} of ${tokens} tokens used, ${tokens - used} reserved but unused`;
  const kind = seat.phase === "held" ? "held" : "own";
  return { kind, blocks, id: `${name}: ${count(used)} of ${count(tokens)}`, stretch, name: text };
}

/**
 * Stretches that are not drawn one by one.
 * @param {Stretch[]} stretches
 * @param {number} region
 * @returns {Piece}
 */
function restOf(stretches, region) {
  const busy = stretches.filter(({ seat }) => seat).length;
  const name = `${stretches.length} more stretches, ${busy} of them reserved, not drawn`;
  return { kind: "gap", blocks: region * stretches.length, id: `+${stretches.length}`, stretch: null, name };
}

/**
 * @param {HTMLElement} option
 * @param {Piece} piece
 * @param {Set<number>} taken
 */
function paintPiece(option, { kind, blocks, id, stretch, name }, taken) {
  const request = stretch?.seat?.request ?? null;
  write(option, { name, request, requests: request === null ? [] : [request] }, stretch?.first ?? 0);
  option.dataset.kind = kind;
  option.style.setProperty("--blocks", String(blocks));
  option.toggleAttribute("data-taken", stretch !== null && taken.has(stretch.first));
  const bands = stretch?.fill ? [bandOf(stretch.fill, stretch.tokens)] : [];
  draw(option, bands, id);
}

/** @param {number} n */
const count = (n) => n.toLocaleString("en");
