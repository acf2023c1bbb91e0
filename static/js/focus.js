/** The run that the step buttons and the panels follow: its name in the timeline is a link that chooses it. */

/** @returns {NodeListOf<HTMLElement>} */
const links = () => document.querySelectorAll("[data-focus]");

export class Focus {
  /** @param {(run: string) => void} onFocus */
  constructor(onFocus) {
    for (const link of links())
      link.addEventListener("click", (event) => {
        event.preventDefault();
        const run = link.dataset.focus ?? "a";
        for (const other of links()) other.setAttribute("aria-current", String(other.dataset.focus === run));
        onFocus(run);
      });
  }

  /** Write the names of the runs wherever they stand. */
  spread() {
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-label]")))
      place.textContent = inner(labelOf(place.dataset.label ?? ""));
  }
}

/**
 * What a run is called inside a sentence: a word begins small, what is written in capitals stays.
 * @param {string} label
 */
export const inner = (label) =>
  /^[A-Z][a-z]+\b(?!-)/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;

/** @param {string} run */
const labelOf = (run) => document.querySelector(`[data-focus="${run}"]`)?.textContent ?? run;
