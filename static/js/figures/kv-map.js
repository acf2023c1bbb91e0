/**
 * The block map: every block of KV memory of the run in focus in the colour of its owner, as in memory or as the free queue
 * will hand them out; the chosen request's table as a thread through its cells.
 *
 * @typedef {import("../frame.js").Frame} Frame
 * @typedef {import("../stage.js").Stage} Stage
 */
import { Cell, Cells } from "../kvcells.js";
import { boxOf, cellAt, drawCells, encode, layoutOf } from "../kvdraw.js";
import { drawRing, drawThread, piecesOf } from "../kvthread.js";
import { captionOf, nameOfBlock, tableOf } from "../kvwords.js";
import { penOf } from "../timeline.js";

const WORDS_MS = 250;
const HINT = "Point at a block, or go to it with Tab and the arrow keys.";

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export const mount = (card, stage) => new KvMap(card, stage);

class KvMap {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.canvas = /** @type {HTMLCanvasElement} */ (card.querySelector(".kv-blocks"));
    this.overlay = /** @type {HTMLCanvasElement} */ (card.querySelector(".kv-thread"));
    this.label = /** @type {HTMLElement} */ (card.querySelector(".kv-cell"));
    this.twin = /** @type {HTMLElement} */ (card.querySelector("#kv-twin"));
    this.scale = /** @type {HTMLElement} */ (card.querySelector(".kv-scale"));
    this.legend = /** @type {HTMLElement} */ (card.querySelector(".kv-legend"));
    /** State of the step that is drawn. @type {Frame | null} */
    this.state = null;
    this.cells = new Cells(0);
    this.layout = layoutOf(1, 1, 1, 1);
    this.codes = new Int32Array(0);
    this.drawn = new Int32Array(0);
    this.shown = new Int32Array(0);
    /** Step and run that are drawn. */
    this.mark = "";
    this.isOrdered = false;
    this.isDimmed = false;
    /** Whether nothing is on the overlay. */
    this.isBare = true;
    /** Cell that is pointed at, -1: none. */
    this.cell = -1;
    this.saidAt = 0;
    /** Request that was lit when the pointer came. @type {number | null} */
    this.litBefore = null;
    this.button = /** @type {HTMLButtonElement} */ (card.querySelector(".kv-bar button"));
    this.watch(this.button);
  }

  /** @param {HTMLButtonElement} button */
  watch(button) {
    button.addEventListener("click", () => {
      this.isOrdered = !this.isOrdered;
      button.setAttribute("aria-pressed", String(this.isOrdered));
      this.point(-1);
      this.draw();
    });
    const { canvas } = this;
    canvas.addEventListener("pointerenter", () => {
      this.litBefore = this.stage.lit;
    });
    for (const type of /** @type {const} */ (["pointerdown", "pointermove"]))
      canvas.addEventListener(type, (event) => this.point(cellAt(this.layout, event.offsetX, event.offsetY)));
    canvas.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "touch" && document.activeElement !== canvas) this.leave();
    });
    canvas.addEventListener("focus", () => {
      if (this.cell < 0 && canvas.matches(":focus-visible")) this.point(0);
    });
    canvas.addEventListener("blur", () => this.leave());
    canvas.addEventListener("keydown", (event) => this.press(event));
  }

  show() {
    if (this.isReady) this.mark = "";
  }

  /** Whether the run in focus is here with its blocks; until then the last map stays. */
  get isReady() {
    return Boolean(this.stage.run?.hasBlocks);
  }

  draw() {
    const { run } = this.stage;
    if (!run || !this.isReady) return;
    const usable = run.facts.num_gpu_blocks - 1;
    if (this.cells.usable !== usable) this.cells = new Cells(usable);
    const { width, height } = penOf(this.canvas);
    if (!width) return;
    this.layout = layoutOf(usable, width, height, devicePixelRatio || 1);
    for (const name of /** @type {const} */ (["codes", "drawn", "shown"]))
      this[name] = new Int32Array(this.layout.count);
    this.drawn.fill(-1);
    this.canvas.setAttribute("aria-valuemax", String(usable));
    const isContiguous = run.facts.reserved_blocks > 0;
    this.legend.dataset.kv = isContiguous ? "contiguous" : "paged";
    this.button.hidden = isContiguous;
    this.isOrdered &&= !isContiguous;
    const { per } = this.layout;
    this.scale.textContent = per > 1 ? `a cell is ${per} blocks and shows the first of them in use` : "";
    this.mark = "";
    this.move();
  }

  move() {
    const { run, state } = this.stage;
    if (!run || !this.isReady) return;
    if (run.facts.num_gpu_blocks - 1 !== this.cells.usable || !this.drawn.length) return this.draw();
    const mark = `${state.run} ${this.stage.step()}`;
    if (mark === this.mark) return;
    this.mark = mark;
    this.state = this.stage.frame();
    if (this.state) this.cells.read(this.state);
    else this.cells.clear();
    this.choose();
    this.paint();
  }

  /** Which block each cell shows. */
  choose() {
    const { per, count } = this.layout;
    const { kind, usable } = this.cells;
    this.shown.fill(0);
    if (this.isOrdered) return this.chooseQueue();
    for (let cell = 0; cell < count; cell++) {
      let block = 1 + cell * per;
      const end = Math.min(block + per - 1, usable);
      while (block < end && kind[block] <= Cell.CACHED) block++;
      this.shown[cell] = kind[block] > Cell.CACHED ? block : 1 + cell * per;
    }
  }

  /** The free queue, the next to be taken first. */
  chooseQueue() {
    const { per } = this.layout;
    let place = 0;
    for (const block of this.state?.queue ?? []) {
      if (place % per === 0) this.shown[place / per] = block;
      place++;
    }
  }

  /** Draw what is different, and its words from time to time. */
  paint() {
    const { layout, codes, drawn, stage } = this;
    const lit = this.litBlocks();
    const blockSize = this.state?.setting.blockSize ?? 1;
    encode(codes, this.cells, layout, this.shown, { blockSize, lit });
    const isDimmed = lit !== null;
    if (isDimmed !== this.isDimmed) drawn.fill(-1);
    this.isDimmed = isDimmed;
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    drawCells(pen, layout, codes, drawn, stage.palette, isDimmed);
    this.drawOverlay();
    if (!stage.playhead.isPlaying || performance.now() - this.saidAt > WORDS_MS) this.say();
  }

  /** Marks on the blocks of the request that is lit; null if there are none. */
  litBlocks() {
    const blocks = this.litTable();
    if (!blocks.length) return null;
    const lit = new Uint8Array(this.cells.usable + 1);
    for (const block of blocks) lit[block] = 1;
    return lit;
  }

  /** @returns {number[]} */
  litTable() {
    const { lit } = this.stage;
    return (lit === null ? null : this.state?.lives.get(lit)?.blocks) ?? [];
  }

  light() {
    if (this.drawn.length) this.paint();
  }

  /** The table has been made anew. */
  frame() {
    this.drawOverlay();
  }

  /** Thread of the lit request, and a ring around the cell that is pointed at. */
  drawOverlay() {
    const table = this.isOrdered ? [] : this.litTable();
    const isEmpty = !table.length && this.cell < 0;
    if (isEmpty && this.isBare) return;
    this.isBare = isEmpty;
    const { pen } = penOf(this.overlay);
    const { ink, card } = this.stage.palette.token;
    const field = this.canvas.getBoundingClientRect();
    const origin = this.overlay.getBoundingClientRect();
    const shift = { x: field.left - origin.left, y: field.top - origin.top };
    pen.translate(shift.x, shift.y);
    const cells = [...new Set(table.map((block) => Math.floor((block - 1) / this.layout.per)))];
    const pieces = piecesOf(cells, this.layout);
    if (pieces.length) drawThread(pen, pieces, this.leader(pieces[0].from, field), { ink, card });
    if (this.cell >= 0) drawRing(pen, boxOf(this.layout, this.cell), { ink, card });
  }

  /**
   * Way along the edge of the card from the request's row in the table to its first cell; none if the row is not in sight.
   * @param {import("../kvthread.js").Point} first
   * @param {DOMRect} field
   */
  leader(first, field) {
    const scroll = /** @type {HTMLElement} */ (this.card.querySelector(".table-scroll")).getBoundingClientRect();
    const row = this.card.querySelector(`[data-request="${this.stage.lit}"]`)?.closest("tr")?.getBoundingClientRect();
    if (!row || row.top < scroll.top || row.bottom > scroll.bottom) return [];
    const y = row.top + row.height / 2 - field.top;
    return [
      { x: -2, y },
      { x: -8, y },
      { x: -8, y: first.y },
    ];
  }

  /**
   * Point at a cell: its name is said, and the request it belongs to is lit.
   * @param {number} wanted -1: none
   */
  point(wanted) {
    const cell = this.shown[wanted] ? wanted : -1;
    if (cell === this.cell) return;
    this.cell = cell;
    const block = this.block;
    const owner = block && this.cells.kind[block] !== Cell.SHARED ? this.cells.owner[block] : -1;
    const { dataset } = this.canvas;
    if (owner >= 0) dataset.request = String(owner);
    else delete dataset.request;
    const before = this.stage.lit;
    this.stage.light(owner >= 0 ? owner : this.litBefore);
    this.name();
    if (this.stage.lit === before) this.drawOverlay();
  }

  leave() {
    this.point(-1);
    this.litBefore = null;
  }

  /** Block that is pointed at, 0: none. */
  get block() {
    return this.cell >= 0 && this.state ? this.shown[this.cell] : 0;
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const { columns, count } = this.layout;
    /** @type {Record<string, number>} */
    const ways = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -count, End: count };
    if (event.key === "Enter") return this.canvas.click();
    const way = ways[event.key];
    if (way === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const last = this.isOrdered ? Math.max(0, this.shown.indexOf(0) - 1) : count - 1;
    this.point(Math.max(0, Math.min(last, this.cell + way)));
  }

  /** Say what is pointed at. */
  name() {
    const { block, state: frame } = this;
    const text = block && frame ? nameOfBlock(frame, this.cells, block) : "";
    this.label.textContent = text ? text[0].toUpperCase() + text.slice(1) : HINT;
    this.canvas.setAttribute("aria-valuenow", String(block || 1));
    this.canvas.setAttribute("aria-valuetext", text || "no block");
  }

  /** Numbers of the map, and the chosen request's table for those who do not see it. */
  say() {
    this.saidAt = performance.now();
    this.name();
    const { state: frame } = this;
    if (!frame) return;
    const caption = captionOf(frame);
    const { lit } = this.stage;
    /** @type {HTMLElement} */ (this.card.querySelector("#kv-caption")).textContent = caption;
    const order = this.isOrdered ? "Free blocks in the order in which they will be taken. " : "";
    this.twin.textContent = order + caption + (lit === null ? "" : ` ${tableOf(frame, lit)}`);
  }
}
