/**
 * The window on a run too long to draw whole: where it is and how long.
 *
 * @typedef {{t0: number, t1: number}} Span [us]
 */
import { within } from "./scene.js";

const LEAD = 1 / 8;
const FIRST_US = 20e6;

export class Window {
  constructor() {
    this.length = FIRST_US;
    /** @type {Span | null} null while the run is drawn whole */
    this.span = null;
    this.end = Number.POSITIVE_INFINITY;
  }

  /**
   * Put the window where a time is near its beginning.
   * @param {number} us
   */
  place(us) {
    this.span = within({ t0: us - LEAD * this.length, t1: us + (1 - LEAD) * this.length }, this.end);
  }

  /**
   * @param {number} us
   * @returns {boolean} whether a window is shown that the time is not in
   */
  lacks(us) {
    return this.span !== null && (us < this.span.t0 || us > this.span.t1);
  }

  /** @param {import("./scene.js").Scene} scene */
  show(scene) {
    this.end = scene.end;
    this.span = scene.courses ? scene.span : null;
  }
}
