/** The roof of the GPU, and where the current step and its parts are under it. */
import { limitsOf, typicalContext } from "../batch.js";
import { Chart } from "../chart.js";
import { compositionOf } from "../composition.js";
import { part, tableOf, write } from "../dom.js";
import { inner } from "../focus.js";
import { ridgeOf, roofAt, worksOf } from "../roof.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../costs.js").Costs} Costs
 * @typedef {import("../roof.js").Work} Work
 */

const DRAW_MS = 120;
const SPAN = [0.1, 10_000];
const TRAIL = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];
const NAMED = new Set([1, 8, 64, 512]);
/** @type {{name: "matmul" | "attention" | "step", letter: string, words: string}[]} the last one's shape is the lowest */
const POINTS = [
  { name: "matmul", letter: "M", words: "matmuls" },
  { name: "attention", letter: "A", words: "attention" },
  { name: "step", letter: "", words: "whole step" },
];

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new Roofline(card, stage);
  return {
    draw: () => figure.draw(),
    costs: () => figure.draw(),
    move: () => figure.move(),
    readings: () => figure.readings(),
  };
}

class Roofline {
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
  }

  /** Formulas of the run in focus. @returns {Costs | undefined} */
  get costs() {
    return this.stage.costs.runs[this.stage.state.run];
  }

  draw() {
    this.timer ||= window.setTimeout(() => this.drawNow(), DRAW_MS);
  }

  drawNow() {
    this.timer = 0;
    const { costs } = this;
    if (!costs) return;
    this.chart.figure.layout = laidOut(this.layout, costs);
    this.chart.draw((trace) => filled(trace, this.stage.costs.runs, costs));
    this.describe();
    this.stage.dispatchEvent(new Event("readings"));
  }

  move() {
    this.chart.follow(() => this.places());
    if (!this.stage.playhead.isPlaying) this.describe();
  }

  /** Work of the step at the playhead; null: none runs, or its composition is not here yet. */
  works() {
    const { run, at } = this.stage;
    const s = this.stage.step();
    if (!run?.hasBlocks || s < 0 || !this.costs || (at > run.end_us[s] && s + 1 < run.count)) return null;
    return worksOf(this.costs, compositionOf(run, s));
  }

  /** Where the points of the current step are. */
  places() {
    const works = this.works();
    const { ink, card } = this.stage.palette.token;
    return POINTS.toReversed().map(({ name, letter }) => {
      const work = works?.[name];
      if (!work || !(work.flop > 0 && work.seconds > 0)) return { visible: false };
      const isWhole = name === "step";
      return {
        xanchor: Math.max(SPAN[0], work.flop / work.bytes),
        yanchor: work.flop / work.seconds,
        visible: true,
        fillcolor: isWhole ? ink : card,
        line: { color: ink, width: 1.5 },
        label: { text: letter, font: { color: isWhole ? card : ink, size: 11, weight: 700 } },
      };
    });
  }

  /**
   * Of the matrix products of the step at the playhead: how many FLOP for each byte, which share of the peak they reach,
   * whether computing is their limit. Null where no step is shown.
   * @returns {Record<string, number | null>}
   */
  readings() {
    const { costs } = this;
    if (!costs) return {};
    const works = this.works();
    const matmul = works?.matmul.flop ? works.matmul : null;
    const ridge = ridgeOf(costs);
    const intensity = matmul && matmul.flop / matmul.bytes;
    return {
      ridge,
      intensity,
      attention_intensity: works?.attention.flop ? works.attention.flop / works.attention.bytes : null,
      is_compute_bound: intensity && Number(intensity >= ridge),
      peak_share: matmul && matmul.flop / matmul.seconds / costs.rates.peak_flops,
      step_s: works?.step.seconds ?? null,
    };
  }

  /** What it shows, in words, and the numbers of the step. */
  describe() {
    const { costs, card } = this;
    if (!costs) return;
    const works = this.works();
    const label = this.stage.labelOf(this.stage.state.run);
    write(part(card, "[data-focused]"), inner(label));
    write(part(card, ".verdict"), sentenceOf(costs, works));
    const step = `${label}, step ${this.stage.run ? this.stage.run.first + this.stage.step() : "–"}`;
    const heads = ["part", "GFLOP", "GB", "FLOP/byte", "TFLOP/s", "of the roof"];
    const rows = works ? POINTS.map(({ name, words }) => rowOf(words, works[name], costs)) : [];
    part(card, ".table-scroll").replaceChildren(tableOf(`Work of each GPU. ${step}`, heads, rows));
    const told = rows.map(
      ([name, , , intensity, rate, share]) => `${name} ${intensity} FLOP/byte at ${rate} TFLOP/s, ${share}`,
    );
    write(part(card, "[data-twin]"), works ? `${step}: ${told.join("; ")}.` : `${label}: no step is shown.`);
  }
}

