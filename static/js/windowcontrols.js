/** What of the time is shown: a strip of the whole run with a frame, a slider that moves it, and its bounds in words. */

export class WindowControls {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.box = /** @type {HTMLElement} */ (stage.main.querySelector(".course"));
    this.slider = /** @type {HTMLInputElement} */ (stage.main.querySelector(".window-at"));
    this.text = /** @type {HTMLElement} */ (stage.main.querySelector(".window-text"));
    this.slider.addEventListener("input", () => this.moved());
  }

  moved() {
    const { shown, end, length } = this.stage.window;
    const share = Number(this.slider.value) / Number(this.slider.max);
    if (shown) this.stage.pan((share * (end - length) - shown.t0) / length);
  }

  /** @param {import("./scene.js").Scene} scene */
  show({ span, end }) {
    const { shown } = this.stage.window;
    this.box.hidden = !shown;
    if (!shown) return;
    const text = textOf(span, end);
    const share = end > span.t1 - span.t0 ? span.t0 / (end - (span.t1 - span.t0)) : 0;
    if (document.activeElement !== this.slider) this.slider.value = String(Math.round(share * Number(this.slider.max)));
    this.slider.style.setProperty("--at", `${(100 * Number(this.slider.value)) / Number(this.slider.max)}%`);
    this.slider.setAttribute("aria-valuetext", text);
    this.text.textContent = text;
  }
}

/**
 * @param {{t0: number, t1: number}} span
 * @param {number} end
 */
function textOf({ t0, t1 }, end) {
  const digits = Math.max(0, Math.min(6, Math.ceil(1 - Math.log10((t1 - t0) / 1e6))));
  const seconds = (/** @type {number} */ us) => (us / 1e6).toFixed(digits);
  return `${seconds(t0)} to ${seconds(t1)} s of ${(end / 1e6).toFixed(Math.min(digits, 1))} s`;
}
