/**
 * The form of controls: the named field holds the value, the slider beside it is a second way to set it. A control that
 * has no effect under the others is hidden, or disabled with the reason.
 *
 * @typedef {import("./slider.js").Field} Field
 * @typedef {{name: string, value: string, normal: string}} Change `normal` is the default
 */
import { holds, namesIn } from "./conditions.js";
import { Control } from "./control.js";

export class Controls {
  /**
   * @param {HTMLFormElement} form
   * @param {(changes: Change[]) => void} onChange called while dragging
   */
  constructor(form, onChange) {
    this.form = form;
    this.onChange = onChange;
    const rows = /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-control]"));
    /** @type {Map<string, Control>} */
    this.controls = new Map([...rows].map((row) => [row.dataset.control ?? "", new Control(row)]));
    /** @type {Map<string, Set<Control>>} controls that look at the value of another */
    this.watchers = new Map();
    for (const control of this.controls.values()) this.watch(control);
    form.addEventListener("input", (event) => this.moved(/** @type {HTMLElement} */ (event.target), false));
    form.addEventListener("change", (event) => this.moved(/** @type {HTMLElement} */ (event.target), true));
    form.addEventListener("click", (event) => this.clicked(/** @type {HTMLElement} */ (event.target)));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** @param {Control} control */
  watch(control) {
    for (const name of namesIn(`${control.needs}&${control.hintIf}`)) {
      const watchers = this.watchers.get(name) ?? new Set();
      this.watchers.set(name, watchers.add(control));
    }
  }

  /**
   * What the user types or drags; a list is taken when it is complete.
   * @param {HTMLElement} target
   * @param {boolean} isDone
   */
  moved(target, isDone) {
    const control = this.controls.get(target.closest("[data-control]")?.getAttribute("data-control") ?? "");
    if (!control || control.isText !== isDone) return;
    control.moved(target);
    this.tell([control]);
  }

  /** @param {HTMLElement} target */
  clicked(target) {
    const button = target.closest("[data-reset], #reset-all");
    if (!button) return;
    const row = button.closest("[data-control]")?.getAttribute("data-control");
    const reset = [...this.controls.values()].filter((one) => one.isChanged && (!row || one.name === row));
    for (const control of reset) control.set(control.normal);
    if (row) this.controls.get(row)?.focus();
    if (reset.length) this.tell(reset);
  }

  /** @param {Control[]} changed */
  tell(changed) {
    const touched = new Set(changed.flatMap(({ name }) => [...(this.watchers.get(name) ?? [])]));
    for (const control of touched) this.apply(control);
    for (const fold of new Set(changed.map((control) => control.row.closest("details")))) if (fold) this.count(fold);
    this.onChange(changed.map(({ name, value, normal }) => ({ name, value, normal })));
  }

  /**
   * Show whether a control has an effect, and its remark.
   * @param {Control} control
   */
  apply(control) {
    const settingOf = (/** @type {string} */ name) => this.controls.get(name)?.value ?? "";
    control.show(holds(control.needs, settingOf), control.hintIf !== "" && holds(control.hintIf, settingOf));
  }

  /**
   * Say at a fold how many of its controls have another value than the default.
   * @param {HTMLDetailsElement} fold
   */
  count(fold) {
    const inside = [...this.controls.values()].filter(
      ({ row, isChanged }) => isChanged && !row.hidden && fold.contains(row),
    );
    const place = fold.querySelector(".count");
    if (place) place.textContent = inside.length ? `${inside.length} changed` : "";
  }

  /**
   * What a control is called.
   * @param {string} name
   */
  labelOf(name) {
    return this.controls.get(name)?.label ?? name;
  }

  /**
   * Say what `auto` comes to.
   * @param {Record<string, any>} facts of the plain run
   */
  resolve(facts) {
    for (const control of this.controls.values()) control.resolve(facts[control.name]);
  }

  /**
   * Say at a control what is wrong with it, and open the fold it is in; without a name, clear all.
   * @param {string} [name]
   * @param {string} [text]
   */
  complain(name = "", text = "") {
    for (const control of this.controls.values()) control.complain(control.name === name ? text : "");
    return this.controls.has(name) && text !== "";
  }
}
