/**
 * What the batch curve draws: throughput above, the parts of a step below, up to the wall of memory; and a flag where
 * each limit sets in.
 *
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {import("./batch.js").Limits} Limits
 * @typedef {ReturnType<typeof partsAt> & {tokens_s: number}} Point
 * @typedef {{points: Point[], one: Point, at: (batch: number) => Point}} Curve points from one user to the wall
 * @typedef {object} Scene
 * @property {Record<string, Curve>} curves by run
 * @property {Curve} curve of the run in focus
 * @property {Limits} limits
 * @property {number} slo_ms
 * @property {number} most where the x axis ends
 * @property {number} width of the chart [px]
 * @property {number} height
 */
import { batches, partsAt, pointAt } from "./batch.js";

export const MARGIN = Object.freeze({ left: 44, right: 10 });
const MOST_SHOWN = 4096;
const LEAST_SHOWN = 8;
const NARROW_PX = 420;
/** Room above the curves, so that what leaves them behind is seen. */
const [ABOVE_TOKENS, ABOVE_STEP] = [1.7, 1.15];
const FLAG_PX = 14;
const TITLE_PX = 18;
const FREE_PX = 110;

/**
 * @param {Costs} costs
 * @param {number} context
 * @param {number} wall
 * @param {number} most
 * @returns {Curve}
 */
export function curveOf(costs, context, wall, most) {
  const at = (/** @type {number} */ batch) => ({
    ...partsAt(costs, batch, context),
    tokens_s: pointAt(costs, batch, context).tokens_s,
  });
  const last = Math.min(wall, most);
  return { points: last ? batches(last).map(at) : [], one: at(1), at };
}

/**
 * Where the x axis ends: a power of two a little beyond the walls, so that a wall is seen to move; very far walls are
 * left out. What the reader has chosen stays on it.
 * @param {Limits[]} all of the runs
 * @param {number | null} users that are chosen
 */
export function widest(all, users) {
  const walls = all.map(({ memory }) => memory);
  const far = all.flatMap(({ kv, compute, slo, slots }) => [kv ?? 0, compute ?? 0, slo ?? 0, slots]);
  const near = walls.every((wall) => wall <= MOST_SHOWN / 1.04);
  const most = 1.04 * Math.max(LEAST_SHOWN, ...(near ? walls : far));
  return Math.min(MOST_SHOWN, 2 ** Math.ceil(Math.log2(Math.max(most, users ?? 1))));
}

/**
 * @param {any} trace
 * @param {Scene} scene
 * @param {Record<string, string>} token
 */
export function filled(trace, scene, token) {
  const { run, part, colour } = trace.meta;
  const curve = run === "focus" ? scene.curve : scene.curves[run];
  if (!curve) return { x: [], y: [] };
  if (part === "ideal") return idealOf(curve, scene.most);
  if (part === "beyond") return beyondOf(curve, scene.most, trace.meta.column);
  const { points } = curve;
  const y = points.map(SIZES[part]);
  const customdata = points.map(OWN[part] ?? SIZES.step);
  return { x: points.map(({ batch }) => batch), y, customdata, ...(trace.fill ? { fillcolor: token[colour] } : {}) };
}

/** Heights of the lines: parts are stacked. @type {Record<string, (point: Point) => number>} */
const SIZES = {
  tokens: ({ tokens_s }) => tokens_s,
  weights: ({ weights_s }) => 1000 * weights_s,
  kv: ({ weights_s, kv_s }) => 1000 * (weights_s + kv_s),
  step: ({ step_s }) => 1000 * step_s,
  rest: ({ step_s }) => 1000 * step_s,
  compute: ({ compute_s }) => 1000 * compute_s,
};

/** What the stacked parts are alone. @type {Record<string, (point: Point) => number>} */
const OWN = {
  kv: ({ kv_s }) => 1000 * kv_s,
  rest: ({ step_s, weights_s, kv_s }) => 1000 * (step_s - weights_s - kv_s),
};

/**
 * A step that takes as long for many as for one.
 * @param {Curve} curve
 * @param {number} most
 */
const idealOf = ({ one }, most) => ({ x: [1, most], y: [one.tokens_s, most * one.tokens_s] });

/**
 * Beyond the wall nothing grows but the queue.
 * @param {Curve} curve
 * @param {number} most
 * @param {string} column
 */
function beyondOf({ points }, most, column) {
  const last = points.at(-1);
  if (!last) return { x: [], y: [] };
  const y = column === "tokens_s" ? last.tokens_s : 1000 * last.step_s;
  return { x: [last.batch, most], y: [y, y] };
}

/**
 * The layout with the limits of a scene in it.
 * @param {any} layout
 * @param {Scene} scene
 * @param {Record<string, string>} token
 */
