/**
 * The window on a run too long to draw whole: how long it is and where.
 *
 * @typedef {{t0: number, t1: number}} Span [us]
 */
import { within } from "./scene.js";

const LEAD = 1 / 8;

export class Window {
  /** @param {(us: number) => void} onPlace the user wants to see another time [us] */
  constructor(onPlace) {
    this.box = /** @type {HTMLElement} */ (document.getElementById("course"));
    this.slider = /** @type {HTMLInputElement} */ (document.getElementById("window-at"));
    this.length = /** @type {HTMLSelectElement} */ (document.getElementById("window-span"));
    this.text = /** @type {HTMLElement} */ (document.getElementById("window-text"));
    /** @type {Span | null} null while the run is drawn whole */
    this.span = null;
    this.end = Number.POSITIVE_INFINITY;
    this.at = 0;
    this.slider.addEventListener("input", () =>
      onPlace((Number(this.slider.value) / Number(this.slider.max)) * this.end),
    );
    this.length.addEventListener("change", () => onPlace(this.at));
  }

  /**
   * Put the window where a time is near its beginning.
   * @param {number} us
   */
  place(us) {
    const length = Number(this.length.value) * 1e6;
    this.span = within({ t0: us - LEAD * length, t1: us + (1 - LEAD) * length }, this.end);
    this.at = us;
  }

  /**
   * @param {number} us
   * @returns {boolean} whether a window is shown that the time is not in
   */
  lacks(us) {
    return this.span !== null && (us < this.span.t0 || us > this.span.t1);
  }

  /**
   * @param {import("./scene.js").Scene} scene
   * @param {number} at time shown [us]
   */
  show(scene, at) {
    this.box.hidden = !scene.courses;
    this.end = scene.end;
    this.at = at;
    this.span = scene.courses ? scene.span : null;
    if (!this.span) return;
    const seconds = (/** @type {number} */ us) => (us / 1e6).toFixed(us % 1e6 ? 1 : 0);
    const text = `${seconds(this.span.t0)} to ${seconds(this.span.t1)} s of ${(this.end / 1e6).toFixed(0)} s`;
    if (document.activeElement !== this.slider)
      this.slider.value = String(Math.round((at / this.end) * Number(this.slider.max)));
    this.slider.style.setProperty("--at", `${(100 * Number(this.slider.value)) / Number(this.slider.max)}%`);
    this.slider.setAttribute("aria-valuetext", text);
    this.text.textContent = text;
  }
}
