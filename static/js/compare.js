/**
 * The editor of the runs beside the plain one. Values of a run change in place; what adds, removes or swaps a run leads
 * to the page with it, as the links and forms do without scripts, only from what the page says now.
 *
 * @typedef {import("./stage.js").Stage} Stage
 */
import { Control } from "./control.js";
import { Controls } from "./controls.js";
import { formatTime } from "./state.js";

/**
 * @param {Stage} stage
 * @param {(text: string) => void} onChange a value of a run has changed; in words
 */
export function watchCompare(stage, onChange) {
  const root = /** @type {HTMLElement} */ (document.getElementById("compare"));
  for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (root.querySelectorAll("[data-compared]")))
    watchRun(stage, form, onChange);
  for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (root.querySelectorAll("[data-edit-form]")))
    watchForm(stage, form);
  root.addEventListener("click", (event) => {
    const link = /** @type {HTMLElement} */ (event.target).closest("[data-edit]");
    if (!link) return;
    event.preventDefault();
    edit(stage, link.getAttribute("data-edit") ?? "");
  });
  watchTime(stage, root, onChange);
  document.querySelector("[data-fork-here]")?.addEventListener("click", (event) => openFork(event, root));
}

/**
 * @param {Event} event
 * @param {HTMLElement} root
 */
function openFork(event, root) {
  event.preventDefault();
  const fold = /** @type {HTMLDetailsElement} */ (root.querySelector("#fork-here"));
  fold.open = true;
  /** @type {HTMLElement} */ (fold.querySelector("[name=edit_name]")).focus();
  fold.scrollIntoView({ block: "nearest" });
}

/**
 * @param {Stage} stage
 * @param {string} change what the server is to do to the address
 */
const edit = (stage, change) => location.assign(`compare/?${stage.state.pageQuery(stage.at / 1e6)}&${change}`);

/**
 * @param {Stage} stage
 * @param {HTMLFormElement} form
 * @param {(text: string) => void} onChange
 */
function watchRun(stage, form, onChange) {
  const controls = new Controls(form, (changes) => {
    for (const { name, value } of changes) stage.state.query.set(name, value);
    const run = form.querySelector("b")?.textContent ?? "";
    onChange(changes.map(({ name, value }) => `${run}: ${controls.labelOf(name)} ${value}.`).join(" "));
  });
}

/**
 * The form that adds a change: its value is set by the control of the parameter that is chosen.
 * @param {Stage} stage
 * @param {HTMLFormElement} form
 */
function watchForm(stage, form) {
  const names = /** @type {HTMLSelectElement} */ (form.elements.namedItem("edit_name"));
  const place = /** @type {HTMLElement} */ (form.querySelector("[data-value-for]"));
  const choose = () => place.replaceChildren("to ", controlFor(names.value, names.selectedOptions[0].text));
  names.addEventListener("change", choose);
  choose();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = [...new FormData(form)].filter(([name]) => name.startsWith("edit"));
    edit(stage, new URLSearchParams(/** @type {[string, string][]} */ (fields)).toString());
  });
}

/**
 * A copy of the control that the plain scenario has for a parameter, as the field `edit_value`.
 * @param {string} name
 * @param {string} label
 */
function controlFor(name, label) {
  const row = /** @type {HTMLElement} */ (
    document.querySelector(`#controls [data-control="${name}"]`)?.cloneNode(true)
  );
  for (const part of row.querySelectorAll(".resolved, .idle-why, .hint, .help")) part.remove();
  for (const part of row.querySelectorAll("[id], [aria-labelledby], [aria-describedby]")) {
    for (const attribute of ["id", "aria-labelledby", "aria-describedby"]) part.removeAttribute(attribute);
    if (part.matches("input, select, [role]")) part.setAttribute("aria-label", label);
  }
  for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (row.querySelectorAll("[name]"))) {
    field.name = "edit_value";
    field.disabled = false;
  }
  row.hidden = false;
  const control = new Control(row);
  row.addEventListener("input", (event) => control.moved(/** @type {HTMLElement} */ (event.target)));
  return row;
}

/**
 * The time of the fork: a new one is where the playhead is, an old one can be moved there or typed.
 * @param {Stage} stage
 * @param {HTMLElement} root
 * @param {(text: string) => void} onChange
 */
function watchTime(stage, root, onChange) {
  const here = /** @type {HTMLInputElement | null} */ (root.querySelector("[data-here]"));
  const time = /** @type {HTMLInputElement | null} */ (root.querySelector("[data-fork-time]"));
  const now = () => formatTime(Math.round(stage.at / 1e3) / 1e3);
  stage.playhead.addEventListener("move", () => {
    if (here && here !== document.activeElement) here.value = now();
  });
  const move = (/** @type {string} */ value) => {
    stage.state.query.set("fork", value);
    onChange(`Fork at ${value} seconds.`);
  };
  time?.addEventListener("change", () => move(time.value));
  root.querySelector("[data-fork-move]")?.addEventListener("click", () => {
    if (time) time.value = now();
    move(now());
  });
}
