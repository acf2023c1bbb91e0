/** Whose definitions of the metrics hold: the select above the figures. Without scripts it is a form. */

const NORMAL = "vllm";

/** @param {import("./stage.js").Stage} stage */
export function watchDialect(stage) {
  const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("dialect"));
  select?.addEventListener("change", () => {
    if (select.value === NORMAL) stage.state.kept.delete("dialect");
    else stage.state.kept.set("dialect", select.value);
    stage.state.write();
    for (const line of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".meaning")))
      line.textContent = line.dataset[select.value] ?? "";
    stage.load();
  });
}
