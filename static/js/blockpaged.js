/**
 * Paged KV of a run at a step: block tables at the left, the pool at the right, a line from a block that is pointed at to
 * where it is.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./blocksketch.js").Spot} Spot
 * @typedef {import("./blocksketch.js").Table} Table
 */
import { optionsIn, paintSpot } from "./blockcell.js";
import { drawLinks } from "./blocklink.js";
import { MOST, named, nameOf, poolOf, tablesOf } from "./blocksketch.js";
import { element, write } from "./dom.js";
import { Cell, Cells } from "./kvcells.js";
import { nameOfBlock } from "./kvwords.js";
import { seriesOf } from "./palette.js";

const SVG = "http://www.w3.org/2000/svg";
const MOST_TICKS = 16;
/** About as wide as a cell is [px]; it is so many whole pixels a token. */
const CELL = 36;

export class PagedView {
  constructor() {
    this.tables = element("div", { class: "bt-tables", role: "listbox" });
    this.pool = element("div", { class: "bt-pool", role: "listbox" });
    this.more = element("p", { class: "bt-note" });
    this.rest = element("p", { class: "bt-note" });
    const left = element("div", {}, element("p", { class: "bt-note" }, "Block tables: logical→physical"), this.tables);
    const right = element("div", {}, element("p", { class: "bt-note" }, "Blocks of VRAM"), this.pool);
    left.append(this.more);
    right.append(this.rest);
    this.links = /** @type {SVGSVGElement} */ (document.createElementNS(SVG, "svg"));
    this.links.setAttribute("class", "bt-links");
    this.links.setAttribute("aria-hidden", "true");
    this.root = element("div", { class: "bt-paged" }, left, right, this.links);
    this.cells = new Cells(0);
  }

  /**
   * @param {string} label of the run
   * @param {number} blockSize
   */
  title(label, blockSize) {
    this.tables.setAttribute("aria-label", `Block tables, ${label}`);
    this.pool.setAttribute("aria-label", `Blocks of VRAM, ${label}`);
    const places = blockSize > MOST_TICKS ? 1 : blockSize;
    this.root.style.setProperty("--places", String(places));
    this.root.style.setProperty("--cell", `${places * Math.max(1, Math.floor(CELL / places))}px`);
  }

  /**
   * @param {Frame} frame
   * @param {Set<number>} taken
   */
  paint(frame, taken) {
    const { usable } = frame.setting;
    if (this.cells.usable !== usable) this.cells = new Cells(usable);
    this.cells.read(frame);
    this.paintTables(frame, tablesOf(frame, taken));
    const pool = poolOf(frame, this.cells, taken);
    const options = optionsIn(this.pool, pool.length, "bt-cell");
    const { blockSize } = frame.setting;
    for (const [i, spot] of pool.entries()) paintSpot(options[i], spot, blockSize, this.told(frame, spot));
    const out = usable - pool.length;
    write(this.rest, out ? `and ${count(out)} more blocks, not drawn` : "");
  }

  /**
   * @param {Frame} frame
   * @param {Table[]} tables
   */
  paintTables(frame, tables) {
    const rows = rowsIn(this.tables, tables.length);
    for (const [i, { seat, spots }] of tables.entries()) {
      const name = nameOf(frame.run, seat.request);
      rows[i].setAttribute("aria-label", name);
      const chip = /** @type {HTMLElement} */ (rows[i].firstElementChild);
      chip.dataset.series = String(seriesOf(seat.request) + 1);
      chip.dataset.request = String(seat.request);
      write(chip, name);
      const options = optionsIn(rows[i], spots.length, "bt-cell");
      const told = (/** @type {Spot} */ spot) => this.toldOf(frame, name, seat.request, spot);
      for (const [at, spot] of spots.entries()) paintSpot(options[at], spot, frame.setting.blockSize, told(spot));
    }
    this.tables.hidden = !tables.length;
    const out = frame.seats.size - tables.length;
    write(this.more, tables.length ? (out ? `and ${out} more requests, not drawn` : "") : "Nobody is in the batch.");
  }

  /**
   * A logical block.
   * @param {Frame} frame
   * @param {string} name of its request
   * @param {number} request
   * @param {Spot} spot
   */
  toldOf(frame, name, request, { block, logical, fills: [fill], id }) {
    const requests = [request];
    if (!block) return { name: `${name}: ${id.slice(1)} more logical blocks, not drawn`, request, requests };
    const others = frame.users[block] > 1 ? `, held by ${frame.users[block]}` : "";
    const tokens = `${fill.prompt + fill.output} of ${frame.setting.blockSize} tokens`;
    return { name: `${name}: logical block ${logical} is block ${block}, ${tokens}${others}`, request, requests };
  }

  /**
   * A physical block.
   * @param {Frame} frame
   * @param {Spot} spot
   */
  told(frame, { block, fills, kind }) {
    const requests = fills.map(({ request }) => request);
    const request = kind === Cell.SHARED || !fills.length ? null : requests[0];
    const text = named(frame.run, nameOfBlock(frame, this.cells, block));
    return { name: text[0].toUpperCase() + text.slice(1), request, requests };
  }

  /**
   * Light a block in tables and pool, with lines between them.
   * @param {number} block 0: none
   */
  point(block) {
    const places = this.root.querySelectorAll("[data-block]");
    for (const place of places) {
      const isPointed = block > 0 && place.getAttribute("data-block") === String(block);
      place.setAttribute("aria-selected", String(isPointed));
    }
    const [home] = this.pool.querySelectorAll('[aria-selected="true"] .bt-strip');
    const spots = [...this.tables.querySelectorAll('[aria-selected="true"] .bt-strip')];
    drawLinks(this.links, home ? spots : [], home);
  }
}

/**
 * Rows of the tables, each with a chip.
 * @param {HTMLElement} list
 * @param {number} wanted
 */
function rowsIn(list, wanted) {
  const rows = /** @type {HTMLElement[]} */ ([...list.children]);
  while (rows.length > wanted) rows.pop()?.remove();
  while (rows.length < Math.min(wanted, MOST.requests)) {
    const chip = element("span", { class: "request", "aria-hidden": "true" });
    rows.push(list.appendChild(element("div", { class: "bt-row", role: "group" }, chip)));
  }
  return rows;
}

/** @param {number} n */
const count = (n) => n.toLocaleString("en");
