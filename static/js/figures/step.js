/** The card of the step between the server's answers: the same elements, from the run that is here. */
import { element, part, write } from "../dom.js";
import { Follower } from "../follower.js";
import { boundSentence, budgetCaption, budgetSlices, budgetTitle, timeParts, timeTitle } from "../stepcard.js";

/** @typedef {import("../stage.js").Stage} Stage */

const COSTS_MS = 400;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const follower = new Follower(card, stage, (frame) => show(card, frame, stage.costs.runs[stage.state.run]));
  let timer = 0;
  return {
    show: (scene) => {
      follower.show(scene);
      // Prices are not asked for while a slider moves: the card needs them only once its run plays.
      clearTimeout(timer);
      timer = window.setTimeout(() => stage.costs.want(), COSTS_MS);
    },
    move: () => follower.move(),
    costs: () => follower.again(),
    frame: () => follower.replaced(),
  };
}

/**
 * @param {HTMLElement} card
 * @param {import("../frame.js").Frame} frame
 * @param {import("../costs.js").Costs | undefined} costs
 */
function show(card, frame, costs) {
  write(part(card, '[data-part="budget-title"]'), budgetTitle(frame));
  write(part(card, '[data-part="budget-caption"]'), budgetCaption(frame));
  write(part(card, '[data-part="time-title"]'), timeTitle(frame));
  showSlices(part(card, ".stack"), budgetSlices(frame));
  write(part(card, '[data-part="time-caption"]'), boundSentence(frame));
  const parts = timeParts(frame, costs);
  if (parts) showParts(part(card, ".parts"), parts);
}

/**
 * @param {HTMLElement} stack
 * @param {import("../stepcard.js").Slice[]} slices
 */
function showSlices(stack, slices) {
  while (stack.children.length > slices.length) stack.lastElementChild?.remove();
  while (stack.children.length < slices.length) stack.append(document.createElement("i"));
  slices.forEach(({ series, style, percent, title }, i) => {
    const slice = /** @type {HTMLElement} */ (stack.children[i]);
    if (slice.className !== style) slice.className = style;
    if (slice.dataset.series !== String(series)) slice.dataset.series = String(series);
    if (slice.title !== title) slice.title = title;
    slice.style.setProperty("--w", `${percent.toFixed(3)}%`);
  });
}

/**
 * @param {HTMLElement} list
 * @param {import("../stepcard.js").Part[]} parts
 */
function showParts(list, parts) {
  while (list.children.length > 4 * parts.length) list.lastElementChild?.remove();
  while (list.children.length < 4 * parts.length)
    list.append(element("dt", {}), ...["bar", "ms", "other"].map((name) => element("dd", { class: name })));
  parts.forEach(({ label, ms, percent, other, note, isBound }, i) => {
    const [name, bar, time, box] = /** @type {HTMLElement[]} */ ([...list.children].slice(4 * i, 4 * i + 4));
    write(name, label);
    name.classList.toggle("bound", isBound);
    bar.style.setProperty("--w", `${percent.toFixed(2)}%`);
    write(time, ms);
    box.style.setProperty("--w", `${other.toFixed(2)}%`);
    write(box, note);
  });
}
