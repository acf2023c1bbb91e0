/**
 * What the batch curve draws: curves up to the wall and beyond it, and a line where each limit sets in.
 *
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {import("./batch.js").Limits} Limits
 * @typedef {{batch: number, step_s: number, tokens_s: number}} Point
 * @typedef {{fits: Point[], beyond: Point[], at: (batch: number) => Point}} Curve
 */
import { batches, MOST, pointAt } from "./batch.js";

const LEAST = 64;

/** @type {{name: "kv" | "compute" | "memory" | "slo" | "slots", sign: string, words: (limits: Limits, costs: Costs) => string}[]} */
export const LIMITS = [
  { name: "kv", sign: "KV = weights", words: () => "reading the KV cache takes as long as reading the weights" },
  { name: "compute", sign: "compute", words: () => "computing takes over from reading" },
  { name: "memory", sign: "memory full", words: () => "the most that fit into KV memory: the wall" },
  {
    name: "slo",
    sign: "SLO",
    words: (_, { scenario }) => `a token takes ${scenario.slo_tpot_ms} ms, the limit for TPOT`,
  },
  { name: "slots", sign: "slots", words: () => "slots there are (max_num_seqs): no batch is larger" },
];

/**
 * @param {Costs} costs
 * @param {number} context
 * @param {number} wall
 * @param {number} most
 * @returns {Curve}
 */
export function curveOf(costs, context, wall, most) {
  const at = (/** @type {number} */ batch) => pointAt(costs, batch, context);
  const last = Math.min(wall, most);
  return {
    fits: last ? batches(last).map(at) : [],
    beyond: batches(most)
      .filter((batch) => batch >= last)
      .map(at),
    at,
  };
}

/**
 * @param {any} trace
 * @param {Record<string, Curve>} curves
 * @param {string} focus
 */
export function filled(trace, curves, focus) {
  const { run, column, part: which } = trace.meta;
  const curve = curves[run === "focus" ? focus : run];
  if (!curve) return { x: [], y: [] };
  const points = which === "ideal" ? idealOf(curve) : curve[/** @type {"fits" | "beyond"} */ (which)];
  return {
    x: points.map((point) => point.batch),
    y: points.map((point) => (column === "step_ms" ? 1000 * point.step_s : point.tokens_s)),
  };
}

/**
 * A step that takes as long for many as for one.
 * @param {Curve} curve
 * @returns {Point[]}
 */
function idealOf(curve) {
  const one = curve.at(1);
  const most = curve.beyond.at(-1)?.batch ?? 1;
  return [one, { batch: most, step_s: one.step_s, tokens_s: one.tokens_s * most }];
}

/**
 * The layout with the limits of a run in it.
 * @param {any} layout
 * @param {Limits} limits
 * @param {number} most
 * @param {Record<string, string>} token
 */
export function laidOut(layout, limits, most, token) {
  const copy = structuredClone(layout);
  const range = [-0.06, Math.log10(most) + 0.02];
  copy.xaxis.range = range;
  copy.xaxis2.range = range;
  const paper = { xref: "x", yref: "paper", y0: 0, y1: 1 };
  if (limits.memory < most) {
    const wall = { type: "rect", x0: Math.max(1, limits.memory), x1: most * 1.05, fillcolor: token.idle };
    copy.shapes.push({ ...paper, ...wall, opacity: 0.55, layer: "below", line: { width: 0 } });
  }
  for (const { name, sign } of LIMITS) {
    const batch = limits[name];
    if (batch === null || batch > most || batch < 1) continue;
    const width = name === "memory" ? 2 : 1;
    copy.shapes.push({
      ...paper,
      type: "line",
      x0: batch,
      x1: batch,
      line: { width, dash: DASHES[name] },
      layer: "below",
    });
    copy.annotations.push(signOf(sign, batch));
  }
  return copy;
}

const DASHES = { kv: "4px,3px", compute: "solid", memory: "solid", slo: "1px,2px", slots: "8px,3px,2px,3px" };

/**
 * Name of a limit, along its line.
 * @param {string} text
 * @param {number} batch
 */
const signOf = (text, batch) => ({
  text,
  x: Math.log10(batch),
  xref: "x",
  y: 0.02,
  yref: "paper",
  textangle: -90,
  xanchor: "right",
  yanchor: "bottom",
  xshift: 1,
  showarrow: false,
  font: { size: 10 },
});

/**
 * Where the x axis ends: past the limits of all runs, as far as they are in reach.
 * @param {Limits[]} all
 */
export function widest(all) {
  const reached = all.flatMap(({ kv, compute, memory, slo, slots }) => [kv, compute, memory, slo, slots]);
  const most = Math.max(LEAST, ...reached.map((batch) => (batch === null || batch > 8192 ? 0 : batch * 1.6)));
  return Math.min(MOST, 2 ** Math.ceil(Math.log2(most)));
}
