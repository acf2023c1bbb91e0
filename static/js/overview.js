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
 * @typedef {{end_s: number, is_long: boolean, runs: Record<string, Course>}} Courses
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

const BINS = 720;

/**
 * The course of runs that are here whole; the server makes that of a long one.
 * @param {Record<string, import("./run.js").Run>} runs
 * @param {number} end [us]
 * @returns {Courses}
 */
export const coursesOf = (runs, end) => ({
  end_s: end / 1e6,
  is_long: false,
  runs: Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, courseOf(run, end)])),
});

/**
 * @param {import("./run.js").Run} run
 * @param {number} end
 * @returns {Course}
 */
function courseOf(run, end) {
  const [running, waiting, blocks, step] = Array.from({ length: 4 }, () => new Array(BINS).fill(0));
  const pool = Math.max(1, run.facts.num_gpu_blocks - 1);
  const bin = (/** @type {number} */ us) => Math.min(BINS - 1, Math.floor((us / end) * BINS));
  for (let s = 0; s < run.count; s++)
    for (let i = bin(run.start_us[s]); i <= bin(run.end_us[s]); i++) {
      running[i] = Math.max(running[i], run.steps.running[s] + run.steps.held[s]);
      waiting[i] = Math.max(waiting[i], run.steps.waiting[s]);
      blocks[i] = Math.max(blocks[i], 1 - run.steps.free[s] / pool);
    }
  return { running, waiting, blocks, step, steps: run.count, slots: run.scenario.max_num_seqs };
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
 * One band per run, in the order of the lanes: running as an area, waiting darker over it, KV use as a line.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} width
 * @param {number} height
 * @param {Courses} courses
 * @param {Palette} palette
 */
export function drawCourses(pen, width, height, courses, palette) {
  const names = Object.keys(courses.runs).reverse();
  const most = Math.max(1, ...names.flatMap((name) => courses.runs[name].waiting));
  const tall = height / names.length - GAP;
  const { lane, edge, wait, accent } = palette.token;
  names.forEach((name, i) => {
    const course = courses.runs[name];
    const band = { top: i * (tall + GAP), tall, width };
    pen.fillStyle = lane;
    pen.fillRect(0, band.top, width, tall);
    drawArea(pen, band, course.running, course.slots, mixed(edge));
    drawArea(pen, band, course.waiting, most, wait);
    drawLine(pen, band, course.blocks, 1, accent);
  });
}

const GAP = 3;

/** @typedef {{top: number, tall: number, width: number}} Band */

/**
 * A colour at half strength.
 * @param {string} colour as in rgb(1, 2, 3)
 */
const mixed = (colour) => colour.replace("rgb(", "rgba(").replace(")", ", 0.4)");

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Band} band
 * @param {number[]} values
 * @param {number} most
 * @param {string} colour
 */
function drawArea(pen, band, values, most, colour) {
  const unit = band.width / values.length;
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(0, band.top + band.tall);
  values.forEach((value, i) => {
    const y = band.top + band.tall * (1 - Math.min(1, value / most));
    pen.lineTo(i * unit, y);
    pen.lineTo((i + 1) * unit, y);
  });
  pen.lineTo(band.width, band.top + band.tall);
  pen.fill();
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Band} band
 * @param {number[]} values
 * @param {number} most
 * @param {string} colour
 */
function drawLine(pen, band, values, most, colour) {
  const unit = band.width / values.length;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.25;
  pen.beginPath();
  values.forEach((value, i) => {
    pen.lineTo((i + 0.5) * unit, band.top + 1 + (band.tall - 2) * (1 - value / most));
  });
  pen.stroke();
}
