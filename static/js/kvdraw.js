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
 * @property {number} pitch distance of cells, the smaller one
 * @property {number} across distance of columns
 * @property {number} down distance of rows
 * @property {number} gap between them
 * @property {number[]} lefts left edges of the columns, on whole device pixels, and the right end
 * @property {number[]} tops
 */
import { Cell } from "./kvcells.js";
import { seriesOf } from "./palette.js";

const MOST_CELLS = 16_384;
const MOST_PITCH = 26;
const LABEL_FROM = 14;
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
  const across = Math.min(width / columns, MOST_PITCH);
  const down = Math.min(height / rows, MOST_PITCH);
  const pitch = Math.min(across, down);
  const gap = pitch >= 9 ? 1 : pitch >= 3 ? 1 / ratio : 0;
  const lefts = edgesOf(columns, across, ratio);
  const tops = edgesOf(rows, down, ratio);
  return { per, count, columns, rows, pitch, across, down, gap, lefts, tops };
}

/**
 * @param {number} count
 * @param {number} distance
 * @param {number} ratio
 */
const edgesOf = (count, distance, ratio) =>
  Array.from({ length: count + 1 }, (_, i) => Math.round(i * distance * ratio) / ratio);

/**
 * Cell at a place; -1: none.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 */
export function cellAt({ across, down, columns, rows, count }, x, y) {
  const column = Math.floor(x / across);
  const row = Math.floor(y / down);
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
 * Draw the cells whose code has changed; equal ones side by side at once.
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {Int32Array} codes
 * @param {Int32Array} drawn codes on the canvas; brought up to date
 * @param {Palette} palette
 * @param {boolean} isDimmed whether cells that are not lit step back
 */
export function drawCells(pen, layout, codes, drawn, palette, isDimmed) {
  pen.font = `650 ${Math.min(10, layout.pitch - 5)}px ${palette.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (let cell = 0; cell < layout.count; ) {
    const code = codes[cell];
    if (code === drawn[cell]) {
      cell++;
      continue;
    }
    const first = cell;
    const last = isPlain(code, layout) ? layout.columns * (Math.floor(first / layout.columns) + 1) : first + 1;
    while (cell < last && codes[cell] === code && drawn[cell] !== code) drawn[cell++] = code;
    pen.globalAlpha = isDimmed && !isLit(code) ? DIM : 1;
    drawRun(pen, layout, first, cell - 1, code, palette);
  }
  pen.globalAlpha = 1;
}

/**
 * Whether cells of a code can be drawn as one bar.
 * @param {number} code
 * @param {Layout} layout
 */
function isPlain(code, { pitch }) {
  const kind = code & 7;
  if (code >> 10 || kind === Cell.HELD) return false;
  return pitch < CORNER_FROM || (kind !== Cell.CACHED && kind !== Cell.KEPT);
}

const CORNER_FROM = 5;

/** @param {number} code */
const isLit = (code) => Boolean((code >> 9) & 1);

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Layout} layout
 * @param {number} first cell
 * @param {number} last cell, in the same row
 * @param {number} code
 * @param {Palette} palette
 */
function drawRun(pen, layout, first, last, code, palette) {
  const { gap } = layout;
  const box = boxOf(layout, first);
  const end = boxOf(layout, last);
  box.width = end.x + end.width - box.x;
  pen.clearRect(box.x, box.y, box.width + gap, box.height + gap);
  drawCell(pen, box, code, palette);
  if (!gap) return;
  for (let cell = first; cell < last; cell++) {
    const { x, width } = boxOf(layout, cell);
    pen.clearRect(x + width, box.y, gap, box.height);
  }
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
  const level = (code >> 6) & 7;
  const label = code >> 10;
  const colour = palette.series[series];
  if (kind === BLANK) return;
  if (kind === Cell.OWN) drawFilled(pen, box, colour, level);
  else if (kind === Cell.HELD) drawHollow(pen, box, colour);
  else if (kind === Cell.RESERVED) drawTinted(pen, box, colour);
  else {
    fill(pen, box, kind === Cell.SHARED ? palette.token.part : palette.token.idle);
    if (kind === Cell.CACHED) drawCorner(pen, box, palette.token.edge);
    if (kind === Cell.KEPT) drawCorner(pen, box, colour);
  }
  if (!label) return;
  const isSolid = kind === Cell.OWN && level > LEVELS / 2;
  pen.fillStyle = kind === Cell.SHARED ? palette.token.card : isSolid ? palette.on[series] : palette.token.ink;
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
 * Content that may go: a corner, or half the height of a small cell.
 * @param {CanvasRenderingContext2D} pen
 * @param {Box} box
 * @param {string} colour
 */
function drawCorner(pen, { x, y, width, height }, colour) {
  if (height < CORNER_FROM - 1) return fill(pen, { x, y: y + height / 2, width, height: height / 2 }, colour);
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x, y + height);
  pen.lineTo(x + width, y + height);
  pen.fill();
}
