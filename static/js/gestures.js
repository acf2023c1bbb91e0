/**
 * Zoom and pan of a time axis with the wheel and two fingers: Ctrl and wheel, or a pinch, zooms; Shift and wheel, or a
 * sideways wheel, pans. The plain wheel scrolls the page, as everywhere.
 *
 * @typedef {import("./stage.js").Stage} Stage
 */

const WHEEL = 1 / 300;

/**
 * @param {HTMLElement} root
 * @param {Stage} stage
 * @param {(clientX: number) => number} timeAt [us]
 */
export function watchGestures(root, stage, timeAt) {
  root.addEventListener("wheel", (event) => turned(event, root, stage, timeAt), { passive: false });
  watchPinch(root, stage, timeAt);
}

/**
 * @param {WheelEvent} event
 * @param {HTMLElement} root
 * @param {Stage} stage
 * @param {(clientX: number) => number} timeAt
 */
function turned(event, root, stage, timeAt) {
  const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
  const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (event.ctrlKey) {
    event.preventDefault();
    stage.zoom(Math.exp(event.deltaY * pixels * WHEEL), timeAt(event.clientX));
  } else if ((event.shiftKey || isSideways) && stage.window.shown) {
    event.preventDefault();
    stage.pan(((isSideways ? event.deltaX : event.deltaY) * pixels) / root.clientWidth);
  }
}

/**
 * @param {HTMLElement} root
 * @param {Stage} stage
 * @param {(clientX: number) => number} timeAt
 */
function watchPinch(root, stage, timeAt) {
  /** @type {Map<number, number>} */
  const fingers = new Map();
  let spread = 0;
  root.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, event.clientX);
    spread = spreadOf(fingers);
  });
  root.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId) || fingers.size < 2) return;
    const before = middleOf(fingers);
    fingers.set(event.pointerId, event.clientX);
    const now = spreadOf(fingers);
    stage.zoom(Math.max(1, spread) / Math.max(1, now), timeAt(middleOf(fingers)));
    stage.pan((before - middleOf(fingers)) / root.clientWidth);
    spread = now;
  });
  for (const end of ["pointerup", "pointercancel"])
    root.addEventListener(end, (event) => fingers.delete(/** @type {PointerEvent} */ (event).pointerId));
}

/** @param {Map<number, number>} fingers */
const spreadOf = (fingers) => Math.max(...fingers.values()) - Math.min(...fingers.values());

/** @param {Map<number, number>} fingers */
const middleOf = (fingers) => [...fingers.values()].reduce((sum, x) => sum + x, 0) / fingers.size;
