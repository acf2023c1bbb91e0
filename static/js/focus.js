/** The run that the step buttons and the panels follow: its name in the timeline is a link that chooses it. */

export class Focus {
  /**
   * @param {HTMLElement} root of the stage
   * @param {(run: string) => void} onFocus
   */
  constructor(root, onFocus) {
    this.root = root;
    const links = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-focus]"));
    for (const link of links)
      link.addEventListener("click", (event) => {
        event.preventDefault();
        const run = link.dataset.focus ?? "a";
        for (const other of links) other.setAttribute("aria-current", String(other.dataset.focus === run));
        onFocus(run);
      });
  }

  /** @param {string} run */
  labelOf(run) {
    return this.root.querySelector(`[data-focus="${run}"]`)?.textContent ?? run;
  }

  /** Write the names of the runs wherever they stand. */
  spread() {
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll("[data-label]")))
      place.textContent = inner(this.labelOf(place.dataset.label ?? ""));
  }
}

/**
 * What a run is called inside a sentence: a word begins small, what is written in capitals stays.
 * @param {string} label
 */
export const inner = (label) =>
  /^[A-Z][a-z]+\b(?!-)/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;
