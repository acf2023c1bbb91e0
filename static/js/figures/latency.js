/** How TTFT, TPOT and the gaps between tokens are distributed, a curve for each run; percentiles and SLO marked. */
import { metricAt } from "../cards.js";
import { Chart } from "../chart.js";
import { part, tableOf, write } from "../dom.js";
import { problemOf } from "../lines.js";
import { Loader } from "../loader.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../run.js").Run} Run
 * @typedef {{ms: number[], share: number[], count: number}} Curve
 * @typedef {Record<string, Record<string, Curve>>} Curves by run and metric
 */

const REST_MS = 400;
const NARROW_PX = 640;
const SIGNS = { p50: 0.5, p95: 0.95, p99: 0.99 };
const METRICS = [
  { name: "ttft_s", title: "TTFT", slo: "slo_ttft_ms" },
  { name: "tpot_s", title: "TPOT", slo: "slo_tpot_ms" },
  { name: "itl_s", title: "ITL", slo: "" },
];

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new Latency(card, stage);
  return { show: () => figure.want(), draw: () => figure.draw() };
}

class Latency {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.chart = new Chart(card, stage);
    this.layout = this.chart.figure.layout;
    this.timer = 0;
    /** @type {Curves} */
    this.curves = {};
    this.loader = new Loader(
      (signal) => this.fetch(signal),
      (curves) => {
        this.curves = curves;
        this.draw();
      },
      (error) => stage.fail(error),
    );
  }

  /** Ask for the distributions of what the page shows, once that rests. */
  want() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.loader.want(), REST_MS);
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<Curves>}
   */
  async fetch(signal) {
    const response = await fetch(`${this.card.dataset.url}?${this.stage.state.pageQuery(null)}`, { signal });
    if (!response.ok) throw await problemOf(response);
    return response.json();
  }

  draw() {
    const { scene } = this.stage;
    if (!scene || !Object.keys(this.curves).length) return;
    const isNarrow = this.chart.box.clientWidth < NARROW_PX;
    this.chart.box.classList.toggle("stacked", isNarrow);
    const run = scene.runs[this.stage.state.run] ?? scene.runs.a;
    this.chart.figure.layout = laidOut(this.layout, run, this.curves, isNarrow);
    this.chart.draw((trace) => filled(trace, this.curves, scene.runs));
    const entries = Object.entries(scene.runs).filter(([name]) => this.curves[name]);
    const rows = entries.flatMap(([name, run]) => rowsOf(this.stage.labelOf(name), run, this.curves[name]));
    const heads = ["metric", "p50", "p90", "p95", "p99", "within the SLO"];
    part(this.card, ".table-scroll").replaceChildren(tableOf("Percentiles in milliseconds", heads, rows));
    write(part(this.card, "[data-twin]"), rows.map(wordsOf).join(" "));
  }
}

/**
 * @param {string} label
 * @param {Run} run
 * @param {Record<string, Curve>} curves
 */
function rowsOf(label, run, curves) {
  return METRICS.map(({ name, title, slo }) => {
    const percentiles = ["p50", "p90", "p95", "p99"].map((p) => inMs(metricAt(run.metrics, `${name}.${p}`)));
    const within = slo ? `${(100 * shareWithin(curves[name], run.scenario[slo])).toFixed(0)} %` : "–";
    return [`${title}, ${label.toLowerCase()}`, ...percentiles, within];
  });
}

/** @param {string[]} row */
const wordsOf = ([name, p50, , p95, p99, within]) =>
  `${name}: median ${p50} ms, p95 ${p95} ms, p99 ${p99} ms${within === "–" ? "" : `, ${within} within the SLO`}.`;

/** @param {number | null} seconds */
function inMs(seconds) {
  if (seconds === null) return "–";
  const ms = 1000 * seconds;
  const digits = ms < 100 ? 1 : 0;
  return ms.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * Share of the values that are at most so long.
 * @param {Curve} curve
 * @param {number} limit [ms]
 */
function shareWithin({ ms, share }, limit) {
  let within = 0;
  for (let i = 0; i < ms.length && ms[i] <= limit; i++) within = share[i];
  return within;
}

/**
 * @param {any} trace
 * @param {Curves} curves
 * @param {Record<string, Run>} runs
 */
function filled(trace, curves, runs) {
  const { run, metric, part: which } = trace.meta;
  const curve = curves[run]?.[metric];
  if (!curve || !runs[run]) return { x: [], y: [] };
  if (which === "curve") return { x: [curve.ms[0], ...curve.ms], y: [0, ...curve.share] };
  const signs = Object.entries(SIGNS).map(([p, share]) => ({
    share,
    s: metricAt(runs[run].metrics, `${metric}.${p}`),
  }));
  const known = signs.filter(({ s }) => s !== null);
  return { x: known.map(({ s }) => 1000 * Number(s)), y: known.map(({ share }) => share) };
}

/**
 * The layout with the SLOs in place, in one column where it is narrow; ticks at 1, 2 and 5 unless they would crowd.
 * @param {any} layout
 * @param {Run} run
 * @param {Curves} curves
 * @param {boolean} isNarrow
 */
function laidOut(layout, { scenario }, curves, isNarrow) {
  const copy = structuredClone(layout);
  for (const [i, { name, slo }] of METRICS.entries()) {
    const ends = Object.values(curves).flatMap((curve) => [curve[name].ms[0], curve[name].ms.at(-1)]);
    const all = [...ends, slo ? scenario[slo] : undefined].filter((ms) => ms > 0);
    const decades = Math.log10(Math.max(...all) / Math.min(...all));
    copy[`xaxis${i ? i + 1 : ""}`].dtick = decades > 1.5 ? 1 : "D2";
  }
  [scenario.slo_ttft_ms, scenario.slo_tpot_ms].forEach((slo, i) => {
    Object.assign(copy.shapes[i], { x0: slo, x1: slo });
  });
  if (isNarrow) stack(copy);
  return copy;
}

/** @param {any} layout */
function stack(layout) {
  for (const [i, key] of ["", "2", "3"].entries()) {
    layout[`xaxis${key}`].domain = [0, 1];
    layout[`yaxis${key}`].domain = [1 - (i + 1) / 3 + (i < 2 ? 0.09 : 0.02), 1 - i / 3];
    layout[`yaxis${key}`].showticklabels = true;
  }
}
