/**
 * Drawing of single steps: a box a step, as wide as it takes, in it a bar for each request: what the step does for it.
 *
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {import("./timeline.js").Span} Span
 * @typedef {object} Mark what a step does for a request
 * @property {number} request
 * @property {number} slot
 * @property {"prefill" | "decode" | "held"} phase
 * @property {number} tokens of a prompt, or the number of the first that comes out
 * @typedef {object} Box
 * @property {number} step
 * @property {number} start [us]
 * @property {number} end [us]
 * @property {Mark[]} marks
 * @typedef {object} Strip
 * @property {Box[]} boxes
 * @property {number} rows
 * @property {number} now step at the playhead
 * @property {number} at playhead [us]
 * @property {number | null} lit
 */
import { seriesOf } from "./palette.js";

const LEAST_TEXT = 10;

/**
 * Top and height of each slot's row; the current box has its frame around them.
 * @param {number} rows
 * @param {number} height
 */
export function placesOf(rows, height) {
  const pitch = (height - 4) / rows;
  const gap = pitch > 5 ? 1 : 0;
  return Array.from({ length: rows }, (_, slot) => ({ top: 2 + slot * pitch, height: Math.max(1, pitch - gap) }));
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {{width: number, height: number}} size
 * @param {Span} span
 * @param {Strip} strip
 * @param {Palette} palette
 */
export function drawBoxes(pen, { width, height }, span, { boxes, rows, now, at, lit }, palette) {
  const scale = width / (span.t1 - span.t0);
  const x = (/** @type {number} */ us) => (us - span.t0) * scale;
  const places = placesOf(rows, height);
  pen.fillStyle = palette.token.lane;
  for (const { top, height } of places) pen.fillRect(0, top, width, height);
  pen.textBaseline = "middle";
  for (const box of boxes) {
    const left = x(box.start);
    const right = Math.max(left + 1, x(box.end) - 1);
    for (const mark of box.marks) {
      pen.globalAlpha = lit === null || lit === mark.request ? 1 : 0.35;
      const place = places[mark.slot];
      if (place) drawMark(pen, mark, { left, right, ...place }, width, palette);
    }
    pen.globalAlpha = 1;
    if (box.step === now) frameBox(pen, left, right, height, palette.token.ink);
  }
  drawPlayhead(pen, x(at), height, palette.token.ink);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x
 * @param {number} bottom
 * @param {string} ink
 */
function drawPlayhead(pen, x, bottom, ink) {
  pen.fillStyle = ink;
  pen.beginPath();
  pen.moveTo(x, bottom + 1);
  pen.lineTo(x - 5, bottom + 9);
  pen.lineTo(x + 5, bottom + 9);
  pen.fill();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Mark} mark
 * @param {{left: number, right: number, top: number, height: number}} place
 * @param {number} width of the drawing
 * @param {Palette} palette
 */
function drawMark(pen, { request, phase, tokens }, { left, right, top, height }, width, palette) {
  const series = seriesOf(request);
  if (phase === "held") {
    pen.strokeStyle = palette.series[series];
    pen.setLineDash([3, 3]);
    pen.strokeRect(left + 0.5, top + 0.5, Math.max(1, right - left - 1), Math.max(1, height - 1));
    return pen.setLineDash([]);
  }
  pen.fillStyle = phase === "prefill" ? palette.hatch[series] : palette.series[series];
  pen.fillRect(left, top, right - left, height);
  if (height < LEAST_TEXT) return;
  const [from, to] = [Math.max(0, left), Math.min(width, right)];
  const middle = top + height / 2;
  if (phase === "decode") return drawNumber(pen, tokens, from, to, middle, height, palette, series);
  drawPrompt(pen, tokens, from, to, middle, height, palette);
}

/**
 * Number of the token that comes out.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} token
 * @param {number} from
 * @param {number} to
 * @param {number} middle
 * @param {number} height
 * @param {Palette} palette
 * @param {number} series
 */
function drawNumber(pen, token, from, to, middle, height, palette, series) {
  pen.font = `650 ${Math.min(11, height)}px ${palette.font}`;
  const text = String(token);
  const wide = pen.measureText(text).width;
  if (to - from < wide + 3) return;
  pen.fillStyle = palette.on[series];
  pen.fillText(text, (from + to - wide) / 2, middle + 0.5);
}

/**
 * Tokens of a prompt, on a ground that makes them readable over the hatch.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} tokens
 * @param {number} from
 * @param {number} to
 * @param {number} middle
 * @param {number} height
 * @param {Palette} palette
 */
function drawPrompt(pen, tokens, from, to, middle, height, palette) {
  pen.font = `650 ${Math.min(11, height)}px ${palette.font}`;
  const count = tokens.toLocaleString("en");
  const texts = [`prefill, ${count} tokens`, `${count} tokens`, count];
  const text = texts.find((each) => pen.measureText(each).width + 12 <= to - from);
  if (!text) return;
  const wide = pen.measureText(text).width + 6;
  const high = Math.min(height, 15);
  pen.fillStyle = palette.token.card;
  pen.fillRect((from + to - wide) / 2, middle - high / 2, wide, high);
  pen.fillStyle = palette.token.ink;
  pen.fillText(text, (from + to - wide) / 2 + 3, middle + 0.5);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} left
 * @param {number} right
 * @param {number} height
 * @param {string} ink
 */
function frameBox(pen, left, right, height, ink) {
  pen.strokeStyle = ink;
  pen.lineWidth = 2;
  pen.strokeRect(left, 1, right - left, height - 2);
  pen.lineWidth = 1;
}
