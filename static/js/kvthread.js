/**
 * The block table of the chosen request as a thread through its cells in logical order, and the frame around the cell
 * that is pointed at.
 *
 * @typedef {import("./kvdraw.js").Layout} Layout
 * @typedef {{x: number, y: number}} Point
 */
import { boxOf } from "./kvdraw.js";

const MOST_PIECES = 250;

/**
 * Pieces of a table that lie side by side in one row of the map.
 * @param {number[]} cells in logical order
 * @param {Layout} layout
 * @returns {{from: Point, to: Point}[]}
 */
export function piecesOf(cells, layout) {
  const pieces = [];
  for (let i = 0; i < cells.length && pieces.length < MOST_PIECES; i++) {
    const first = i;
    while (cells[i + 1] === cells[i] + 1 && cells[i + 1] % layout.columns) i++;
    pieces.push({ from: middle(boxOf(layout, cells[first])), to: middle(boxOf(layout, cells[i])) });
  }
  return pieces;
}

/** @param {import("./kvdraw.js").Box} box */
const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {{from: Point, to: Point}[]} pieces
 * @param {Point[]} leader way from the row of the table to the first cell
 * @param {{ink: string, card: string}} colours
 */
export function drawThread(pen, pieces, leader, { ink, card }) {
  const path = new Path2D();
  for (const { x, y } of [...leader, ...pieces.flatMap(({ from, to }) => [from, to])]) path.lineTo(x, y);
  pen.lineJoin = "round";
  pen.lineCap = "round";
  for (const [colour, width] of /** @type {[string, number][]} */ ([
    [card, 4],
    [ink, 1.5],
  ])) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke(path);
  }
  pen.fillStyle = ink;
  pieces.forEach(({ from, to }, i) => {
    if (i) drawHead(pen, pieces[i - 1].to, from);
    else drawDot(pen, from);
    if (i === pieces.length - 1 && (to.x !== from.x || to.y !== from.y)) drawHead(pen, from, to);
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
 * Arrow head at `to`.
 * @param {CanvasRenderingContext2D} pen
 * @param {Point} from
 * @param {Point} to
 */
function drawHead(pen, from, to) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  pen.beginPath();
  for (const turn of [0, 2.5, -2.5]) {
    const length = turn ? 6 : 2;
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
