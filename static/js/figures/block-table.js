/**
 * Block tables: each request's logical blocks and where they are in VRAM, token by token; with kv=contiguous the stretch
 * that each reserves instead. For small runs: what is beyond the most that is drawn is said.
 *
 * `readings()`, per run, null before its first step or until block ids are here; with several runs "a.", "b." before each:
 * requests, used_tokens, reserved_tokens, internal_tokens (held, not used), external_tokens (free, too few in a row),
 * wasted_tokens (both), fit_more (requests of the size of those that run now), used_blocks, free_blocks, cached_blocks,
 * shared_blocks, spared_copies (blocks that sharing saves). What each means: ../blocktally.js.
 *
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../frame.js").Frame} Frame
 * @typedef {import("../run.js").Run} Run
 * @typedef {import("../blocktally.js").Tally} Tally
 */
import { nameIn } from "../blockcell.js";
import { optionAt } from "../blocklink.js";
import { PagedView } from "../blockpaged.js";
import { named, nameOf } from "../blocksketch.js";
import { deedsOf, takenIn } from "../blocksteps.js";
import { StretchView } from "../blockstretches.js";
import { entriesOf, tallyOf } from "../blocktally.js";
import { idsText, wordsOf } from "../blockwords.js";
import { element, part, tableOf, write } from "../dom.js";
import { tokensOf } from "../kvcells.js";
import { captionOf } from "../kvwords.js";

const REST_MS = 200;
const HINT = "Point at a block, or go to it by Tab and arrow keys.";

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export const mount = (card, stage) => new BlockTable(card, stage);

class BlockTable {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.box = part(card, ".bt-runs");
    this.hint = part(card, ".bt-hint");
    /** @type {Record<string, RunBlocks>} */
    this.runs = {};
    this.timer = 0;
    write(this.hint, HINT);
    this.watch();
  }

  watch() {
    const { box } = this;
    box.addEventListener("pointerover", (event) => this.point(optionOf(event.target) ?? focused(box)));
    box.addEventListener("pointerleave", () => this.point(focused(box)));
    box.addEventListener("focusin", (event) => this.point(optionOf(event.target)));
    box.addEventListener("focusout", () => this.point(null));
    box.addEventListener("keydown", (event) => this.press(event));
  }

  /** Other runs are here; until their block ids are too, the last ones stay. */
  show() {
    const { scene } = this.stage;
    if (!scene?.hasBlocks) return;
    const entries = Object.entries(scene.runs).reverse();
    this.runs = Object.fromEntries(entries.map(([name, run]) => [name, this.viewOf(name, run)]));
    this.box.replaceChildren(...Object.values(this.runs).map(({ root }) => root));
    const kinds = entries.map(([, run]) => (run.facts.reserved_blocks ? "contiguous" : "paged"));
    const isOff = entries.every(([, run]) => run.scenario.prefix_cache === "off");
    Object.assign(part(this.card, ".bt-key").dataset, {
      kv: [...new Set(kinds)].join(" "),
      cache: isOff ? "off" : "on",
    });
  }

  /**
   * A view that is here already stays, and with it where the keyboard is.
   * @param {string} name
   * @param {Run} run
   */
  viewOf(name, run) {
    const before = this.runs[name];
    const isContiguous = run.facts.reserved_blocks > 0;
    const view = before?.isContiguous === isContiguous ? before : new RunBlocks(isContiguous);
    view.take(run, this.stage.labelOf(name));
    return view;
  }

  draw() {
    for (const view of Object.values(this.runs)) view.mark = "";
    this.move();
  }

  move() {
    const { stage } = this;
    const views = Object.entries(this.runs).filter(([name, view]) => stage.scene?.runs[name] === view.run);
    const old = views.filter(([name, view]) => view.isNew(stage.step(name)));
    for (const [name, view] of old) view.paint(stage.frame(name));
    if (old.length) this.painted();
    clearTimeout(this.timer);
    if (!stage.playhead.isPlaying) this.timer = window.setTimeout(() => this.say(), REST_MS);
  }

  /** What lies over the picture follows it. */
  painted() {
    this.light();
    this.point(focused(this.box) ?? hovered(this.box));
  }

  /** Blocks that the request that is lit does not hold step back. */
  light() {
    const { lit } = this.stage;
    this.box.toggleAttribute("data-dim", lit !== null);
    for (const option of /** @type {NodeListOf<HTMLElement>} */ (this.box.querySelectorAll("[role=option]")))
      option.classList.toggle("bt-on", (option.dataset.holders ?? "").split(" ").includes(String(lit)));
  }

  /**
   * Say what a block is, and light it wherever it is.
   * @param {HTMLElement | null} option
   */
  point(option) {
    write(this.hint, nameIn(option) ?? HINT);
    const block = Number(option?.dataset.block ?? 0);
    for (const { root, view } of Object.values(this.runs)) view.point(option && root.contains(option) ? block : 0);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const at = optionOf(event.target);
    if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") return at.click();
    const list = /** @type {HTMLElement} */ (at.closest("[role=listbox]"));
    const to = optionAt(/** @type {HTMLElement[]} */ ([...list.querySelectorAll("[role=option]")]), at, event.key);
    if (!to) return;
    event.preventDefault();
    event.stopPropagation();
    at.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }

  /** Description and tables, once things rest. */
  say() {
    const views = Object.values(this.runs);
    write(part(this.card, "[data-twin]"), views.map((view) => view.twin()).join(" "));
    part(this.card, ".table-scroll").replaceChildren(...views.map((view) => view.table()));
  }

  readings() {
    const names = Object.keys(this.stage.scene?.runs ?? {});
    return Object.fromEntries(
      names.flatMap((name) => entriesOf(this.tallyOf(name), names.length > 1 ? `${name}.` : "")),
    );
  }

  /**
   * @param {string} name of a run
   * @returns {Tally | null}
   */
  tallyOf(name) {
    const frame = this.stage.scene?.runs[name].hasBlocks ? this.stage.frame(name) : null;
    return frame && tallyOf(frame);
  }
}

