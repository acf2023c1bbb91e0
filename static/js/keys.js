/** Keys of the page: space plays, arrows step, Home and End go to the ends; fields and buttons keep their own keys. */

/** @type {Record<string, string>} */
const STEPS = { ArrowLeft: "back", ArrowRight: "forward", Home: "start", End: "end" };

/**
 * @param {() => void} onToggle
 * @param {(step: string) => void} onStep
 */
export function watchKeys(onToggle, onStep) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    if (event.key === " " && !event.target.closest("a, button, input:not(#seek), select, summary")) {
      event.preventDefault();
      onToggle();
    } else if (STEPS[event.key] && !event.target.closest("input:not(#seek), select, textarea, .table-scroll")) {
      event.preventDefault();
      onStep(STEPS[event.key]);
    }
  });
}
