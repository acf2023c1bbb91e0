/**
 * A playhead of a stage. It is a time; it plays, stops at the end, and tells whoever listens. Where motion is unwelcome it
 * plays in steps, two a second.
 */

const US = 1e6;
const CALM_MS = 500;

export class Playhead extends EventTarget {
  constructor() {
    super();
    /** Time shown [us]. */
    this.at = 0;
    /** Last time there is [us]. */
    this.end = 0;
    this.speed = 1;
    this.isPlaying = false;
    this.last = 0;
    this.frame = 0;
    this.tick = this.tick.bind(this);
  }

  /**
   * Go to a time [us].
   * @param {number} us
   */
  seek(us) {
    this.at = Math.min(this.end, Math.max(0, us));
    this.dispatchEvent(new Event("move"));
  }

  play() {
    if (this.isPlaying) return;
    if (this.at >= this.end) this.at = 0;
    this.isPlaying = true;
    this.last = performance.now();
    this.frame = requestAnimationFrame(this.tick);
    this.dispatchEvent(new Event("play"));
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    cancelAnimationFrame(this.frame);
    this.dispatchEvent(new Event("pause"));
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  /** @param {number} now */
  tick(now) {
    if (!this.isPlaying) return;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (isCalm && now - this.last < CALM_MS) {
      this.frame = requestAnimationFrame(this.tick);
      return;
    }
    const passed = Math.min(isCalm ? CALM_MS : 100, Math.max(0, now - this.last));
    this.last = now;
    this.seek(this.at + passed * this.speed * (US / 1000));
    if (this.at >= this.end) this.pause();
    else this.frame = requestAnimationFrame(this.tick);
  }
}
