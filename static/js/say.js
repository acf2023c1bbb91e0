/** The description twin: a summary of the scene for those who do not see it, and one polite line that says what changed. */

import { Frames } from "./frames.js";
import { stepAt } from "./run.js";

const LIVE_DELAY_MS = 700;

export class Say {
  /**
   * @param {HTMLElement} scene
   * @param {HTMLElement} live
   */
  constructor(scene, live) {
    this.scene = scene;
    this.live = live;
    this.timer = 0;
    /** @type {Record<string, Frames>} */
    this.frames = {};
  }

  /** @param {Record<string, import("./run.js").Run>} runs */
  show(runs) {
    this.frames = Object.fromEntries(Object.entries(runs).map(([name, run]) => [name, new Frames(run)]));
  }

  /**
   * @param {number} at [us]
   * @param {(run: string) => string} labelOf
   */
  describe(at, labelOf) {
    const sentences = Object.entries(this.frames).map(([name, frames]) => {
      const s = stepAt(frames.run, at);
      return sceneOf(labelOf(name), frames.run, s, s < 0 ? new Map() : frames.at(s));
    });
    this.scene.textContent = [`At ${(at / 1e6).toFixed(2)} seconds.`, ...sentences].join(" ");
  }

  /**
   * Announce once things have calmed down; `text` is called then.
   * @param {() => string} text
   */
  announce(text) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.live.textContent = text();
    }, LIVE_DELAY_MS);
  }
}

/**
 * One run at one step, in words.
 * @param {string} label
 * @param {import("./run.js").Run} run
 * @param {number} s position of the step, -1 before the first
 * @param {Map<number, import("./frames.js").Seat>} seats
 */
function sceneOf(label, run, s, seats) {
  if (s < 0) return `${label}: nothing runs yet.`;
  const phases = { prefill: 0, decode: 0, held: 0 };
  for (const seat of seats.values()) phases[seat.phase]++;
  const { waiting, free } = run.steps;
  const held = phases.held ? `, ${phases.held} done but held` : "";
  const slots = run.scenario.max_num_seqs;
  const numbers = [...seats]
    .sort((x, y) => x[0] - y[0])
    .map(([slot, seat]) => `slot ${slot + 1} request ${seat.request + 1} ${seat.phase}`);
  return (
    `${label}, step ${run.first + s}: ${phases.decode} decoding, ${phases.prefill} in prefill${held}, ` +
    `${Math.max(0, slots - seats.size)} of ${slots} slots empty, ${waiting[s]} waiting, ${free[s]} KV blocks free. ` +
    `${numbers.slice(0, 16).join(", ")}.`
  );
}
