/**
 * The form of controls: the named field holds the value, the slider beside it is a second way to set it.
 *
 * @typedef {HTMLInputElement | HTMLSelectElement} Field
 */

export class Controls {
  /**
   * @param {HTMLFormElement} form
   * @param {(name: string, value: string, normal: string) => void} onChange called while dragging
   */
  constructor(form, onChange) {
    this.form = form;
    this.onChange = onChange;
    for (const slider of this.sliders()) follow(slider, this.fieldOf(slider));
    form.addEventListener("input", (event) => this.changed(/** @type {HTMLElement} */ (event.target)));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** @returns {HTMLInputElement[]} */
  sliders() {
    return [.../** @type {NodeListOf<HTMLInputElement>} */ (this.form.querySelectorAll("input[type=range]"))];
  }

  /** @param {HTMLInputElement} slider */
  fieldOf(slider) {
    return /** @type {HTMLInputElement} */ (this.form.elements.namedItem(slider.dataset.for ?? ""));
  }

  /** @param {HTMLElement} target */
  changed(target) {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
    const slider = target.type === "range" ? /** @type {HTMLInputElement} */ (target) : null;
    const field = slider ? this.fieldOf(slider) : target;
    if (slider) field.value = valueAt(slider);
    else for (const other of this.sliders()) if (this.fieldOf(other) === field) follow(other, field);
    if (slider) say(slider, field);
    if (field.name === "load") this.showNeeds();
    this.onChange(field.name, field.value.trim(), normalOf(field));
  }

  /**
   * What a control is called.
   * @param {string} name
   */
  labelOf(name) {
    const row = this.form.querySelector(`[name="${name}"]`)?.closest(".control");
    return row?.querySelector("label, .label")?.textContent ?? row?.querySelector("select")?.ariaLabel ?? name;
  }

  /** Show only the controls that have an effect under this load. */
  showNeeds() {
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.form.querySelectorAll("[data-needs]"))) {
      const conditions = (row.dataset.needs ?? "").split("&").map((condition) => this.holds(condition));
      if (conditions.some((holds) => holds !== null)) row.hidden = conditions.includes(false);
    }
  }

  /**
   * Whether a condition holds; null if the form does not have the parameter.
   * @param {string} condition name=value or name!=value|value
   */
  holds(condition) {
    const [, name, not, values] = /^(\w+)(!?)=(.*)$/.exec(condition) ?? [];
    const field = this.form.elements.namedItem(name);
    return field && "value" in field ? values.split("|").includes(String(field.value)) !== (not === "!") : null;
  }

  /**
   * Say at a control what is wrong with it; without a name, clear all.
   * @param {string} [name]
   * @param {string} [text]
   */
  complain(name, text) {
    for (const field of this.form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    for (const message of this.form.querySelectorAll(".message")) message.textContent = "";
    if (!name || !text) return false;
    const field = this.form.elements.namedItem(name);
    const message = this.form.querySelector(`[data-message-for="${name}"]`);
    if (!(field instanceof HTMLElement) || !message) return false;
    field.setAttribute("aria-invalid", "true");
    message.textContent = text;
    return true;
  }
}

/** @param {Field} field */
const normalOf = (field) => field.closest("[data-default]")?.getAttribute("data-default") ?? "";

/** @param {HTMLInputElement} slider */
const rangeOf = (slider) => ({
  low: Number(slider.dataset.low),
  high: Number(slider.dataset.high),
  step: Number(slider.dataset.step),
  word: slider.dataset.word ?? "",
});

/**
 * Value at a slider's position; the last position is the word, as in "auto".
 * @param {HTMLInputElement} slider
 */
export function valueAt(slider) {
  const { low, high, step, word } = rangeOf(slider);
  const share = Number(slider.value) / Number(slider.max);
  if (word && share === 1) return word;
  const zero = low === 0 && slider.dataset.scale === "log" ? step : 0;
  const raw = slider.dataset.scale === "log" ? logAt(share, low + zero, high) - zero : low + share * (high - low);
  return tidy(raw, low, high, step);
}

/**
 * @param {number} share
 * @param {number} low
 * @param {number} high
 */
const logAt = (share, low, high) => low * (high / low) ** share;

/**
 * Nearest step, and no more than two or three significant digits: sliders give round numbers.
 * @param {number} raw
 * @param {number} low
 * @param {number} high
 * @param {number} step
 */
function tidy(raw, low, high, step) {
  const grain = Math.max(step, 10 ** Math.floor(Math.log10(Math.max(raw, step)) - 1) / 2);
  const coarse = grain > step ? Math.max(step, Math.round(grain / step) * step) : step;
  const value = Math.min(high, Math.max(low, Math.round(raw / coarse) * coarse));
  return String(Number(value.toPrecision(12)));
}

/**
 * Put a slider where its field's value is.
 * @param {HTMLInputElement} slider
 * @param {Field} field
 */
export function follow(slider, field) {
  const { low, high, step, word } = rangeOf(slider);
  const value = Number(field.value);
  const zero = low === 0 && slider.dataset.scale === "log" ? step : 0;
  const share =
    slider.dataset.scale === "log"
      ? Math.log((value + zero) / (low + zero)) / Math.log(high / (low + zero))
      : (value - low) / (high - low);
  const isWord = word && field.value.trim() === word;
  slider.value = String(Math.round((isWord ? 1 : Math.min(1, Math.max(0, share || 0))) * Number(slider.max)));
  say(slider, field);
}

/**
 * @param {HTMLInputElement} slider
 * @param {Field} field
 */
function say(slider, field) {
  slider.style.setProperty("--at", `${(100 * Number(slider.value)) / Number(slider.max)}%`);
  slider.setAttribute("aria-valuetext", `${field.value} ${slider.dataset.unit ?? ""}`.trim());
}
