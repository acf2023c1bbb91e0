/** Follow a pointer while it is down. */

/**
 * @param {HTMLElement} root
 * @param {string} selector where it may go down; empty: anywhere in root
 * @param {(clientX: number) => void} onPlace
 */
export function watchDrag(root, selector, onPlace) {
  let isDown = false;
  root.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || (selector && !(/** @type {Element} */ (event.target).closest(selector)))) return;
    isDown = true;
    root.setPointerCapture(event.pointerId);
    onPlace(event.clientX);
  });
  // A second finger zooms instead.
  root.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary) isDown = false;
  });
  root.addEventListener("pointermove", (event) => {
    if (isDown && event.isPrimary) onPlace(event.clientX);
  });
  for (const end of ["pointerup", "pointercancel"])
    root.addEventListener(end, () => {
      isDown = false;
    });
}
