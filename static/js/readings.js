/**
 * What the words beside a stage can quote of it, by paths: `a.metrics.ttft_s.p50` of a run, `a.now.waiting` at the
 * playhead, `asked.num_requests` of what the controls say, `memory.a.needed_bytes` of a figure. Tasks are conditions on
 * them: `a.metrics.preemptions > 0 and asked.num_requests >= 20`.
 *
 * @typedef {import("./stage.js").Stage} Stage
 */

/**
 * @param {Stage} stage
 * @param {string} path one, or two with ` / ` or ` - ` between them
 * @returns {number | null}
 */
export function lookUp(stage, path) {
  for (const [sign, join] of JOINS) {
    const [left, right] = path.split(sign);
    if (right === undefined) continue;
    const x = lookUp(stage, left);
    const y = lookUp(stage, right);
    return x === null || y === null ? null : join(x, y);
  }
  const number = Number(path);
  return Number.isNaN(number) ? quoted(stage, path.trim()) : number;
}

/** @type {[string, (x: number, y: number) => number | null][]} */
const JOINS = [
  [" / ", (x, y) => (y ? x / y : null)],
  [" - ", (x, y) => x - y],
];

/**
 * @param {Stage} stage
 * @param {string} path
 * @returns {number | null}
 */
function quoted(stage, path) {
  const [first, ...rest] = path.split(".");
  const name = rest.join(".");
  if (first === "asked") return toNumber(stage.state.query.get(name));
  const run = stage.scene?.runs[first];
  if (run && rest[0] === "now") return nowOf(stage, first, rest[1]);
  if (run) return toNumber(rest.reduce((/** @type {any} */ value, key) => value?.[key], run));
  return toNumber(stage.views.get(first)?.readings?.()[name]);
}

/**
 * A column of the step at the playhead; `t_s` is the time, `step` its number.
 * @param {Stage} stage
 * @param {string} name of the run
 * @param {string} column
 */
function nowOf(stage, name, column) {
  const run = stage.scene?.runs[name];
  const s = stage.step(name);
  if (column === "t_s") return stage.at / 1e6;
  if (!run || s < 0) return column === "step" ? -1 : null;
  return column === "step" ? run.first + s : toNumber(run.steps[column]?.[s]);
}

/** @param {any} value */
const toNumber = (value) => (value === null || value === undefined || value === "" ? null : Number(value));

/** @type {Record<string, (x: number, y: number) => boolean>} */
const SIGNS = {
  ">=": (x, y) => x >= y,
  "<=": (x, y) => x <= y,
  ">": (x, y) => x > y,
  "<": (x, y) => x < y,
  "=": (x, y) => x === y,
};

/**
 * Whether a condition holds; what is not known does not.
 * @param {Stage} stage
 * @param {string} condition
 */
export const holds = (stage, condition) =>
  condition.split(" and ").every((part) => {
    const [, left, sign, right] = part.match(/^(.+?) (>=|<=|>|<|=) (.+)$/) ?? [];
    const x = left ? lookUp(stage, left) : null;
    const y = right ? lookUp(stage, right) : null;
    return x !== null && y !== null && SIGNS[sign](x, y);
  });
