/** Buttons, seek slider, clock and pointer that move the playhead, and what follows it. */

/**
 * @typedef {import("./playhead.js").Playhead} Playhead
 * @typedef {import("./figure.js").Figure} Figure
 */

export class Transport {
  /**
   * @param {Playhead} playhead
   * @param {Figure} figure
   * @param {() => void} onSeek the user has gone to another time
   */
  constructor(playhead, figure, onSeek) {
    this.playhead = playhead;
    this.onSeek = onSeek;
    this.play = /** @type {HTMLButtonElement} */ (document.getElementById("play"));
    this.slider = /** @type {HTMLInputElement} */ (document.getElementById("seek"));
    this.clock = /** @type {HTMLElement} */ (document.getElementById("clock"));
    this.speed = /** @type {HTMLSelectElement} */ (document.getElementById("speed"));
    this.play.addEventListener("click", () => playhead.toggle());
    this.speed.addEventListener("change", () => {
      playhead.speed = Number(this.speed.value);
    });
    this.slider.addEventListener("input", () => {
      this.seek((Number(this.slider.value) / Number(this.slider.max)) * playhead.end);
    });
    for (const event of ["play", "pause"]) playhead.addEventListener(event, () => this.showButton());
    watchDrag(figure.root, ".lane, #axis", (x) => this.seek(figure.timeAt(x)));
    watchDrag(figure.overview, "", (x) => this.seek(figure.courseTimeAt(x)));
  }

  /** @param {number} us */
  seek(us) {
    this.playhead.pause();
    this.playhead.seek(us);
    this.onSeek();
  }

  showButton() {
    this.play.textContent = this.playhead.isPlaying ? "Pause" : "Play";
  }

  /**
   * @param {string} label
   * @param {number | null} step
   */
  show(label, step) {
    const { at, end } = this.playhead;
    const share = end ? at / end : 0;
    this.slider.value = String(Math.round(share * Number(this.slider.max)));
    this.slider.style.setProperty("--at", `${(100 * share).toFixed(2)}%`);
    this.slider.setAttribute("aria-valuetext", `${(at / 1e6).toFixed(2)} seconds`);
    this.say(label, at / 1e6, step);
  }

  /**
   * @param {string} label
   * @param {number} t [s]
   * @param {number | null} [step]
   */
  say(label, t, step = null) {
    const text = `t = ${t.toFixed(3)} s · ${label.toLowerCase()}${step === null ? "" : `, step ${step}`}`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
  }
}

/**
 * Call with the pointer's place while it is down.
 * @param {HTMLElement} root
 * @param {string} selector where it may go down; empty: anywhere in root
 * @param {(clientX: number) => void} onPlace
 */
function watchDrag(root, selector, onPlace) {
  let isDown = false;
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || (selector && !(/** @type {Element} */ (event.target).closest(selector)))) return;
    isDown = true;
    root.setPointerCapture(event.pointerId);
    onPlace(event.clientX);
  });
  root.addEventListener("pointermove", (event) => {
    if (isDown) onPlace(event.clientX);
  });
  for (const end of ["pointerup", "pointercancel"])
    root.addEventListener(end, () => {
      isDown = false;
    });
}