/** The blocks of one run. */
class RunBlocks {
  /** @param {boolean} isContiguous */
  constructor(isContiguous) {
    this.isContiguous = isContiguous;
    this.view = isContiguous ? new StretchView() : new PagedView();
    this.label = element("b", {});
    this.sums = element("span", { class: "bt-sums" });
    this.more = element("b", {});
    this.words = element("p", { class: "bt-words" });
    const head = element("p", { class: "bt-head" }, this.label, " ", this.sums, this.more);
    this.root = element("div", { class: "bt-run", role: "group" }, head, this.words, this.view.root);
    /** @type {Run | null} */
    this.run = null;
    this.mark = "";
    this.said = { twin: "", rows: /** @type {string[][]} */ ([]) };
  }

  /**
   * @param {Run} run
   * @param {string} label
   */
  take(run, label) {
    this.run = run;
    this.mark = "";
    write(this.label, label);
    this.root.setAttribute("aria-label", label);
    this.view.title(label, run.scenario.block_size);
  }

  /** @param {number} s */
  isNew(s) {
    const mark = `${s}`;
    if (mark === this.mark) return false;
    this.mark = mark;
    return true;
  }

  /** @param {Frame | null} frame */
  paint(frame) {
    this.view.root.hidden = !frame;
    const tally = frame && tallyOf(frame);
    write(this.sums, frame && tally ? sumsOf(tally, frame) : "");
    write(this.more, tally && tally.fit_more !== null ? `room for ${count(tally.fit_more)} more as they are now` : "");
    if (!frame) {
      write(this.words, "Nothing has run yet: every block is free.");
      this.said = { twin: "", rows: [] };
      return;
    }
    const deeds = deedsOf(frame);
    write(this.words, wordsOf(frame, deeds));
    this.view.paint(frame, takenIn(deeds));
    this.keepTabStop();
    const tables = [...frame.seats.values()].map((seat) => rowOf(frame, seat));
    this.said = { twin: named(frame.run, captionOf(frame)), rows: tables };
  }

  /** Each list has one option that Tab leads to. */
  keepTabStop() {
    for (const list of this.root.querySelectorAll("[role=listbox]")) {
      const options = /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll("[role=option]"));
      if (options.length && !list.querySelector('[tabindex="0"]')) options[0].tabIndex = 0;
    }
  }

  twin() {
    const tables = this.said.rows.map(([request, , , blocks]) => `${request}: ${blocks}.`);
    return [`${this.label.textContent}.`, this.words.textContent, this.said.twin, ...tables].join(" ");
  }

  table() {
    const heads = ["request", "tokens", "room", "physical blocks, in logical order"];
    return tableOf(`Block tables, ${this.label.textContent}`, heads, this.said.rows);
  }
}

/**
 * @param {Frame} frame
 * @param {import("../frame.js").Seat} seat
 */
function rowOf({ run, setting }, seat) {
  const room = seat.blocks.length * setting.blockSize;
  return [nameOf(run, seat.request), count(tokensOf(seat)), count(room), idsText(seat.blocks)];
}

/**
 * Numbers of a run in short.
 * @param {Tally} tally
 * @param {Frame} frame
 */
function sumsOf(tally, { setting }) {
  const { used_tokens, internal_tokens, external_tokens } = tally;
  const inside = setting.region ? "unused" : "unused in last blocks";
  const parts = [`${count(used_tokens)} tokens used`, `${count(internal_tokens)} ${inside}`];
  if (setting.region) parts.push(`${count(external_tokens)} too small`);
  return `${parts.join(" · ")} · `;
}

/**
 * @param {EventTarget | null} target
 * @returns {HTMLElement | null}
 */
const optionOf = (target) => (target instanceof Element ? target.closest("[role=option]") : null);

/** @param {HTMLElement} box */
const focused = (box) => (box.contains(document.activeElement) ? optionOf(document.activeElement) : null);

/** @param {HTMLElement} box @returns {HTMLElement | null} */
const hovered = (box) => box.querySelector("[role=option]:hover");

/** @param {number} n */
const count = (n) => n.toLocaleString("en");
