/** A request that is pointed at, or has the keyboard's focus, is lit wherever it is named; a click keeps it lit. */

/** @param {import("./stage.js").Stage} stage */
export function watchRequests(stage) {
  /** @type {number | null} */
  let kept = null;
  const over = (/** @type {Event} */ event) => {
    const request = requestOf(
      event.type === "focusout" ? /** @type {FocusEvent} */ (event).relatedTarget : event.target,
    );
    if (request !== null || event.type !== "pointerover") stage.light(request ?? kept);
    else if (stage.lit !== kept && !isFigure(event.target)) stage.light(kept);
  };
  const scope = scopeOf(stage);
  for (const type of ["pointerover", "focusin", "focusout"]) scope.addEventListener(type, over);
  scope.addEventListener("click", (event) => {
    const request = requestOf(event.target);
    if (request === null) return;
    kept = kept === request ? null : request;
    stage.light(kept);
  });
  stage.addEventListener("keep", (event) => {
    kept = /** @type {CustomEvent} */ (event).detail;
    stage.light(kept);
  });
  stage.addEventListener("unlight", () => stage.light(kept));
  stage.addEventListener("light", () => mark(stage.lit, scope));
}

/**
 * Where a stage lights requests: in its section of a lesson, or on all of the page.
 * @param {import("./stage.js").Stage} stage
 * @returns {Document | Element}
 */
const scopeOf = (stage) => stage.main.closest("[data-scope]") ?? document;

/**
 * Canvases light requests themselves.
 * @param {EventTarget | null} target
 */
const isFigure = (target) => target instanceof HTMLCanvasElement;

/**
 * @param {EventTarget | null} target
 * @returns {number | null}
 */
function requestOf(target) {
  const named = target instanceof Element ? target.closest("[data-request]") : null;
  return named instanceof HTMLElement || named instanceof SVGElement ? Number(named.dataset.request) : null;
}

/**
 * Mark every place that names the request; what names another is dimmed by the style sheet.
 * @param {number | null} request
 * @param {Document | Element} [scope]
 */
export function mark(request, scope = document) {
  document.documentElement.toggleAttribute("data-lit", request !== null);
  for (const place of scope.querySelectorAll("[data-request]"))
    place.classList.toggle("lit", request !== null && place.getAttribute("data-request") === String(request));
}
