/**
 * Drawing of the timeline: pure functions of what is shown, its span and the palette.
 *
 * @typedef {import("./bars.js").Bar} Bar
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {{t0: number, t1: number}} Span shown time [us]
 * @typedef {object} Lane
 * @property {Run} run
 * @property {Bar[]} bars
 * @property {number} slots
 * @property {number | null} lit request that is lit; the others step back
 * @property {number} most longest waiting line of all lanes: the strips share one scale
 * @property {import("./heldtime.js").Stretch[]} costly times in which held slots keep others waiting
 * @typedef {{width: number, height: number, strip: number}} Size
 */
import { seriesOf } from "./palette.js";

const LABEL_FROM = 17;

/**
 * Size a canvas to its box and return a pen in CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @returns {{pen: CanvasRenderingContext2D, width: number, height: number}}
 */
export function penOf(canvas) {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

/**
 * Top and height of each slot's row, on whole pixels.
 * @param {number} slots
 * @param {number} height
 */
export function rowsOf(slots, height) {
  const pitch = height / slots;
  const gap = pitch >= 8 ? 3 : pitch >= 4 ? 1 : 0;
  return Array.from({ length: slots }, (_, slot) => {
    const top = Math.round(slot * pitch);
    return { top, height: Math.max(1, Math.round((slot + 1) * pitch) - top - gap) };
  });
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Size} size
 * @param {Span} span
 * @param {Lane} lane
 * @param {Palette} palette
 */
export function drawLane(pen, size, span, lane, palette) {
  const rows = rowsOf(lane.slots, size.height - size.strip - 4);
  pen.fillStyle = palette.token.lane;
  for (const row of rows) pen.fillRect(0, row.top, size.width, row.height);
  const scale = size.width / (span.t1 - span.t0);
  const x = (/** @type {number} */ us) => Math.min(size.width, Math.max(0, (us - span.t0) * scale));
  for (const bar of lane.bars) {
    if (bar.free < span.t0 || bar.start > span.t1 || bar.slot >= rows.length) continue;
    pen.globalAlpha = lane.lit === null || lane.lit === bar.request ? 1 : 0.35;
    drawBar(pen, bar, rows[bar.slot], x, palette);
    if (bar.free > bar.end) drawCostly(pen, bar, rows[bar.slot], x, lane.costly, palette.token.bad);
  }
  pen.globalAlpha = 1;
  drawWaiting(pen, size, lane, x, palette);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Bar} bar
 * @param {{top: number, height: number}} row
 * @param {(us: number) => number} x
 * @param {Palette} palette
 */
function drawBar(pen, bar, row, x, palette) {
  const series = seriesOf(bar.request);
  const left = x(bar.start);
  const middle = x(bar.decode);
  const right = x(bar.end);
  const gap = right - left > 4 ? 1 : 0;
  if (bar.free > bar.end) drawHeld(pen, right, x(bar.free) - 1, row, palette.series[series], palette.token.card);
  pen.fillStyle = palette.hatch[series];
  pen.fillRect(left, row.top, Math.max(1, Math.min(middle, right - gap) - left), row.height);
  pen.fillStyle = palette.series[series];
  pen.fillRect(middle, row.top, Math.max(0, right - middle - gap), row.height);
  if (bar.preempted) drawPreempted(pen, right, row, palette.token);
  if (row.height >= 9) drawLabel(pen, bar, middle, right, row, palette, series);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} left
 * @param {number} right
 * @param {{top: number, height: number}} row
 * @param {string} colour
 * @param {string} card
 */
function drawHeld(pen, left, right, row, colour, card) {
  if (right - left < 2) return;
  pen.fillStyle = card;
  pen.fillRect(left, row.top, right - left, row.height);
  pen.strokeStyle = colour;
  pen.lineWidth = row.height > 4 ? 1.25 : 0.75;
  pen.setLineDash([4, 3]);
  pen.strokeRect(left + 0.5, row.top + 0.5, right - left - 1, row.height - 1);
  pen.setLineDash([]);
}

/**
 * Where a held slot keeps others waiting: an outline, inside the dashed one where there is room.
 * @param {CanvasRenderingContext2D} pen
 * @param {Bar} bar
 * @param {{top: number, height: number}} row
 * @param {(us: number) => number} x
 * @param {import("./heldtime.js").Stretch[]} costly
 * @param {string} colour
 */
function drawCostly(pen, bar, row, x, costly, colour) {
  pen.strokeStyle = colour;
  pen.lineWidth = row.height > 4 ? 1.5 : 1;
  const inset = row.height >= 12 ? 3.25 : 0.75;
  for (const { from, to } of costly) {
    if (to <= bar.end || from >= bar.free) continue;
    const left = x(Math.max(from, bar.end)) + inset;
    const width = x(Math.min(to, bar.free)) - 1 - inset - left;
    if (width >= 1) pen.strokeRect(left, row.top + inset, width, Math.max(0.5, row.height - 2 * inset));
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} right
 * @param {{top: number, height: number}} row
 * @param {Record<string, string>} token
 */
function drawPreempted(pen, right, row, token) {
  const wing = Math.min(6, row.height / 2);
  pen.fillStyle = token.card;
  pen.fillRect(right - 4, row.top, 4, row.height);
  pen.fillStyle = token.bad;
  pen.fillRect(right - 3, row.top, 2, row.height);
  pen.beginPath();
  pen.moveTo(right - 3, row.top + row.height / 2 - wing);
  pen.lineTo(right - 3 - wing, row.top + row.height / 2);
  pen.lineTo(right - 3, row.top + row.height / 2 + wing);
  pen.fill();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Bar} bar
 * @param {number} middle
 * @param {number} right
 * @param {{top: number, height: number}} row
 * @param {Palette} palette
 * @param {number} series
 */
function drawLabel(pen, bar, middle, right, row, palette, series) {
  const text = String(bar.request + 1);
  if (right - middle < LABEL_FROM + 6 * (text.length - 2)) return;
  pen.fillStyle = palette.on[series];
  pen.font = `650 ${Math.min(11, row.height)}px ${palette.font}`;
  pen.textBaseline = "middle";
  pen.fillText(text, middle + 4, row.top + row.height / 2 + 0.5);
}

/**
 * The waiting line as an area under the slots.
 * @param {CanvasRenderingContext2D} pen
 * @param {Size} size
 * @param {Lane} lane
 * @param {(us: number) => number} x
 * @param {Palette} palette
 */
function drawWaiting(pen, size, lane, x, palette) {
  const { run, most } = lane;
  const { waiting } = run.steps;
  const unit = (size.strip - 2) / Math.max(4, most);
  pen.fillStyle = palette.token.line;
  pen.fillRect(0, size.height - 1, size.width, 1);
  pen.fillStyle = palette.token.wait;
  for (let s = 0; s < run.count; ) {
    const from = s;
    while (s + 1 < run.count && waiting[s + 1] === waiting[from] && run.start_us[s + 1] - run.end_us[s] < 1) s++;
    const value = waiting[from] * unit;
    const left = x(run.start_us[from]);
    if (value) pen.fillRect(left, size.height - value, Math.max(0.6, x(run.end_us[s]) - left + 0.35), value);
    s++;
  }
}

/**
 * Where two runs part: a dashed line in both, and in the fork's lane the past, which is the same, is faint.
 * @param {CanvasRenderingContext2D} pen
 * @param {Size} size
 * @param {Span} span
 * @param {number} us
 * @param {boolean} isFork
 * @param {Palette} palette
 */
export function drawFork(pen, size, span, us, isFork, palette) {
  const x = Math.round(((us - span.t0) / (span.t1 - span.t0)) * size.width) + 0.5;
  if (isFork && x > 0) {
    pen.fillStyle = palette.token.card;
    pen.globalAlpha = 0.62;
    pen.fillRect(0, 0, Math.min(x, size.width), size.height);
    pen.globalAlpha = 1;
  }
  if (x < 0 || x > size.width) return;
  pen.strokeStyle = palette.token.ink;
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  pen.beginPath();
  pen.moveTo(x, 0);
  pen.lineTo(x, size.height);
  pen.stroke();
  pen.setLineDash([]);
}

/**
 * Arrivals and time.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} width
 * @param {Span} span
 * @param {(number | null)[]} arrivals
 * @param {Palette} palette
 */
export function drawAxis(pen, width, span, arrivals, palette) {
  const scale = width / (span.t1 - span.t0);
  pen.fillStyle = palette.token.ink;
  for (const us of arrivals)
    if (us !== null && us >= span.t0 && us <= span.t1)
      pen.fillRect(Math.min(width - 1, (us - span.t0) * scale), 1, 1.25, 7);
  pen.font = `11px ${palette.font}`;
  pen.textBaseline = "alphabetic";
  const step = tickStep(span, width);
  for (let us = Math.ceil(span.t0 / step) * step; us <= span.t1; us += step) {
    const at = (us - span.t0) * scale;
    const text = tickText(us, step);
    const wide = pen.measureText(text).width;
    pen.fillStyle = palette.token.edge;
    pen.fillRect(Math.min(width - 1, at), 10, 1, 3);
    pen.fillStyle = palette.token.muted;
    pen.fillText(text, Math.min(width - wide, Math.max(0, at - wide / 2)), 24);
  }
}

/**
 * Round distance of ticks [us] that leaves each label room.
 * @param {Span} span
 * @param {number} width
 */
export function tickStep(span, width) {
  const least = (span.t1 - span.t0) / Math.max(2, Math.min(10, width / 64));
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
}

/**
 * @param {number} us
 * @param {number} step
 */
function tickText(us, step) {
  const digits = Math.max(0, Math.ceil(-Math.log10(step / 1e6) - 1e-9));
  return `${(us / 1e6).toFixed(digits)} s`;
}
