/** What went wrong, in words, next to the control it is about and above the figure. */
import { HttpProblem } from "./lines.js";

export class Notice {
  /** @param {import("./controls.js").Controls} controls */
  constructor(controls) {
    this.controls = controls;
    this.box = /** @type {HTMLElement} */ (document.getElementById("notice"));
  }

  clear() {
    this.controls.complain();
    this.box.hidden = true;
  }

  /**
   * @param {string} text
   * @param {boolean} [isCalm]
   */
  say(text, isCalm = false) {
    this.box.hidden = false;
    this.box.textContent = text;
    this.box.classList.toggle("calm", isCalm);
  }

  /** @param {Error} error */
  explain(error) {
    const field = error instanceof HttpProblem ? String(error.problem.field ?? "") : "";
    this.controls.complain(field.replace(/^[bc]\./, ""), error.message);
    const isGone = error instanceof TypeError;
    this.say(isGone ? "The server does not answer; the page keeps what it has." : error.message);
  }
}
