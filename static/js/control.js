/** One control of the form: its row, its field or radio buttons, its slider. */
import { follow, say, valueAt } from "./slider.js";

/** @typedef {import("./slider.js").Field} Field */

export class Control {
  /** @param {HTMLElement} row */
  constructor(row) {
    this.row = row;
    this.name = row.dataset.control ?? "";
    this.normal = row.dataset.default ?? "";
    this.needs = row.dataset.needs ?? "";
    /** @type {Field[]} the field, or the radio buttons */
    this.fields = [.../** @type {NodeListOf<Field>} */ (row.querySelectorAll("[name]"))];
    this.slider = /** @type {HTMLInputElement | null} */ (row.querySelector("input[type=range]"));
    this.back = /** @type {HTMLElement} */ (row.querySelector("[data-reset]"));
    this.why = /** @type {HTMLElement | null} */ (row.querySelector(".idle-why"));
    this.hint = /** @type {HTMLElement | null} */ (row.querySelector(".hint"));
    this.hintIf = this.hint?.dataset.hintIf ?? "";
    this.message = /** @type {HTMLElement} */ (row.querySelector(".message"));
    this.result = /** @type {HTMLElement | null} */ (row.querySelector(".resolved"));
    this.isText = row.classList.contains("is-text");
    if (this.slider) follow(this.slider, this.fields[0]);
  }

  get label() {
    return this.row.querySelector(".name")?.textContent ?? this.name;
  }

  /** The radio button that is chosen, or the field. */
  get field() {
    return this.fields.find((field) => field instanceof HTMLInputElement && field.checked) ?? this.fields[0];
  }

  get value() {
    return this.field.value.trim();
  }

  get isChanged() {
    return this.value !== this.normal;
  }

  /**
   * The user has moved the slider or the field.
   * @param {HTMLElement} target
   */
  moved(target) {
    const { slider } = this;
    if (slider && target === slider) this.field.value = valueAt(slider);
    else if (slider) follow(slider, this.field);
    if (slider) say(slider, this.field);
    this.back.hidden = !this.isChanged;
  }

  /** @param {string} value */
  set(value) {
    const radio = this.fields.find((field) => field instanceof HTMLInputElement && field.type === "radio");
    if (!radio) this.field.value = value;
    else for (const field of this.fields) /** @type {HTMLInputElement} */ (field).checked = field.value === value;
    this.moved(this.field);
    if (this.result) this.result.textContent = "";
  }

  focus() {
    (this.slider ?? this.field).focus();
  }

  /**
   * @param {boolean} hasEffect
   * @param {boolean} isHinted
   */
  show(hasEffect, isHinted) {
    if (this.hint) this.hint.hidden = !isHinted;
    if (!this.needs) return;
    this.row.hidden = !hasEffect && !this.why;
    if (!this.why) return;
    this.why.hidden = hasEffect;
    for (const field of [...this.fields, ...(this.slider ? [this.slider] : [])]) field.disabled = !hasEffect;
  }

  /** @param {number | undefined} value what `auto` comes to */
  resolve(value) {
    if (!this.result) return;
    const isAuto = value !== undefined && this.value === "auto";
    this.result.textContent = isAuto ? `auto: ${value.toLocaleString("en")}` : "";
  }

  /** @param {string} text empty: nothing is wrong */
  complain(text) {
    if (this.message.textContent === text) return;
    this.message.textContent = text;
    for (const field of this.fields) field.toggleAttribute("aria-invalid", false);
    if (!text) return;
    for (const field of this.fields) field.setAttribute("aria-invalid", "true");
    this.row.hidden = false;
    const fold = this.row.closest("details");
    if (fold) fold.open = true;
  }
}
