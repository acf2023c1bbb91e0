/**
 * The state at any step of a run, folded from its events; checkpoints make seeking short, and their bytes are bounded.
 */
import { schedule, update } from "./fold.js";
import { firstFrame } from "./start.js";

const EVERY = 128;
const MOST_BYTES = 16e6;

export class Replay {
  /**
   * @param {import("./run.js").Run} run
   * @param {number} [mostBytes] that checkpoints take, about
   */
  constructor(run, mostBytes = MOST_BYTES) {
    this.run = run;
    this.mostBytes = mostBytes;
    this.start = firstFrame(run);
    /** Frames at every so many steps from the first on, as far as has been played. @type {import("./frame.js").Frame[]} */
    this.checkpoints = [];
    this.every = EVERY;
    this.bytes = 0;
    this.frame = this.start.copy();
  }

  /**
   * State after the step's schedule(). It is the replay's own and moves on with the next call.
   * @param {number} s position in the run's columns
   * @returns {import("./frame.js").Frame}
   */
  at(s) {
    if (!(s >= 0 && s < this.run.count)) throw new RangeError(`step ${s} of ${this.run.count}`);
    const index = Math.min(Math.floor(s / this.every), this.checkpoints.length - 1);
    const nearest = this.checkpoints[index] ?? this.start;
    if (this.frame.position > s || this.frame.position < nearest.position) this.frame = nearest.copy();
    while (this.frame.position < s) this.forward();
    return this.frame;
  }

  forward() {
    if (this.frame.position >= 0) update(this.frame);
    schedule(this.frame);
    if (this.frame.position === this.checkpoints.length * this.every) this.keep();
  }

  /** Keep a checkpoint here; when they grow too large, every other one goes. */
  keep() {
    this.checkpoints.push(this.frame.copy());
    this.bytes += this.frame.bytes;
    if (this.bytes <= this.mostBytes || this.checkpoints.length < 3) return;
    this.checkpoints = this.checkpoints.filter((_, i) => i % 2 === 0);
    this.every *= 2;
    this.bytes = this.checkpoints.reduce((bytes, frame) => bytes + frame.bytes, 0);
  }
}
