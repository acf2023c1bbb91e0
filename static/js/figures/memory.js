/** The memory of a GPU as a bar for each run: what the model takes, what is left for KV, and what of it is in use now. */
import { element, part, write } from "../dom.js";
import { gib, overOf, partsOf } from "../memory.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../costs.js").Costs} Costs
 */

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const box = part(card, ".memories");
  /** @type {Record<string, Bar>} */
  let bars = {};
  const draw = () => {
    const { runs } = stage.costs;
    if (Object.keys(runs).join() !== Object.keys(bars).join()) {
      bars = Object.fromEntries(Object.keys(runs).map((run) => [run, new Bar()]));
      box.replaceChildren(...inOrder(bars).map((bar) => bar.root));
    }
    for (const [run, bar] of Object.entries(bars)) bar.show(stage.labelOf(run), runs[run]);
    move();
  };
  const move = () => {
    for (const [run, bar] of Object.entries(bars)) bar.move(useAt(stage, run));
    if (stage.playhead.isPlaying) return;
    write(
      part(card, "[data-twin]"),
      inOrder(bars)
        .map((bar) => bar.words())
        .join(" "),
    );
  };
  return { draw, costs: draw, move };
}

/**
 * In the order of the lanes of the timeline.
 * @param {Record<string, Bar>} bars
 */
const inOrder = (bars) => Object.values(bars).reverse();

/**
 * Blocks in use and cached at the playhead; null where the run that is here is not that of the controls, or has not begun.
 * @param {Stage} stage
 * @param {string} name
 */
function useAt(stage, name) {
  const run = stage.scene?.runs[name];
  const frame = stage.frame(name);
  const costs = stage.costs.runs[name];
  if (!run || !frame || !costs || run.facts.num_gpu_blocks - 1 !== costs.memory.usable_blocks) return null;
  const isOver = frame.position === run.count - 1 && stage.at >= run.end_us[frame.position];
  const used = isOver ? 0 : costs.memory.usable_blocks - frame.free;
  return { step: frame.step, used, cached: run.hasBlocks && !isOver ? frame.cached : 0 };
}

/** The bar of one run. */
class Bar {
  constructor() {
    this.title = element("b", {});
    this.verdict = element("span", { class: "verdict" });
    this.stack = element("div", { class: "memory-bar", "aria-hidden": "true" });
    this.list = element("ul", { class: "memory-list" });
    this.root = element(
      "div",
      { class: "memory-run" },
      element("p", {}, this.title, " ", this.verdict),
      this.stack,
      this.list,
    );
    /** @type {Costs | null} */
    this.costs = null;
    /** @type {{step: number, used: number, cached: number} | null} */
    this.use = null;
    /** @type {Record<string, {slice: HTMLElement, item: HTMLElement, value: HTMLElement}>} */
    this.pieces = {};
    this.drawn = "";
  }

  /**
   * @param {string} label
   * @param {Costs} costs
   */
  show(label, costs) {
    this.costs = costs;
    this.drawn = "";
    write(this.title, label);
    const over = overOf(costs);
    write(this.verdict, verdictOf(costs));
    this.root.toggleAttribute("data-over", over > 0);
    const { gpu_bytes, visible_bytes } = costs.memory;
    const place = (/** @type {number} */ bytes) => `${(100 * bytes) / this.whole}%`;
    const limit = element("i", { class: "limit", style: `--x: ${place(gpu_bytes)}` });
    const edge = element("i", { class: "edge", style: `--x: ${place(visible_bytes)}` });
    const excess = element("i", { class: "over", style: `--x: ${place(gpu_bytes)}; --w: ${place(over)}` });
    this.pieces = Object.fromEntries(partsOf(costs, null).map(({ name, title }) => [name, pieceOf(name, title)]));
    const pieces = Object.values(this.pieces);
    this.stack.replaceChildren(...pieces.map((piece) => piece.slice), ...(over ? [excess] : []), limit, edge);
    this.list.replaceChildren(...pieces.map((piece) => piece.item));
  }

  /** What the bar's width stands for [bytes]. */
  get whole() {
    const { costs } = this;
    return costs ? Math.max(costs.memory.visible_bytes, costs.memory.gpu_bytes + overOf(costs)) : 1;
  }

  /** @param {{step: number, used: number, cached: number} | null} use */
  move(use) {
    this.use = use;
    const key = use ? `${use.used} ${use.cached}` : "none";
    if (!this.costs || key === this.drawn) return;
    this.drawn = key;
    for (const { name, bytes } of partsOf(this.costs, use)) {
      const { slice, item, value } = this.pieces[name];
      slice.style.setProperty("--w", `${(100 * bytes) / this.whole}%`);
      write(value, `${gib(bytes)} GiB`);
      item.hidden = bytes === 0 && !name.startsWith("kv");
    }
  }

  words() {
    const { costs, use } = this;
    if (!costs) return "";
    const parts = partsOf(costs, use).filter(({ bytes }) => bytes > 0);
    const told = parts.map(({ title, bytes }) => `${title} ${gib(bytes)} GiB`).join(", ");
    const blocks = use
      ? ` Step ${use.step}: ${use.used} of ${costs.memory.usable_blocks} blocks in use, ${use.cached} cached.`
      : "";
    return `${this.title.textContent}: ${told}; ${this.verdict.textContent}.${blocks}`;
  }
}

/**
 * @param {string} name
 * @param {string} title
 */
function pieceOf(name, title) {
  const value = element("b", {});
  const slice = element("i", { class: `slice ${name}` });
  return { slice, value, item: element("li", {}, element("i", { class: name }), `${title} `, value) };
}

/** @param {Costs} costs */
function verdictOf(costs) {
  const { memory, scenario } = costs;
  const over = overOf(costs);
  if (memory.missing_bytes) return `does not fit: ${gib(over)} GiB too much`;
  const may = `the server may use ${gib(memory.gpu_bytes)} of ${gib(memory.visible_bytes)} GiB`;
  if (over) return `${may}; this is ${gib(over)} GiB more`;
  const tokens = (memory.usable_blocks * scenario.block_size).toLocaleString("en");
  return `${may}; KV for ${tokens} tokens`;
}
