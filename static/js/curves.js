/**
 * A load curve as it comes from /api/v1/sweep, line by line (app/sweep.py is the other side), and what it says in words.
 *
 * @typedef {{mean: number | null, low: number | null, high: number | null}} Band
 * @typedef {{curve: string, index: number, x: number, metrics: Record<string, Band>}} Point
 * @typedef {{x: {name: string, values: number[]}, seeds: number, scenarios: Record<string, Record<string, any>>}} Head
 * @typedef {{mean: number | null, low: number | null, high: number | null, after: number | null, before: number | null,
 *   crossed: number, above: number, below: number}} Crossing
 * @typedef {{peaks: Record<string, {x: number, goodput_rps: number} | null>, crossing: {level: number, curves: Record<string, Crossing>}}} Tail
 */
import { inner } from "./focus.js";

const UNITS = /** @type {Record<string, string>} */ ({
  rate: "req/s",
  concurrency: "users",
  trace_scale: "× the trace",
});
const TITLES = /** @type {Record<string, string>} */ ({
  rate: "Arrival rate [requests/s]",
  concurrency: "Users at a time",
  trace_scale: "Speed of the trace [×]",
});
const COLUMNS = [
  ["ttft_s.p50", "TTFT p50 s"],
  ["ttft_s.p95", "p95 s"],
  ["tpot_s.p50", "TPOT p50 s"],
  ["output_tokens_per_s", "tok/s"],
  ["goodput_rps", "good req/s"],
];
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** @param {string} name */
export const unitOf = (name) => UNITS[name] ?? "";

/** @param {string} name */
export const titleOf = (name) => TITLES[name] ?? name;

/** @param {number | null | undefined} value */
const short = (value) => (value === null || value === undefined ? "–" : SHORT.format(value));

export class Curves {
  constructor() {
    /** @type {Head | null} */
    this.head = null;
    /** @type {Point[]} */
    this.points = [];
    /** @type {Tail | null} */
    this.tail = null;
  }

  /**
   * Take a line of the stream; false if it says why there will be no more.
   * @param {any} line
   */
  push(line) {
    if (line.status) return false;
    if (line.metrics) this.points.push(line);
    else if (line.peaks) this.tail = line;
    else this.head = line;
    return true;
  }

  /** Points that are here, and that will be. */
  get progress() {
    const { head, points } = this;
    return { here: points.length, all: head ? head.x.values.length * Object.keys(head.scenarios).length : 0 };
  }

  /**
   * @param {string} run
   * @param {string} path
   */
  line(run, path) {
    const points = this.points.filter((point) => point.curve === run);
    return { x: points.map((point) => point.x), bands: points.map((point) => point.metrics[path]) };
  }

  /**
   * What the curve of a run says.
   * @param {string} run
   */
  words(run) {
    const { head, tail } = this;
    if (!head || !tail) return "";
    const { values, name } = head.x;
    const at = (/** @type {number} */ x) => `${short(x)} ${unitOf(name) || name}`;
    return `${peakInWords(tail.peaks[run], values, at)}; ${crossingInWords(tail.crossing.curves[run], tail.crossing.level, values, at)}.`;
  }
}

/**
 * @param {{x: number, goodput_rps: number} | null} peak
 * @param {number[]} values
 * @param {(x: number) => string} at
 */
function peakInWords(peak, values, at) {
  if (!peak) return "no request is within the SLO at any of these loads";
  const what = `${short(peak.goodput_rps)} good req/s`;
  if (values.length > 1 && peak.x === values[values.length - 1])
    return `goodput still rises at ${at(peak.x)} (${what})`;
  if (values.length > 1 && peak.x === values[0])
    return `goodput is highest at the lightest load, ${at(peak.x)} (${what})`;
  return `goodput peaks at ${at(peak.x)} (${what})`;
}

/**
 * @param {Crossing} crossing
 * @param {number} level [s]
 * @param {number[]} values
 * @param {(x: number) => string} at
 */
function crossingInWords(crossing, level, values, at) {
  const { mean, low, high, after, before, crossed, above, below } = crossing;
  const seeds = crossed + above + below;
  if (mean === null)
    return above
      ? `median TTFT is above ${level} s from ${at(values[0])} on`
      : `median TTFT stays below ${level} s up to ${at(values[values.length - 1])}`;
  const band = seeds > 1 ? `${short(low)} to ${short(high)}, ${crossed} of ${seeds} seeds; ` : "";
  return `median TTFT reaches ${level} s at ${at(mean)} (${band}on the line between the points at ${short(after)} and ${short(before)})`;
}

/**
 * The numbers as a table.
 * @param {Curves} curves
 * @param {(run: string) => string} labelOf
 */
export function tableOf(curves, labelOf) {
  const { head } = curves;
  const table = document.createElement("table");
  table.className = "curve-table";
  if (!head) return table;
  const runs = Object.keys(head.scenarios);
  const names = runs.flatMap((run) =>
    COLUMNS.map(([, title]) => (runs.length > 1 ? `${inner(labelOf(run))}: ${title}` : title)),
  );
  const top = table.createTHead().insertRow();
  for (const name of [titleOf(head.x.name), ...names]) top.append(cell("th", name, "col"));
  const body = table.createTBody();
  for (const [index, x] of head.x.values.entries()) {
    const row = body.insertRow();
    row.append(cell("th", short(x), "row"));
    for (const run of runs) {
      const point = curves.points.find((each) => each.curve === run && each.index === index);
      for (const [path] of COLUMNS) row.append(cell("td", short(point?.metrics[path].mean)));
    }
  }
  return table;
}

/**
 * @param {"th" | "td"} kind
 * @param {string} text
 * @param {string} [scope]
 */
function cell(kind, text, scope) {
  const node = document.createElement(kind);
  node.textContent = text;
  if (scope) node.setAttribute("scope", scope);
  return node;
}
