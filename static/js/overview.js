/**
 * A run too long to draw whole: its course as lines, with a window that can be moved.
 *
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {object} Course columns of equal length, one entry a bin
 * @property {number[]} running
 * @property {number[]} waiting
 * @property {number[]} blocks share of the pool in use
 * @property {number[]} step first step that starts in the bin or later
 * @property {number} steps
 * @property {number} slots
 * @property {number} end_s
 * @typedef {{end_s: number, runs: Record<string, Course>}} Courses
 */
import { problemOf } from "./lines.js";

/**
 * @param {string} url
 * @param {AbortSignal} signal
 * @returns {Promise<Courses>}
 */
export async function fetchCourses(url, signal) {
  const response = await fetch(url, { signal });
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

/**
 * Steps of one run that the window needs.
 * @param {Courses} courses
 * @param {string} name
 * @param {{t0: number, t1: number}} span [us]
 * @returns {{from: number, count: number}}
 */
export function stepsOf(courses, name, span) {
  const { step, steps } = courses.runs[name];
  const bin = (courses.end_s * 1e6) / step.length;
  const from = Math.max(0, step[Math.min(step.length - 1, Math.floor(span.t0 / bin))] - 1);
  const last = Math.ceil(span.t1 / bin) + 1;
  const to = last < step.length ? step[last] : steps;
  return { from, count: Math.max(1, to - from) };
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} width
 * @param {number} height
 * @param {Courses} courses
 * @param {Palette} palette
 */
export function drawCourses(pen, width, height, courses, palette) {
  const names = Object.keys(courses.runs);
  const most = Math.max(1, ...names.flatMap((name) => courses.runs[name].waiting));
  pen.fillStyle = palette.token.lane;
  pen.fillRect(0, 0, width, height);
  names.forEach((name, i) => {
    const course = courses.runs[name];
    const colour = i ? palette.token.edge : palette.token.ink;
    pen.globalAlpha = 0.35;
    drawArea(pen, course.waiting, width, height, most, i ? palette.token.edge : palette.token.wait);
    pen.globalAlpha = 1;
    pen.setLineDash(i ? [4, 3] : []);
    drawLine(pen, course.running, width, height, Math.max(1, course.slots), colour, 1.5);
    drawLine(pen, course.blocks, width, height, 1, palette.token.accent, 1);
  });
  pen.setLineDash([]);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number[]} values
 * @param {number} width
 * @param {number} height
 * @param {number} most
 * @param {string} colour
 */
function drawArea(pen, values, width, height, most, colour) {
  const unit = width / values.length;
  pen.fillStyle = colour;
  values.forEach((value, i) => {
    const tall = (value / most) * (height - 2);
    if (tall) pen.fillRect(i * unit, height - tall, unit + 0.5, tall);
  });
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number[]} values
 * @param {number} width
 * @param {number} height
 * @param {number} most
 * @param {string} colour
 * @param {number} thick
 */
function drawLine(pen, values, width, height, most, colour, thick) {
  const unit = width / values.length;
  pen.strokeStyle = colour;
  pen.lineWidth = thick;
  pen.beginPath();
  values.forEach((value, i) => {
    const y = height - 1 - (value / most) * (height - 4);
    pen.lineTo((i + 0.5) * unit, y);
  });
  pen.stroke();
}
