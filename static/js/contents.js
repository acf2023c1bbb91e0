/** The contents: how much of each lesson is done, as this browser remembers. */
import { progress } from "./progress.js";

const done = progress();
for (const card of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-lesson]"))) {
  const count = done[card.dataset.lesson ?? ""]?.length ?? 0;
  const place = card.querySelector("[data-progress]");
  if (count && place) place.textContent = `${count} of its questions and tasks done`;
}
