/** Questions and tasks of a lesson: a guess opens the engine's answer, a task is ticked when its condition holds. */
import { note, progress } from "./progress.js";
import { holds } from "./readings.js";

/**
 * @param {HTMLElement} section
 * @param {string} lesson
 */
export function watchQuestions(section, lesson) {
  const done = progress()[lesson] ?? [];
  for (const box of /** @type {NodeListOf<HTMLElement>} */ (section.querySelectorAll(".question"))) {
    const answer = /** @type {HTMLDetailsElement} */ (box.querySelector(".answer"));
    const said = /** @type {HTMLElement} */ (box.querySelector(".said"));
    const key = `${section.dataset.section}/${box.dataset.question}`;
    box.classList.toggle("was-done", done.includes(key));
    box.addEventListener("change", (event) => {
      const choice = /** @type {HTMLInputElement} */ (event.target);
      const isRight = "right" in choice.dataset;
      said.textContent = `You said ${choice.nextElementSibling?.textContent}. ${isRight ? "That is it." : "Not quite."}`;
      box.dataset.given = isRight ? "right" : "wrong";
      answer.open = true;
      note(lesson, key);
    });
  }
}

export class Tasks {
  /**
   * @param {HTMLElement} section
   * @param {string} lesson
   * @param {(text: string) => void} say
   */
  constructor(section, lesson, say) {
    this.section = section;
    this.lesson = lesson;
    this.say = say;
    /** Nothing counts before the reader has touched something. */
    this.isTouched = false;
    this.boxes = [.../** @type {NodeListOf<HTMLElement>} */ (section.querySelectorAll(".task"))];
    const done = progress()[lesson] ?? [];
    for (const box of this.boxes) if (done.includes(this.keyOf(box))) this.tick(box);
  }

  /** @param {HTMLElement} box */
  keyOf(box) {
    return `${this.section.dataset.section}/${box.dataset.task}`;
  }

  /** @param {import("./stage.js").Stage} stage */
  check(stage) {
    if (!this.isTouched) return;
    for (const box of this.boxes) {
      if (box.classList.contains("done") || !holds(stage, box.dataset.when ?? "")) continue;
      this.tick(box);
      note(this.lesson, this.keyOf(box));
      this.say("Task done.");
    }
  }

  /** @param {HTMLElement} box */
  tick(box) {
    box.classList.add("done");
    const words = box.querySelector("[data-done]");
    if (words) words.textContent = " (done)";
  }
}
