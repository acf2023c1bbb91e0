/** The share menu: asked from the server for what the page shows now; it also saves figures as PNG. */
import "./copy.js";
import { savePng } from "./png.js";

export class Share {
  /**
   * @param {import("./stage.js").Stage} stage
   * @param {() => string} query of what the page shows now
   */
  constructor(stage, query) {
    this.stage = stage;
    this.query = query;
    this.box = /** @type {HTMLElement} */ (document.getElementById("share"));
    this.live = /** @type {HTMLElement} */ (document.getElementById("live"));
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-share]")))
      this.watch(link);
    this.box.addEventListener("click", (event) => this.clicked(event.target));
    this.box.addEventListener("change", (event) => this.chosen(event.target));
  }

  /**
   * With scripts the link to the menu's own page is a button that opens it here.
   * @param {HTMLAnchorElement} link
   */
  watch(link) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = link.className;
    button.textContent = link.textContent;
    button.setAttribute("aria-haspopup", "dialog");
    button.setAttribute("aria-expanded", "false");
    const { share = "", menu = "" } = link.dataset;
    button.addEventListener("click", () => this.open(share, menu));
    this.box.addEventListener("toggle", (event) =>
      button.setAttribute("aria-expanded", String(/** @type {ToggleEvent} */ (event).newState === "open")),
    );
    link.replaceWith(button);
  }

  /**
   * @param {string} first id of the control that gets the focus
   * @param {string} menu address of the menu
   */
  async open(first, menu) {
    this.stage.playhead.pause();
    const headers = { "HX-Request-Type": "partial", "Page-Root": new URL("../", new URL(menu, location.href)).href };
    try {
      const response = await fetch(`${menu}?${this.query()}`, { headers });
      if (!response.ok) throw new Error(`The menu did not come (${response.status}).`);
      const { body } = new DOMParser().parseFromString(await response.text(), "text/html");
      this.box.replaceChildren(...body.childNodes);
    } catch (error) {
      this.box.textContent = error instanceof TypeError ? "The server does not answer." : String(error);
    }
    this.offerOpen();
    this.box.showPopover();
    document.getElementById(first)?.focus();
  }

  /** Only what the page shows can be saved as it is. */
  offerOpen() {
    for (const option of /** @type {NodeListOf<HTMLOptionElement>} */ (this.box.querySelectorAll("#share-png option")))
      if (!cardOf(option.value)) option.remove();
  }

  /** @param {EventTarget | null} target */
  clicked(target) {
    const button = target instanceof Element ? target.closest("button") : null;
    if (button?.id === "share-png-save") this.save(button);
  }

  /** @param {EventTarget | null} target */
  chosen(target) {
    if (!(target instanceof HTMLSelectElement) || target.id !== "share-figure") return;
    const { frame = "", image = "" } = target.selectedOptions[0].dataset;
    fieldOf("share-frame").value = frame;
    fieldOf("share-image").value = image;
    /** @type {HTMLElement} */ (this.box.querySelector(".share-image")).hidden = !image;
  }

  /** @param {HTMLButtonElement} button */
  async save(button) {
    const name = /** @type {HTMLSelectElement} */ (document.getElementById("share-png")).value;
    const card = cardOf(name);
    if (!card) return;
    const caption = this.box.querySelector("[data-caption]")?.getAttribute("data-caption") ?? "";
    const picture = this.box.querySelector(`a[download="batchscope-${name}.svg"]`)?.getAttribute("href") ?? "";
    button.disabled = true;
    try {
      await savePng(card, `batchscope-${name}.png`, { caption, picture, palette: this.stage.palette });
      this.live.textContent = "Picture saved.";
    } catch {
      this.live.textContent = "This browser cannot make a picture of it; the SVG files and a screenshot can.";
    }
    button.disabled = false;
  }
}

/** @param {string} id */
const fieldOf = (id) => /** @type {HTMLInputElement} */ (document.getElementById(id));

/**
 * The card of a figure, if it is open.
 * @param {string} name
 */
const cardOf = (name) =>
  /** @type {HTMLElement | null} */ (document.querySelector(`[data-figure="${name}"]:not([hidden])`));
