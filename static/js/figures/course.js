/** Slots in use, waiting line and KV blocks of every run over time, on the axis of the timeline. */
import { Chart } from "../chart.js";

/**
 * @typedef {import("../run.js").Run} Run
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {{t0: number, t1: number}} Span
 */

const REST_MS = 300;
const MOST_POINTS = 4000;
const LEAST_MARGIN = 44;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const chart = new Chart(card, stage);
  let timer = 0;
  const drawNow = () => {
    const { scene } = stage;
    if (!scene) return;
    const { runs, span } = scene;
    const range = [span.t0 / 1e6, span.t1 / 1e6];
    chart.draw((trace) => filled(trace, runs[trace.meta.run], span), { range, left: gutter(card, stage) });
  };
  const draw = () => {
    clearTimeout(timer);
    timer = window.setTimeout(drawNow, REST_MS);
  };
  return { draw, span: draw, move: () => chart.move(stage.at / 1e6) };
}

/**
 * Width left of the timeline's axis, so that both axes line up.
 * @param {HTMLElement} card
 * @param {Stage} stage
 */
function gutter(card, stage) {
  const axis = stage.main.querySelector(".axis");
  const box = card.querySelector(".chart-box");
  if (!axis || !box) return LEAST_MARGIN;
  return Math.max(LEAST_MARGIN, axis.getBoundingClientRect().left - box.getBoundingClientRect().left);
}

/**
 * Steps as corners of a staircase, thinned to what a screen can show.
 * @param {any} trace
 * @param {Run | undefined} run
 * @param {Span} span
 */
function filled(trace, run, span) {
  /** @type {number[]} */
  const x = [];
  /** @type {number[]} */
  const y = [];
  if (!run) return { x, y };
  const value = COLUMNS[/** @type {keyof typeof COLUMNS} */ (trace.meta.column)];
  const push = (/** @type {number} */ us, /** @type {number} */ now) => x.push(us / 1e6) && y.push(now);
  let before = Number.NaN;
  const stride = Math.max(1, Math.floor(run.count / MOST_POINTS));
  for (let s = 0; s < run.count; s += stride) {
    const now = value(run, s);
    const isGap = s > 0 && run.start_us[s] - run.end_us[s - 1] > 1;
    if (isGap && before) push(run.end_us[s - 1], 0);
    if (now !== before || isGap) push(run.start_us[s], now);
    before = now;
  }
  if (run.count) push(run.end_us[run.count - 1], run.end_us[run.count - 1] < span.t1 ? 0 : before);
  push(Math.max(span.t1, x.length ? x[x.length - 1] * 1e6 : 0), y[y.length - 1] ?? 0);
  return { x, y };
}

const COLUMNS = {
  slots: (/** @type {Run} */ run, /** @type {number} */ s) => run.steps.running[s] + run.steps.held[s],
  waiting: (/** @type {Run} */ run, /** @type {number} */ s) => run.steps.waiting[s],
  blocks: (/** @type {Run} */ run, /** @type {number} */ s) => run.facts.num_gpu_blocks - 1 - run.steps.free[s],
};
