/** Buttons, seek slider, clock and pointer that move the playhead, and what follows it. */
import { inner } from "./focus.js";

export class Transport {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    const { playhead } = stage;
    this.stage = stage;
    /** @type {{at: number, step: number | null}} */
    this.known = { at: -1, step: null };
    this.play = /** @type {HTMLButtonElement} */ (stage.main.querySelector(".play-button"));
    this.slider = /** @type {HTMLInputElement} */ (stage.main.querySelector(".seek"));
    this.clock = /** @type {HTMLElement} */ (stage.main.querySelector(".clock"));
    this.speed = /** @type {HTMLSelectElement} */ (stage.main.querySelector(".speed"));
    this.play.addEventListener("click", () => playhead.toggle());
    playhead.speed = Number(this.speed.value);
    this.speed.addEventListener("change", () => {
      playhead.speed = Number(this.speed.value);
    });
    this.slider.addEventListener("input", () => {
      stage.seek((Number(this.slider.value) / Number(this.slider.max)) * playhead.end);
    });
    for (const event of ["play", "pause"]) playhead.addEventListener(event, () => this.showButton());
    playhead.addEventListener("move", () => this.show());
  }

  showButton() {
    this.play.textContent = this.stage.playhead.isPlaying ? "Pause" : "Play";
  }

  show() {
    const { run, state } = this.stage;
    const { at, end } = this.stage.playhead;
    const s = this.stage.step();
    const share = end ? at / end : 0;
    this.slider.value = String(Math.round(share * Number(this.slider.max)));
    this.slider.style.setProperty("--at", `${(100 * share).toFixed(2)}%`);
    this.slider.setAttribute("aria-valuetext", `${(at / 1e6).toFixed(2)} seconds`);
    // The window on a long run may be elsewhere: the step at this time is still the one that was known.
    const isKnown = run !== null && s >= 0;
    if (isKnown || at !== this.known.at || !this.stage.scene?.courses)
      this.known = { at, step: isKnown ? run.first + s : null };
    this.say(this.stage.labelOf(state.run), at / 1e6, this.known.step);
  }

  /**
   * @param {string} label
   * @param {number} t [s]
   * @param {number | null} [step]
   */
  say(label, t, step = null) {
    const text = `t = ${t.toFixed(3)} s · ${inner(label)}${step === null ? "" : `, step ${step}`}`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
  }
}
