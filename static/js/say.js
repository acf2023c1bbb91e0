/** The description twin: a summary of the scene for those who do not see it, and one polite line that says what changed. */

import { scenarioAt } from "./fork.js";

const LIVE_DELAY_MS = 700;

export class Say {
  /**
   * @param {HTMLElement} scene
   * @param {HTMLElement} live
   * @param {import("./stage.js").Stage} stage
   */
  constructor(scene, live, stage) {
    this.scene = scene;
    this.live = live;
    this.stage = stage;
    this.timer = 0;
  }

  describe() {
    const { stage } = this;
    const sentences = Object.entries(stage.scene?.runs ?? {}).map(([name, run]) =>
      sceneOf(stage.labelOf(name), run, stage.step(name), stage.frame(name)?.seats ?? new Map()),
    );
    this.scene.textContent = [`At ${(stage.at / 1e6).toFixed(2)} seconds.`, ...sentences].join(" ");
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
 * @param {Map<number, import("./frame.js").Seat>} seats
 */
function sceneOf(label, run, s, seats) {
  if (s < 0) return `${label}: nothing runs yet.`;
  const phases = { prefill: 0, decode: 0, held: 0 };
  for (const seat of seats.values()) phases[seat.phase]++;
  const { waiting, free } = run.steps;
  const held = phases.held ? `, ${phases.held} done but held` : "";
  const slots = scenarioAt(run, s).max_num_seqs;
  const numbers = [...seats]
    .sort((x, y) => x[0] - y[0])
    .map(([slot, seat]) => `slot ${slot + 1} request ${seat.request + 1} ${seat.phase}`);
  return (
    `${label}, step ${run.first + s}: ${phases.decode} decoding, ${phases.prefill} in prefill${held}, ` +
    `${Math.max(0, slots - seats.size)} of ${slots} slots empty, ${waiting[s]} waiting, ${free[s]} KV blocks free. ` +
    `${numbers.slice(0, 16).join(", ")}.`
  );
}
