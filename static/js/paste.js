/** The paste box: says when an answer is there, and asks for those of the scenario that is shown now. */

import "./copy.js";

/** @typedef {{ctx: {sourceElement: Element, target?: Element, request: {action: string}}}} Detail */

const ANSWERS = ["pasted", "commands"];

/** @param {string} text */
function say(text) {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
}

document.addEventListener("htmx:config:request", (event) => {
  const { ctx } = /** @type {CustomEvent<Detail>} */ (event).detail;
  if (ctx.sourceElement.matches("[data-commands]")) ctx.request.action = `commands/${location.search}`;
});

document.addEventListener("htmx:after:swap", (event) => {
  const { target } = /** @type {CustomEvent<Detail>} */ (event).detail.ctx;
  if (!target || !ANSWERS.includes(target.id)) return;
  const heading = /** @type {HTMLElement | null} */ (target.querySelector("[data-focus]"));
  heading?.focus({ preventScroll: false });
  if (heading) say(`${heading.textContent}. ${target.querySelector(".verdict")?.textContent ?? ""}`);
});
