/**
 * Drawing of the block map: pure functions of cells, layout and palette. A cell's look is one number, its code; only cells
 * whose code has changed are drawn again.
 *
 * @typedef {import("./kvcells.js").Cells} Cells
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {object} Layout
 * @property {number} per blocks that a cell stands for
 * @property {number} count cells
 * @property {number} columns
 * @property {number} rows
 * @property {number} pitch distance of cells
 * @property {number} gap between them
 * @property {number[]} lefts left edges of the columns, on whole device pixels, and the right end
 * @property {number[]} tops
 */
import { Cell } from "./kvcells.js";
import { seriesOf } from "./palette.js";

const MOST_CELLS = 16_384;
const MOST_PITCH = 26;
const LABEL_FROM = 17;
const LEVELS = 4;

/**
 * Cells in rows as in memory: columns = ceil(sqrt(cells * width / height)).
 * @param {number} blocks
 * @param {number} width
 * @param {number} height
 * @param {number} ratio device pixels per pixel
 * @returns {Layout}
 */
export function layoutOf(blocks, width, height, ratio) {
  const per = Math.ceil(blocks / MOST_CELLS);
  const count = Math.ceil(blocks / per);
  const columns = Math.ceil(Math.sqrt((count * width) / height));
  const rows = Math.ceil(count / columns);
  const pitch = Math.min(width / columns, height / rows, MOST_PITCH);
  const edges = (/** @type {number} */ n) =>
    Array.from({ length: n + 1 }, (_, i) => Math.round(i * pitch * ratio) / ratio);
  const gap = pitch >= 9 ? 1 : pitch >= 3 ? 1 / ratio : 0;
  return { per, count, columns, rows, pitch, gap, lefts: edges(columns), tops: edges(rows) };
}

/**
 * Cell at a place; -1: none.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 */
export function cellAt({ pitch, columns, rows, count }, x, y) {
  const column = Math.floor(x / pitch);
  const row = Math.floor(y / pitch);
  const cell = row * columns + column;
  return column >= 0 && column < columns && row >= 0 && row < rows && cell < count ? cell : -1;
}

/**
 * @param {Layout} layout
 * @param {number} cell
 */
export function boxOf({ columns, lefts, tops, gap }, cell) {
  const column = cell % columns;
  const row = Math.floor(cell / columns);
  return {
    x: lefts[column],
    y: tops[row],
    width: lefts[column + 1] - lefts[column] - gap,
    height: tops[row + 1] - tops[row] - gap,
  };
}

/**
 * Write the code of each cell.
 * @param {Int32Array} codes
 * @param {Cells} cells
 * @param {Layout} layout
 * @param {Int32Array} shown block that each cell shows, 0: none
 * @param {{blockSize: number, lit: Uint8Array | null}} options `lit` marks blocks of the request that is lit
 */
export function encode(codes, cells, layout, shown, { blockSize, lit }) {
  const hasLabels = layout.pitch >= LABEL_FROM;
  let before = 0;
  for (let cell = 0; cell < layout.count; cell++) {
    const block = shown[cell];
    if (!block) {
      codes[cell] = BLANK;
      continue;
    }
    const kind = cells.kind[block];
    const owner = cells.owner[block];
    const isOwned = kind >= Cell.OWN && kind !== Cell.SHARED;
    const isFirst = cell % layout.columns === 0 || owner !== cells.owner[before] || kind !== cells.kind[before];
    const level = kind === Cell.OWN ? Math.ceil((LEVELS * cells.tokens[block]) / blockSize) : 0;
    const label = !hasLabels || !isFirst ? 0 : kind === Cell.SHARED ? cells.users[block] : isOwned ? owner + 1 : 0;
    const series = isOwned ? seriesOf(owner) : 0;
    codes[cell] = kind | (series << 3) | (level << 6) | (Number(Boolean(lit?.[block])) << 9) | (label << 10);
    before = block;
  }
}

const BLANK = 7;

/**
 * Draw the cells whose code has changed.
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {Int32Array} codes
 * @param {Int32Array} drawn codes on the canvas; brought up to date
 * @param {Palette} palette
 * @param {boolean} isDimmed whether cells that are not lit step back
 * @returns {number} cells drawn
 */
export function drawCells(pen, layout, codes, drawn, palette, isDimmed) {
  let count = 0;
  pen.font = `650 ${Math.min(10, layout.pitch - 6)}px ${palette.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (let cell = 0; cell < layout.count; cell++) {
    if (codes[cell] === drawn[cell]) continue;
    drawn[cell] = codes[cell];
    count++;
    const box = boxOf(layout, cell);
    pen.clearRect(box.x, box.y, box.width + layout.gap, box.height + layout.gap);
    const isLit = (codes[cell] >> 9) & 1;
    pen.globalAlpha = isDimmed && !isLit ? DIM : 1;
    drawCell(pen, box, codes[cell], palette);
  }
  pen.globalAlpha = 1;
  return count;
}

const DIM = 0.22;

/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {number} code
 * @param {Palette} palette
 */
function drawCell(pen, box, code, palette) {
  const kind = code & 7;
  const series = (code >> 3) & 7;
  const label = code >> 10;
  const colour = palette.series[series];
  if (kind === BLANK) return;
  if (kind === Cell.OWN) drawFilled(pen, box, colour, (code >> 6) & 7);
  else if (kind === Cell.HELD) drawHollow(pen, box, colour);
  else if (kind === Cell.RESERVED) drawTinted(pen, box, colour);
  else {
    fill(pen, box, kind === Cell.SHARED ? palette.token.part : palette.token.idle);
    if (kind === Cell.CACHED) drawCorner(pen, box, palette.token.edge);
    if (kind === Cell.KEPT) drawCorner(pen, box, colour);
  }
  if (!label) return;
  pen.fillStyle =
    kind === Cell.SHARED ? palette.token.card : kind === Cell.OWN ? palette.on[series] : palette.token.ink;
  const text = kind === Cell.SHARED ? `×${label}` : String(label);
  pen.fillText(text, box.x + box.width / 2, box.y + box.height / 2 + 0.5, box.width);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} colour
 */
function fill(pen, { x, y, width, height }, colour) {
  pen.fillStyle = colour;
  pen.fillRect(x, y, width, height);
}

/**
 * A block that is filled from the bottom, as far as its tokens are there.
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} colour
 * @param {number} level
 */
function drawFilled(pen, box, colour, level) {
  if (level < LEVELS) drawTinted(pen, box, colour);
  const height = Math.round((box.height * level) / LEVELS);
  fill(pen, { ...box, y: box.y + box.height - height, height }, colour);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} colour
 */
function drawTinted(pen, box, colour) {
  const alpha = pen.globalAlpha;
  pen.globalAlpha = 0.3 * alpha;
  fill(pen, box, colour);
  pen.globalAlpha = alpha;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} colour
 */
function drawHollow(pen, box, colour) {
  const line = Math.max(0.75, Math.min(2, box.width / 4));
  fill(pen, box, colour);
  pen.clearRect(box.x + line, box.y + line, box.width - 2 * line, box.height - 2 * line);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} colour
 */
function drawCorner(pen, { x, y, width, height }, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x, y + height);
  pen.lineTo(x + width, y + height);
  pen.fill();
}