/**
 * @param {Costs} costs
 * @param {{matmul: Work} | null} works
 */
function sentenceOf(costs, works) {
  const ridge = ridgeOf(costs);
  const roof = `${costs.names.gpu}: from ${ridge.toFixed(0)} FLOP per byte on, computing is the limit; below, reading is.`;
  if (!works?.matmul.flop) return roof;
  const own = works.matmul.flop / works.matmul.bytes;
  const side = own < ridge ? "it waits for memory" : "it is bound by compute";
  return `${roof} The matmuls of this step do ${short(own)}: ${side}.`;
}

/**
 * @param {string} name
 * @param {Work} work
 * @param {Costs} costs
 */
function rowOf(name, { flop, bytes, seconds }, costs) {
  if (!(seconds > 0)) return [name, "0", "0", "–", "–", "–"];
  const rate = flop / seconds;
  const share = `${((100 * rate) / roofAt(costs, flop / bytes)).toFixed(0)} %`;
  const numbers = [flop / 1e9, bytes / 1e9, flop / bytes, rate / 1e12].map((value) => short(value));
  return [name, ...numbers, share];
}

/** @param {number} value */
const short = (value) => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3));

/**
 * @param {any} trace
 * @param {Record<string, Costs>} runs
 * @param {Costs} focused
 */
function filled(trace, runs, focused) {
  const { run, part: which } = trace.meta;
  if (which === "trail") return trailOf(focused);
  const costs = runs[run];
  if (!costs) return { x: [], y: [] };
  const x = [SPAN[0], ridgeOf(costs), SPAN[1]];
  return { x, y: x.map((intensity) => roofAt(costs, intensity)) };
}

/**
 * Where the matmuls go as the batch grows.
 * @param {Costs} costs
 */
function trailOf(costs) {
  if (costs.kind === "unit") return { x: [], y: [], text: [] };
  const context = typicalContext(costs.scenario);
  const wall = limitsOf(costs, context).memory;
  const sizes = TRAIL.filter((batch) => batch <= wall);
  const works = sizes.map((batch) => {
    const step = { tokens: batch, sampled: batch, decode_context: batch * context, running: batch };
    return worksOf(costs, step).matmul;
  });
  return {
    x: works.map(({ flop, bytes }) => flop / bytes),
    y: works.map(({ flop, seconds }) => flop / seconds),
    text: sizes.map((batch) => (NAMED.has(batch) ? String(batch) : "")),
  };
}

/**
 * @param {any} layout
 * @param {Costs} costs
 */
function laidOut(layout, costs) {
  const copy = structuredClone(layout);
  copy.xaxis.range = SPAN.map(Math.log10);
  copy.yaxis.range = [Math.log10(roofAt(costs, SPAN[0]) / 2), Math.log10(costs.rates.peak_flops * 2.5)];
  const ridge = ridgeOf(costs);
  const line = { type: "line", x0: ridge, x1: ridge, y0: 0, y1: 1, line: { width: 1, dash: "1px,3px" } };
  copy.shapes.push({ ...line, xref: "x", yref: "paper", layer: "below" });
  copy.annotations.push({
    text: "ridge",
    x: Math.log10(ridge),
    xref: "x",
    y: 0,
    yref: "paper",
    xanchor: "left",
    yanchor: "bottom",
    xshift: 2,
    showarrow: false,
    font: { size: 10 },
  });
  return copy;
}
