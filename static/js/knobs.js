/** Sliders and switches of a lesson's stage: each place sets parameters of its scenario. */

/** @typedef {import("./stage.js").Stage} Stage */

/**
 * @param {HTMLElement} root of the stage
 * @param {Stage} stage
 */
export function watchKnobs(root, stage) {
  const ask = () => {
    stage.each("asked");
    stage.dispatchEvent(new Event("readings"));
    stage.load();
  };
  for (const slider of /** @type {NodeListOf<HTMLInputElement>} */ (root.querySelectorAll("input[data-values]")))
    slider.addEventListener("input", () => {
      slide(slider, stage);
      ask();
    });
  for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (root.querySelectorAll("input[data-on]")))
    box.addEventListener("change", () => {
      turn(
        stage,
        (box.checked ? box.dataset.on : box.dataset.off) ?? "",
        box.dataset[box.checked ? "off" : "on"] ?? "",
      );
      ask();
    });
}

/**
 * @param {HTMLInputElement} slider
 * @param {Stage} stage
 */
function slide(slider, stage) {
  const values = (slider.dataset.values ?? "").split(" ");
  const value = values[Number(slider.value)];
  const text = `${Number(value).toLocaleString("en")} ${slider.dataset.unit}`.trim();
  slider.style.setProperty("--at", `${(100 * Number(slider.value)) / (values.length - 1)}%`);
  slider.setAttribute("aria-valuetext", text);
  const output = slider.parentElement?.querySelector("output");
  if (output) output.textContent = text;
  for (const [name, template] of JSON.parse(slider.dataset.sets ?? "[]"))
    stage.state.query.set(name, template.replaceAll("{}", value));
  for (const [name, texts] of JSON.parse(slider.dataset.also ?? "[]"))
    stage.state.query.set(name, texts[Number(slider.value)]);
}

/**
 * @param {Stage} stage
 * @param {string} now what holds from now on
 * @param {string} before what no longer does
 */
function turn(stage, now, before) {
  for (const name of new URLSearchParams(before).keys()) stage.state.query.delete(name);
  for (const [name, value] of new URLSearchParams(now)) stage.state.query.set(name, value);
}
