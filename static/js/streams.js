/**
 * What each user sees of a run: the times at which tokens come, and the gaps between them.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {object} Gap
 * @property {number} request
 * @property {number} from token before [us]
 * @property {number} to token after [us]
 *
 * @typedef {object} Streams
 * @property {Map<number, number[]>} times of tokens by request [us]; a step that brings several counts once
 * @property {number} gaps
 * @property {number} late gaps longer than the SLO for a token
 * @property {Gap | null} worst
 */
import { schedule, update } from "./fold.js";
import { Kind } from "./kinds.js";
import { stepAt } from "./run.js";
import { firstFrame } from "./start.js";

/**
 * @param {Run} run
 * @returns {Streams}
 */
export function streamsOf(run) {
  const times = timesOf(run);
  const limit = limitOf(run);
  const found = { gaps: 0, late: 0, worst: /** @type {Gap | null} */ (null) };
  for (const [request, tokens] of times)
    for (let i = 1; i < tokens.length; i++) {
      const gap = tokens[i] - tokens[i - 1];
      found.gaps++;
      if (gap > limit) found.late++;
      if (!found.worst || gap > found.worst.to - found.worst.from)
        found.worst = { request, from: tokens[i - 1], to: tokens[i] };
    }
  return { times, ...found };
}

/**
 * Longest gap that the SLO allows [us].
 * @param {Run} run
 */
export const limitOf = (run) => 1000 * run.scenario.slo_tpot_ms;

/**
 * A row that samples brings its token at the step's end; async scheduling sees it later, and drops a row of a request that
 * has ended meanwhile.
 * @param {Run} run
 */
function timesOf(run) {
  /** @type {Map<number, number[]>} */
  const times = new Map();
  const frame = firstFrame(run);
  while (frame.position + 1 < run.count) {
    if (frame.position >= 0) update(frame);
    schedule(frame);
    const end = run.end_us[frame.position];
    for (const { request, samples } of frame.seats.values()) {
      if (!samples) continue;
      const tokens = times.get(request);
      if (tokens) tokens.push(end);
      else times.set(request, [end]);
    }
    if (frame.setting.isAsync) dropEnded(frame, times);
  }
  return times;
}

/**
 * @param {import("./frame.js").Frame} frame
 * @param {Map<number, number[]>} times
 */
function dropEnded({ run, position, lives }, times) {
  const { kind, request } = run.events;
  for (let e = position ? run.events_end[position - 1] : 0; e < run.events_end[position]; e++)
    if (kind[e] === Kind.FINISH && lives.get(request[e])?.samples) times.get(request[e])?.pop();
}

/**
 * Why a gap is as long as it is, as the end of a sentence.
 * @param {Run} run
 * @param {Gap} gap
 */
export function reasonOf(run, { request, from, to }) {
  const { kind, request: who, a } = run.events;
  /** @type {Map<number, number>} */
  const prompts = new Map();
  let isPreempted = false;
  const last = stepAt(run, to - 1);
  for (let s = Math.max(0, stepAt(run, from + 1)); s <= last; s++)
    for (let e = s ? run.events_end[s - 1] : 0; e < run.events_end[s]; e++) {
      if (kind[e] === Kind.PREEMPT && who[e] === request) isPreempted = true;
      const isPrompt = kind[e] === Kind.CHUNK && kind[e + 1] !== Kind.DRAFT && who[e] !== request;
      if (isPrompt) prompts.set(who[e], (prompts.get(who[e]) ?? 0) + a[e]);
    }
  if (isPreempted) return "for it was preempted and had to come back";
  const [longest] = [...prompts].sort((x, y) => y[1] - x[1]);
  if (!longest) return "for the steps took that long";
  const others = prompts.size > 1 ? ` and ${prompts.size - 1} more` : "";
  return `while ${longest[1].toLocaleString("en")} prompt tokens of request ${longest[0] + 1}${others} were computed`;
}

/**
 * How many other requests waited through most of a gap.
 * @param {Streams} streams
 * @param {Gap} gap
 */
export function waitedWith({ times }, { request, from, to }) {
  const most = 0.8 * (to - from);
  let count = 0;
  for (const [other, tokens] of times) {
    if (other === request) continue;
    const i = tokens.findIndex((time) => time > from);
    if (i > 0 && Math.min(tokens[i], to) - Math.max(tokens[i - 1], from) >= most) count++;
  }
  return count;
}
