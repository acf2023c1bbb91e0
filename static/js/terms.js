/**
 * Words of the glossary in a text. Pressing one opens its note without any script; with this they also open while they
 * are pointed at with a mouse or reached with the keyboard. A press keeps open what pointing had opened.
 */

const GRACE_MS = 150; // to get from the word into its note, where a link is

/** @param {HTMLElement} root */
export function watchTerms(root) {
  for (const word of root.querySelectorAll("button.term")) watch(/** @type {HTMLButtonElement} */ (word));
}

/** @param {HTMLButtonElement} word */
function watch(word) {
  const note = /** @type {HTMLElement} */ (word.popoverTargetElement);
  let isPointedAt = false;
  /** @type {number | undefined} */
  let leaving;

  const isOpen = () => note.matches(":popover-open");
  const stay = () => clearTimeout(leaving);
  const leave = () => {
    stay();
    leaving = setTimeout(() => isPointedAt && note.hidePopover(), GRACE_MS);
  };

  word.addEventListener("pointerenter", (event) => {
    stay();
    if (event.pointerType !== "mouse" || isOpen()) return;
    note.showPopover();
    isPointedAt = true;
  });
  word.addEventListener("pointerleave", leave);
  note.addEventListener("pointerenter", stay);
  note.addEventListener("pointerleave", leave);
  word.addEventListener("click", (event) => {
    if (isPointedAt && isOpen()) event.preventDefault();
    isPointedAt = false;
  });
  word.addEventListener("focus", () => {
    if (word.matches(":focus-visible") && !isOpen()) note.showPopover();
  });
  for (const node of [word, note])
    node.addEventListener("focusout", (event) => {
      const to = /** @type {Node | null} */ (event.relatedTarget);
      if (isOpen() && to && to !== word && !note.contains(to)) note.hidePopover();
    });
  note.addEventListener("toggle", () => {
    if (!isOpen()) isPointedAt = false;
  });
}
