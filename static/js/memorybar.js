/** The bar of one run: the parts of a GPU's memory, what is asked of it, and below it what that comes to. */
import { demandInWords } from "./demandwords.js";
import { element, write } from "./dom.js";
import { gib, overOf, partsOf } from "./memory.js";

/**
 * @typedef {import("./costs.js").Costs} Costs
 * @typedef {import("./demand.js").Demand} Demand
 * @typedef {import("./fullness.js").Peak} Peak
 * @typedef {{step: number, used: number, cached: number, waiting: number, words: string}} Use at the playhead
 */

/** How far beyond the GPU a demand is drawn; one that is larger is cut there. */
const REACH = 1.6;

export class Bar {
  constructor() {
    this.title = element("b", {});
    this.verdict = element("span", { class: "verdict" });
    this.stack = element("div", { class: "memory-bar", "aria-hidden": "true" });
    this.list = element("ul", { class: "memory-list" });
    this.ask = element("p", { class: "memory-ask" });
    this.peak = element("p", { class: "memory-peak" });
    this.now = element("p", { class: "memory-now" });
    const head = element("p", {}, this.title, " ", this.verdict);
    this.root = element("div", { class: "memory-run" }, head, this.stack, this.ask, this.list, this.peak, this.now);
    this.outline = element("i", { class: "demand" });
    this.excess = element("i", { class: "beyond" });
    /** Too much, the limit of the server's share, the edge of the GPU. */
    this.marks = ["over", "limit", "edge"].map((name) => element("i", { class: name }));
    /** @type {Costs | null} */
    this.costs = null;
    /** @type {Demand | null} */
    this.demand = null;
    /** @type {Peak | null} */
    this.most = null;
    /** @type {Use | null} */
    this.use = null;
    /** What the bar's width stands for [bytes]. */
    this.whole = 1;
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
    this.pieces = Object.fromEntries(partsOf(costs, null).map(({ name, title }) => [name, pieceOf(name, title)]));
    const pieces = Object.values(this.pieces);
    this.stack.replaceChildren(...pieces.map((piece) => piece.slice), ...this.marks, this.outline, this.excess);
    this.list.replaceChildren(...pieces.map((piece) => piece.item));
  }

  /** Whether the model fits, so that it can run. */
  get isFitting() {
    return this.costs !== null && this.costs.memory.missing_bytes === 0;
  }

  /** How many times the GPU's memory the bar has to show, for the demand. */
  get reach() {
    const { costs, demand } = this;
    if (!costs || !demand || !this.isFitting) return 1;
    return Math.min(REACH, Math.max(1, (kvStart(costs) + demand.needed_bytes) / costs.memory.visible_bytes));
  }

  /**
   * @param {Demand | null} demand
   * @param {Costs} asked
   */
  want(demand, asked) {
    this.demand = demand;
    const words = demandInWords(demand, asked);
    write(this.ask, words);
    this.ask.hidden = words === "";
    this.ask.toggleAttribute("data-short", Boolean(words) && demand !== null && demand.seats > demand.fits);
  }

  /**
   * Draw on the scale that all bars share.
   * @param {number} reach of them all
   */
  scale(reach) {
    const { costs } = this;
    if (!costs) return;
    const { gpu_bytes, visible_bytes } = costs.memory;
    const over = overOf(costs);
    this.whole = Math.max(visible_bytes * reach, gpu_bytes + over);
    const [excess, limit, edge] = this.marks;
    this.place(excess, gpu_bytes, over);
    this.place(limit, gpu_bytes);
    this.place(edge, visible_bytes);
    this.drawDemand(costs);
    this.drawn = "";
    this.move(this.use);
  }

  /** @param {Costs} costs */
  drawDemand(costs) {
    const needed = this.isFitting ? (this.demand?.needed_bytes ?? 0) : 0;
    const start = kvStart(costs);
    const beyond = Math.max(0, needed - costs.memory.kv_bytes);
    this.place(this.outline, start, needed);
    this.place(this.excess, start + costs.memory.kv_bytes, beyond);
    const isCut = start + needed > this.whole;
    for (const mark of [this.outline, this.excess]) mark.toggleAttribute("data-cut", isCut);
  }

  /**
   * @param {HTMLElement} mark
   * @param {number} start [bytes]
   * @param {number} [size] [bytes] nothing to show at 0
   */
  place(mark, start, size) {
    mark.hidden = size === 0;
    mark.style.setProperty("--x", `${(100 * start) / this.whole}%`);
    if (size) mark.style.setProperty("--w", `${(100 * Math.min(size, this.whole - start)) / this.whole}%`);
  }

  /** @param {Peak | null} peak */
  count(peak) {
    this.most = peak;
    this.peak.hidden = !peak;
    if (!peak) return;
    const starved = peak.starved === null ? "" : `, ${peak.starved || "none"} of them for memory`;
    const told = [`Running at most `, peak.running, ` · waiting at most `, peak.waiting, `${starved} · preemptions `];
    const parts = [...told, peak.preemptions];
    if (this.peak.textContent === parts.join("")) return;
    this.peak.replaceChildren(...parts.map((one) => (typeof one === "number" ? element("b", {}, String(one)) : one)));
  }

  /** @param {Use | null} use */
  move(use) {
    this.use = use;
    write(this.now, use?.words ?? "");
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

  /** @returns {Record<string, number | null>} */
  get readings() {
    const { costs, demand, use } = this;
    const memory = costs?.memory;
    return {
      kv_bytes: memory?.kv_bytes ?? null,
      needed_bytes: demand?.needed_bytes ?? null,
      fits: demand?.fits ?? null,
      asked: demand?.users ?? null,
      used_share: memory && use ? use.used / Math.max(1, memory.usable_blocks) : null,
      waiting: use?.waiting ?? null,
      preemptions: this.most?.preemptions ?? null,
      missing_bytes: memory?.missing_bytes ?? null,
    };
  }
}

/**
 * Where KV begins on the bar [bytes].
 * @param {Costs} costs
 */
const kvStart = ({ memory }) => memory.weights_bytes + memory.activation_bytes + memory.other_bytes;

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
