/**
 * The sliders of the batch curve: users and context, each free or as the scenario says. They can be set from outside by
 * the card's data-users and data-context; where those are in the page, the figure begins with them.
 */
import { MARGIN } from "./batchchart.js";
import { part } from "./dom.js";

const SHORTEST = 16;
const PER_OCTAVE = 8;

export class Knobs {
  /**
   * @param {HTMLElement} card
   * @param {(what: "users" | "context") => void} onChange
   */
  constructor(card, onChange) {
    this.card = card;
    const input = (/** @type {string} */ selector) => /** @type {HTMLInputElement} */ (part(card, selector));
    this.inputs = { users: input("[data-batch=users]"), context: input("[data-batch=context]") };
    this.typed = input("[data-typed]");
    this.output = part(card, "output");
    this.inputs.users.oninput = () => this.set("users", Number(this.inputs.users.value));
    this.inputs.context.oninput = () => this.set("context", contextAt(Number(this.inputs.context.value)));
    this.typed.oninput = () => this.typed.value && this.set("users", Math.max(1, Math.round(Number(this.typed.value))));
    for (const what of /** @type {const} */ (["users", "context"]))
      part(card, `[data-reset-knob=${what}]`).onclick = () => this.set(what, this.first[what]);
    this.first = { users: card.dataset.users ?? "", context: card.dataset.context ?? "" };
    this.dragOn(part(card, ".chart-box"));
    new MutationObserver((changes) => {
      for (const { attributeName } of changes) onChange(attributeName === "data-users" ? "users" : "context");
    }).observe(card, { attributeFilter: ["data-users", "data-context"] });
  }

  /** Users that are chosen; null: as many as the scenario says. */
  get users() {
    return Number(this.card.dataset.users) || null;
  }

  /** Context that is chosen [tokens]; null: the scenario's. */
  get context() {
    return Number(this.card.dataset.context) || null;
  }

  /**
   * @param {"users" | "context"} what
   * @param {number | string} value
   */
  set(what, value) {
    this.card.dataset[what] = String(value);
  }

  /**
   * Show what holds.
   * @param {number} users
   * @param {number} context
   * @param {number} most users that can be chosen
   */
  show(users, context, most) {
    const { inputs, typed, output } = this;
    inputs.users.max = typed.max = String(most);
    place(inputs.users, users, `${users.toLocaleString("en")} users`);
    if (document.activeElement !== typed) typed.value = String(users);
    place(inputs.context, placeOf(context), `${context.toLocaleString("en")} tokens`);
    if (output.textContent !== inputs.context.ariaValueText) output.textContent = inputs.context.ariaValueText;
    for (const what of /** @type {const} */ (["users", "context"]))
      part(this.card, `[data-reset-knob=${what}]`).toggleAttribute("data-off", this.isFirst(what));
  }

  /** @param {"users" | "context"} what */
  isFirst(what) {
    return (this.card.dataset[what] ?? "") === this.first[what];
  }

  /**
   * The chart itself is a slider of users too.
   * @param {HTMLElement} box
   */
  dragOn(box) {
    const choose = (/** @type {PointerEvent} */ event) => {
      const { left, width } = box.getBoundingClientRect();
      const share = (event.clientX - left - MARGIN.left) / (width - MARGIN.left - MARGIN.right);
      const most = Number(this.inputs.users.max);
      if (event.buttons === 1) this.set("users", Math.min(most, Math.max(1, Math.round(share * most))));
    };
    box.addEventListener("pointerdown", choose);
    box.addEventListener("pointermove", choose);
  }
}

/**
 * @param {HTMLInputElement} slider
 * @param {number} value
 * @param {string} text
 */
function place(slider, value, text) {
  slider.value = String(value);
  const [low, high] = [Number(slider.min), Number(slider.max)];
  slider.style.setProperty("--at", `${(100 * (value - low)) / (high - low)}%`);
  slider.ariaValueText = text;
}

/**
 * Powers of two, and rounder numbers than a logarithm gives between them.
 * @param {number} place of the slider
 */
function contextAt(place) {
  const exact = SHORTEST * 2 ** (place / PER_OCTAVE);
  return place % PER_OCTAVE === 0 || exact < 100 ? Math.round(exact) : Number(exact.toPrecision(2));
}

/** @param {number} context */
const placeOf = (context) => Math.round(PER_OCTAVE * Math.log2(Math.max(SHORTEST, context) / SHORTEST));
