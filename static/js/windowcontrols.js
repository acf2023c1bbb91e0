/** Slider and select that move the window on a long run, and what it shows in words. */

export class WindowControls {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.box = /** @type {HTMLElement} */ (document.getElementById("course"));
    this.slider = /** @type {HTMLInputElement} */ (document.getElementById("window-at"));
    this.length = /** @type {HTMLSelectElement} */ (document.getElementById("window-span"));
    this.text = /** @type {HTMLElement} */ (document.getElementById("window-text"));
    this.slider.addEventListener("input", () =>
      stage.look((Number(this.slider.value) / Number(this.slider.max)) * stage.window.end),
    );
    this.length.addEventListener("change", () => {
      stage.window.length = Number(this.length.value) * 1e6;
      stage.look(stage.at);
    });
  }

  /** @param {import("./scene.js").Scene} scene */
  show({ span, end, courses }) {
    this.box.hidden = !courses;
    if (!courses) return;
    const seconds = (/** @type {number} */ us) => (us / 1e6).toFixed(us % 1e6 ? 1 : 0);
    const text = `${seconds(span.t0)} to ${seconds(span.t1)} s of ${(end / 1e6).toFixed(0)} s`;
    if (document.activeElement !== this.slider)
      this.slider.value = String(Math.round((this.stage.at / end) * Number(this.slider.max)));
    this.slider.style.setProperty("--at", `${(100 * Number(this.slider.value)) / Number(this.slider.max)}%`);
    this.slider.setAttribute("aria-valuetext", text);
    this.text.textContent = text;
  }
}
