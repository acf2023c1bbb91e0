/** What the keys do, on every page with a stage. */
import { openKeyHelp } from "./keyhelp.js";

/** @typedef {import("./stage.js").Stage} Stage */

const ZOOM = 1.6;
const PAN = 0.25;

/**
 * Actions by the names of the key table.
 * @param {Stage} stage
 * @returns {Record<string, () => void>}
 */
export function actionsOf(stage) {
  return {
    play: () => stage.playhead.toggle(),
    back: () => step(stage, "back"),
    forward: () => step(stage, "forward"),
    start: () => step(stage, "start"),
    end: () => step(stage, "end"),
    before: () => toEvent(stage, "before"),
    after: () => toEvent(stage, "after"),
    in: () => stage.zoom(1 / ZOOM),
    out: () => stage.zoom(ZOOM),
    whole: () => stage.zoom(Number.POSITIVE_INFINITY),
    left: () => stage.pan(-PAN),
    right: () => stage.pan(PAN),
    clear: () => stage.dispatchEvent(new CustomEvent("keep", { detail: null })),
    keys: () => showKeys(),
  };
}

/** Buttons with `data-action` do what the keys do. @param {Record<string, () => void>} actions */
export function watchButtons(actions) {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-action]") : null;
    if (button) actions[button.getAttribute("data-action") ?? ""]?.();
  });
}

/**
 * @param {Stage} stage
 * @param {string} name
 */
function step(stage, name) {
  const button = /** @type {HTMLElement | null} */ (
    stage.main.querySelector(`a[data-step="${name}"][href], button[data-step="${name}"]`)
  );
  button?.click();
}

/**
 * Go to the event before or after, in the list, which is opened for it.
 * @param {Stage} stage
 * @param {string} side
 */
async function toEvent(stage, side) {
  if (!stage.main.querySelector('[data-figure="events"]')) return;
  if (!stage.views.has("events")) {
    stage.state.views.add("events");
    const mounted = new Promise((resolve) => stage.addEventListener("mount", resolve, { once: true }));
    stage.openFigures(stage.state.views);
    await mounted;
  }
  stage.dispatchEvent(new CustomEvent("neighbour", { detail: side }));
}

function showKeys() {
  const dialog = document.getElementById("keys");
  if (dialog instanceof HTMLDialogElement) openKeyHelp(dialog);
}
