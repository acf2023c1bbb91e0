/**
 * The part of the time that is shown: all of a short run unless the user zooms, of one too long to draw whole always a
 * part, and only that part is here.
 *
 * @typedef {{t0: number, t1: number}} Span [us]
 */
import { stepsOf } from "./overview.js";
import { within } from "./scene.js";

const LEAD = 1 / 8;
const FIRST_US = 20e6;
const LEAST_US = 100;

export class Window {
  /** @param {import("./scene.js").Most} most what is drawn at once */
  constructor(most) {
    this.most = most;
    /** @type {Span | null} null: all of the run */
    this.shown = null;
    this.isLong = false;
    this.end = Number.POSITIVE_INFINITY;
    /** @type {import("./scene.js").Courses | null} */
    this.courses = null;
  }

  /** What of a long run is to be fetched; null: all of a short one. */
  get span() {
    return this.isLong ? this.shown : null;
  }

  /** How much is shown [us]. */
  get length() {
    return this.shown ? this.shown.t1 - this.shown.t0 : this.isLong ? FIRST_US : this.end;
  }

  /**
   * Open on a part of a long run.
   * @param {number} us
   */
  begin(us) {
    this.isLong = true;
    this.place(us);
  }

  /**
   * Show as much as before, with a time near the beginning.
   * @param {number} us
   */
  place(us) {
    const { length } = this;
    this.shown = within({ t0: us - LEAD * length, t1: us + (1 - LEAD) * length }, this.end);
  }

  /**
   * @param {number} us
   * @returns {boolean} whether a part is shown that the time is not in
   */
  lacks(us) {
    return this.shown !== null && (us < this.shown.t0 || us > this.shown.t1);
  }

  /**
   * Show less (below 1) or more; a time stays where it is.
   * @param {number} factor
   * @param {number} us
   */
  zoom(factor, us) {
    const { t0, t1 } = this.shown ?? { t0: 0, t1: this.end };
    const length = Math.max(LEAST_US, Math.min(this.end, (t1 - t0) * factor));
    const share = Math.min(1, Math.max(0, (us - t0) / (t1 - t0)));
    this.take({ t0: us - share * length, t1: us + (1 - share) * length });
  }

  /**
   * Show an earlier (below 0) or later part.
   * @param {number} share of what is shown
   */
  pan(share) {
    if (!this.shown) return;
    const { t0, t1 } = this.shown;
    this.take({ t0: t0 + share * (t1 - t0), t1: t1 + share * (t1 - t0) });
  }

  /** @param {Span} span */
  take(span) {
    const inside = within(this.drawable(span), this.end);
    this.shown = !this.isLong && inside.t1 - inside.t0 >= this.end ? null : inside;
  }

  /**
   * As much of a long run as can be drawn at once.
   * @param {Span} span
   * @returns {Span}
   */
  drawable({ t0, t1 }) {
    const { courses } = this;
    if (!courses) return { t0, t1 };
    const count = Math.max(...Object.keys(courses.runs).map((name) => stepsOf(courses, name, { t0, t1 }).count));
    const less = Math.min(1, this.most.steps / count);
    const middle = (t0 + t1) / 2;
    return { t0: middle - (less * (t1 - t0)) / 2, t1: middle + (less * (t1 - t0)) / 2 };
  }

  /** @param {import("./scene.js").Scene} scene */
  show({ end, courses, here }) {
    const wasLong = this.isLong;
    this.end = end;
    this.courses = courses;
    this.isLong = courses !== null;
    if (this.isLong !== wasLong) this.shown = this.isLong ? here : null;
    else if (this.shown) this.take(this.shown);
    else if (this.isLong) this.shown = here;
  }
}
