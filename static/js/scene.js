/**
 * What the page draws: the runs, whole or a window of them, and for a long run its course.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./overview.js").Courses} Courses
 * @typedef {object} Scene
 * @property {Record<string, Run>} runs
 * @property {{t0: number, t1: number}} span shown time [us]
 * @property {{t0: number, t1: number}} here time of the steps that are here [us]
 * @property {number} end last time there is [us]
 * @property {Courses | null} courses of a run too long to draw whole
 * @property {boolean} hasBlocks whether the runs came with block ids
 */
import { readLines } from "./lines.js";
import { fetchCourses, stepsOf } from "./overview.js";
import { RunReader } from "./run.js";

/** @typedef {{steps: number, requests: number}} Most what is drawn whole */

/**
 * @param {import("./state.js").State} state
 * @param {{steps: string, overview: string}} urls
 * @param {Most} most
 * @param {{t0: number, t1: number} | null} window set once the run is known to be long
 * @param {AbortSignal} signal
 * @returns {Promise<Scene>}
 */
export async function fetchScene(state, urls, most, window, signal) {
  const whole = () => fetchRuns(state, urls.steps, () => `&blocks=0&count=${most.steps}`, signal);
  if (!window) {
    const runs = await whole();
    if (!Object.values(runs).some((run) => isLong(run, most))) return wholeScene(runs);
  }
  const courses = await fetchCourses(`${urls.overview}?${state.pageQuery(null)}`, signal);
  if (!courses.is_long) return wholeScene(await whole());
  const span = within(window ?? { t0: 0, t1: FIRST_US }, courses.end_s * 1e6);
  const range = (/** @type {string} */ name) => {
    const { from, count } = stepsOf(courses, name, span);
    return `&blocks=0&from=${from}&count=${count}`;
  };
  const runs = await fetchRuns(state, urls.steps, range, signal);
  return { runs, span, here: span, end: courses.end_s * 1e6, courses, hasBlocks: false };
}

/**
 * The same steps again, with block ids.
 * @param {Scene} scene
 * @param {import("./state.js").State} state
 * @param {{steps: string}} urls
 * @param {AbortSignal} signal
 * @returns {Promise<Scene>}
 */
export async function fetchBlocks(scene, state, urls, signal) {
  const range = (/** @type {string} */ name) => {
    const { first, count } = scene.runs[name];
    return `&blocks=1&from=${first}&count=${Math.max(1, count)}`;
  };
  return { ...scene, runs: await fetchRuns(state, urls.steps, range, signal), hasBlocks: true };
}

const FIRST_US = 20e6;

/**
 * @param {Run} run
 * @param {Most} most
 */
const isLong = (run, most) => run.metrics.steps > most.steps || run.requests.prompt.length > most.requests;

/**
 * @param {Record<string, Run>} runs
 * @returns {Scene}
 */
function wholeScene(runs) {
  const end = Math.max(1e3, ...Object.values(runs).map((run) => (run.count ? run.end_us[run.count - 1] : 0)));
  const whole = { t0: 0, t1: end };
  return { runs, span: whole, here: whole, end, courses: null, hasBlocks: false };
}

/**
 * @param {{t0: number, t1: number}} span
 * @param {number} end
 */
export function within({ t0, t1 }, end) {
  const length = Math.min(t1 - t0, end);
  const start = Math.min(Math.max(0, t0), end - length);
  return { t0: start, t1: start + length };
}

/**
 * @param {import("./state.js").State} state
 * @param {string} url
 * @param {(name: string) => string} range
 * @param {AbortSignal} signal
 * @returns {Promise<Record<string, Run>>}
 */
async function fetchRuns(state, url, range, signal) {
  const dialect = state.kept.get("dialect");
  const terms = dialect ? `&dialect=${dialect}` : "";
  const entries = await Promise.all(
    state.runs.map(async (name) => {
      const reader = new RunReader();
      await readLines(`${url}?${state.scenarioQuery(name)}${range(name)}${terms}`, signal, (line) => reader.push(line));
      return /** @type {[string, Run]} */ ([name, reader.finish()]);
    }),
  );
  return Object.fromEntries(entries);
}
