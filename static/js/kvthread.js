/**
 * The block table of the chosen request as a thread through its cells in logical order, and the frame around the cell
 * that is pointed at.
 *
 * @typedef {import("./kvdraw.js").Layout} Layout
 * @typedef {{x: number, y: number}} Point
 * @typedef {{from: Point, to: Point, isNext: boolean}} Piece cells side by side; `isNext`: it goes on from the end of a row
 */
import { boxOf } from "./kvdraw.js";

const MOST_PIECES = 250;
const HEAD_FROM = 12;

/**
 * Pieces of a table that lie side by side in one row of the map, in either direction.
 * @param {number[]} cells in logical order
 * @param {Layout} layout
 * @returns {Piece[]}
 */
export function piecesOf(cells, layout) {
  const pieces = [];
  for (let i = 0; i < cells.length && pieces.length < MOST_PIECES; i++) {
    const first = i;
    const way = cells[i + 1] - cells[i];
    while (Math.abs(way) === 1 && cells[i + 1] - cells[i] === way && isSameRow(cells[i], cells[i + 1], layout)) i++;
    const isNext = first > 0 && cells[first] === cells[first - 1] + 1;
    pieces.push({ from: middle(boxOf(layout, cells[first])), to: middle(boxOf(layout, cells[i])), isNext });
  }
  return pieces;
}

/**
 * @param {number} a
 * @param {number} b
 * @param {Layout} layout
 */
const isSameRow = (a, b, { columns }) => Math.floor(a / columns) === Math.floor(b / columns);

/** @param {import("./kvdraw.js").Box} box */
const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Piece[]} pieces
 * @param {Point[]} leader way from the row of the table to the first cell
 * @param {{ink: string, card: string}} colours
 */
export function drawThread(pen, pieces, leader, { ink, card }) {
  const path = new Path2D();
  for (const { x, y } of leader) path.lineTo(x, y);
  for (const { from, to, isNext } of pieces) {
    if (isNext) path.moveTo(from.x, from.y);
    else path.lineTo(from.x, from.y);
    path.lineTo(to.x, to.y);
  }
  pen.lineJoin = "round";
  pen.lineCap = "round";
  for (const [colour, width] of /** @type {[string, number][]} */ ([
    [card, 3],
    [ink, 1.25],
  ])) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke(path);
  }
  pen.fillStyle = ink;
  pieces.forEach(({ from, to, isNext }, i) => {
    if (!i) drawDot(pen, from);
    else if (!isNext) drawHead(pen, pieces[i - 1].to, from);
    if (i === pieces.length - 1) drawHead(pen, from, to);
  });
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Point} at
 */
function drawDot(pen, { x, y }) {
  pen.beginPath();
  pen.arc(x, y, 3, 0, 2 * Math.PI);
  pen.fill();
}

/**
 * Arrow head at `to`, if there is room for one.
 * @param {CanvasRenderingContext2D} pen
 * @param {Point} from
 * @param {Point} to
 */
function drawHead(pen, from, to) {
  if (Math.hypot(to.x - from.x, to.y - from.y) < HEAD_FROM) return;
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  pen.beginPath();
  for (const turn of [0, 2.5, -2.5]) {
    const length = turn ? 5 : 2;
    pen.lineTo(to.x + length * Math.cos(angle + turn), to.y + length * Math.sin(angle + turn));
  }
  pen.fill();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {import("./kvdraw.js").Box} box
 * @param {{ink: string, card: string}} colours
 */
export function drawRing(pen, { x, y, width, height }, { ink, card }) {
  pen.lineJoin = "miter";
  for (const [colour, line] of /** @type {[string, number][]} */ ([
    [card, 4],
    [ink, 2],
  ])) {
    pen.strokeStyle = colour;
    pen.lineWidth = line;
    pen.strokeRect(x - 1, y - 1, width + 2, height + 2);
  }
}
