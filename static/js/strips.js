/**
 * Drawing of streams: a strip for each request, its tokens as ticks, or as a bar where they are too close to tell apart, and
 * gaps that are too long as blocks of full height.
 *
 * @typedef {import("./streams.js").Streams} Streams
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {{t0: number, t1: number}} Span shown time [us]
 * @typedef {object} Strips
 * @property {Streams} streams
 * @property {number[]} requests a row each
 * @property {(number | null)[]} arrivals [us]
 * @property {number} limit gap that is too long [us]
 * @property {number | null} lit
 */
import { seriesOf } from "./palette.js";

const TICK_FROM = 3;
const DIM = 0.28;

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {{width: number, row: number}} size
 * @param {Span} span
 * @param {Strips} strips
 * @param {Palette} palette
 */
export function drawStrips(pen, { width, row }, span, strips, palette) {
  const scale = width / (span.t1 - span.t0);
  const x = (/** @type {number} */ us) => Math.min(width, Math.max(0, (us - span.t0) * scale));
  strips.requests.forEach((request, i) => {
    pen.globalAlpha = strips.lit === null || strips.lit === request ? 1 : DIM;
    const box = { top: i * row, height: row };
    drawStrip(pen, strips, request, box, x, palette);
  });
  pen.globalAlpha = 1;
  const { worst } = strips.streams;
  const place = worst ? strips.requests.indexOf(worst.request) : -1;
  if (worst && place >= 0) frameWorst(pen, x(worst.from), x(worst.to), place * row, row, palette.token.ink);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Strips} strips
 * @param {number} request
 * @param {{top: number, height: number}} box
 * @param {(us: number) => number} x
 * @param {Palette} palette
 */
function drawStrip(pen, { streams, arrivals, limit }, request, box, x, palette) {
  const times = streams.times.get(request) ?? [];
  const middle = Math.round(box.top + box.height / 2);
  const arrival = arrivals[request];
  const start = times[0] ?? Number.POSITIVE_INFINITY;
  pen.fillStyle = palette.token.edge;
  if (arrival !== null) for (let at = x(arrival); at < x(start); at += 4) pen.fillRect(at, middle, 1.5, 1);
  const colour = palette.series[seriesOf(request)];
  for (let i = 1, from = 0; i <= times.length; i++) {
    const isLate = i < times.length && times[i] - times[i - 1] > limit;
    if (i < times.length && !isLate) continue;
    drawTokens(pen, times.slice(from, i), box, x, colour);
    if (isLate) drawLate(pen, x(times[i - 1]), x(times[i]), box, palette.token.bad);
    from = i;
  }
  const left = arrival === null ? x(start) : Math.min(x(arrival), x(start));
  drawNumber(pen, String(request + 1), left, box, palette);
}

/**
 * Tokens that follow each other fast enough.
 * @param {CanvasRenderingContext2D} pen
 * @param {number[]} times
 * @param {{top: number, height: number}} box
 * @param {(us: number) => number} x
 * @param {string} colour
 */
function drawTokens(pen, times, { top, height }, x, colour) {
  const left = x(times[0]);
  const right = x(times[times.length - 1]);
  const inset = Math.max(1.5, Math.round(height * 0.22));
  pen.fillStyle = colour;
  if (times.length > 1 && (right - left) / (times.length - 1) < TICK_FROM)
    return pen.fillRect(left, top + inset, Math.max(1.5, right - left), height - 2 * inset);
  pen.fillRect(left, Math.round(top + height / 2), right - left, 1);
  for (const time of times) pen.fillRect(x(time) - 0.75, top + inset, 1.5, height - 2 * inset);
}

/**
 * A gap that is too long.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} left
 * @param {number} right
 * @param {{top: number, height: number}} box
 * @param {string} colour
 */
function drawLate(pen, left, right, { top, height }, colour) {
  if (right <= left) return;
  const alpha = pen.globalAlpha;
  pen.fillStyle = colour;
  pen.globalAlpha = alpha * 0.3;
  pen.fillRect(left, top, Math.max(1, right - left), height);
  pen.globalAlpha = alpha;
  pen.fillRect(left, top, 1.5, height);
  pen.fillRect(right - 1.5, top, 1.5, height);
  pen.fillRect(left, Math.round(top + height / 2) - 0.5, right - left, 1.5);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} left
 * @param {number} right
 * @param {number} top
 * @param {number} height
 * @param {string} ink
 */
function frameWorst(pen, left, right, top, height, ink) {
  pen.strokeStyle = ink;
  pen.lineWidth = 2;
  pen.strokeRect(left - 1, top + 0.5, Math.max(3, right - left + 2), height - 1);
}

/**
 * Number of the request, before its strip begins or, at the edge, on a ground of its own.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} left
 * @param {{top: number, height: number}} box
 * @param {Palette} palette
 */
function drawNumber(pen, text, left, { top, height }, palette) {
  pen.font = `600 ${Math.min(11, height)}px ${palette.font}`;
  pen.textBaseline = "middle";
  const wide = pen.measureText(text).width;
  const at = Math.max(1, left - wide - 4);
  if (at + wide > left) {
    pen.fillStyle = palette.token.card;
    pen.fillRect(0, top + 1, at + wide + 2, height - 2);
  }
  pen.fillStyle = palette.token.ink;
  pen.fillText(text, at, top + height / 2 + 0.5);
}