export function laidOut(layout, scene, token) {
  const { limits, most, width, height, curve } = scene;
  const copy = structuredClone(layout);
  const flags = flagsOf(scene);
  const rows = Math.max(width < NARROW_PX ? 2 : 1, ...flags.map(({ row }) => row + 1));
  copy.margin = { ...copy.margin, l: MARGIN.left, r: MARGIN.right, t: TITLE_PX + rows * FLAG_PX };
  const points = Object.values(scene.curves).flatMap((each) => each.points);
  const top = Math.max(curve.one.tokens_s, ...points.map(({ tokens_s }) => tokens_s)) * ABOVE_TOKENS;
  copy.yaxis.range = [0, top];
  copy.yaxis2.range = [0, Math.max(...[curve.one, ...points].map(({ step_s }) => 1000 * step_s)) * ABOVE_STEP];
  for (const axis of [copy.xaxis, copy.xaxis2])
    Object.assign(axis, { range: [0, most], dtick: most / (width < NARROW_PX ? 4 : 8) });
  if (limits.memory < most) copy.shapes.push(wallOf(limits.memory, most, token.idle));
  const plot = height - copy.margin.t - copy.margin.b;
  for (const flag of flags) copy.shapes.push(poleOf(flag, 1 + (TITLE_PX + flag.row * FLAG_PX) / plot));
  copy.annotations.push(...flags.map((flag) => labelOf(flag)), freeOf(top / curve.one.tokens_s, scene));
  for (const note of copy.annotations) note.bgcolor = token.card;
  return copy;
}

/**
 * @param {number} wall
 * @param {number} most
 * @param {string} fillcolor
 */
const wallOf = (wall, most, fillcolor) => ({
  ...{ type: "rect", xref: "x", yref: "paper", x0: wall, x1: most, y0: 0, y1: 1 },
  ...{ fillcolor, opacity: 0.6, layer: "below", line: { width: 0 } },
});

/**
 * @typedef {object} Flag
 * @property {string} name
 * @property {string} text
 * @property {number} batch
 * @property {"left" | "right"} side of its pole
 * @property {number} row from below
 */

/**
 * Limits in reach, each with its words in a row where nothing else stands.
 * @param {Scene} scene
 * @returns {Flag[]}
 */
function flagsOf({ limits, slo_ms, most, width }) {
  const texts = {
    kv: (/** @type {string} */ n) => `KV = weights at ${n}`,
    compute: (/** @type {string} */ n) => `compute takes over at ${n}`,
    slo: (/** @type {string} */ n) => `${slo_ms} ms a token at ${n}`,
    memory: (/** @type {string} */ n) => `no memory beyond ${n}`,
  };
  const names = /** @type {(keyof typeof texts)[]} */ (Object.keys(texts));
  const reach = Math.min(limits.memory, most);
  const found = names.filter((name) => limits[name] !== null && Number(limits[name]) <= reach);
  const marks = found.map((name) => {
    const batch = Number(limits[name]);
    return { name, batch, text: texts[name](batch.toLocaleString("en")) };
  });
  marks.sort((x, y) => x.batch - y.batch);
  return placed(marks, most, width - MARGIN.left - MARGIN.right);
}

/**
 * @param {{name: string, batch: number, text: string}[]} marks
 * @param {number} most
 * @param {number} plot width [px]
 * @returns {Flag[]}
 */
function placed(marks, most, plot) {
  /** Where each row is taken up to [px]. @type {[number, number][][]} */
  const rows = [];
  return marks.map((mark) => {
    const at = (mark.batch / most) * plot;
    const size = 5.6 * mark.text.length + 8;
    const side = at + size <= plot + MARGIN.right ? "right" : "left";
    const [from, to] = side === "right" ? [at, at + size] : [at - size, at];
    const free = rows.findIndex((row) => row.every(([x0, x1]) => to < x0 || from > x1));
    const row = free < 0 ? rows.length : free;
    rows[row] = [...(rows[row] ?? []), [from, to]];
    return { ...mark, side: /** @type {"left" | "right"} */ (side), row };
  });
}

/** @type {Record<string, string>} */
const DASHES = { kv: "4px,3px", compute: "1px,3px", memory: "solid", slo: "8px,3px,2px,3px" };

/**
 * @param {Flag} flag
 * @param {number} y1
 */
const poleOf = ({ name, batch }, y1) => ({
  ...{ type: "line", xref: "x", yref: "paper", x0: batch, x1: batch, y0: 0, y1, layer: "above" },
  line: { width: name === "memory" ? 2 : 1.2, dash: DASHES[name] },
});

/** @param {Flag} flag */
const labelOf = ({ text, batch, side, row }) => ({
  ...{ text, showarrow: false, font: { size: 10.5 }, borderpad: 0 },
  ...{ x: batch, xref: "x", xanchor: side === "right" ? "left" : "right", xshift: side === "right" ? 2 : -2 },
  ...{ y: 1, yref: "paper", yanchor: "bottom", yshift: TITLE_PX - 1 + row * FLAG_PX },
});

/**
 * Name of the straight line: right of where it leaves the panel, or left above it where the wall is in the way.
 * @param {number} leaves batch size there
 * @param {Scene} scene
 */
function freeOf(leaves, { limits, most, width }) {
  const look = { text: "if users were free", showarrow: false, font: { size: 10.5 }, xref: "x", yref: "y domain" };
  const room = (FREE_PX / (width - MARGIN.left - MARGIN.right)) * most;
  const x = Math.min(0.7 * leaves, 0.45 * most);
  if (leaves + room < Math.min(limits.memory, most) || x < room)
    return { ...look, x: leaves, xanchor: "left", xshift: 6, y: 1, yanchor: "top" };
  return { ...look, x, xanchor: "right", xshift: -4, y: x / leaves, yanchor: "bottom" };
}
