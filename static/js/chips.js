/** Chips that open and close figures; without scripts they are links to the same page with other figures. */

/** @param {import("./stage.js").Stage} stage */
export function watchChips(stage) {
  const chips = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-view]"));
  for (const chip of chips)
    chip.addEventListener("click", (event) => {
      event.preventDefault();
      const { views } = stage.state;
      const name = chip.dataset.view ?? "";
      if (!views.delete(name)) views.add(name);
      stage.openFigures(views);
    });
  stage.addEventListener("open", () => {
    for (const chip of chips) {
      const isOpen = stage.state.views.has(chip.dataset.view ?? "");
      if (isOpen) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
  });
}
