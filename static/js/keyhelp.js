/** The dialog that lists the keys, filled from their table when it is first opened. */
import { KEYS, LANE_KEYS } from "./keys.js";

/** @param {HTMLDialogElement} dialog */
export function openKeyHelp(dialog) {
  const list = /** @type {HTMLElement} */ (dialog.querySelector("dl"));
  if (!list.childElementCount)
    for (const { shown, does } of [...KEYS, ...LANE_KEYS]) {
      const term = document.createElement("dt");
      const key = document.createElement("kbd");
      key.textContent = shown;
      term.append(key);
      const text = document.createElement("dd");
      text.textContent = does;
      list.append(term, text);
    }
  dialog.showModal();
}
