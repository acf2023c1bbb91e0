/** Five wastes of each run, side by side, each with the technique that removes it and whether that is on. */
import { element, part, write } from "../dom.js";
import { scenarioAt } from "../fork.js";
import { isWhole } from "../heldtime.js";
import { WASTES } from "../wasterows.js";
import { wastesOf } from "../wastes.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../run.js").Run} Run
 * @typedef {import("../wastes.js").Wastes} Wastes
 * @typedef {import("../wasterows.js").WasteRow} WasteRow
 * @typedef {{name: string, label: string, scenario: Record<string, any>, wastes: Wastes}} Entry
 */

const REST_MS = 120;
/** Told, but not drawn. */
const PAUSE = {
  reading: "longest_pause_ms",
  value: (/** @type {Wastes} */ { pause }) => (pause === null ? null : pause / 1000),
};

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new WastesFigure(card, stage);
  return { draw: () => figure.want(), readings: () => figure.readings() };
}

class WastesFigure {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.timer = 0;
  }

  /** All steps are counted, so it waits until things rest. */
  want() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.draw(), REST_MS);
  }

  /** The runs that are here, in the order of the timeline. @returns {Entry[]} */
  entries() {
    const runs = Object.entries(this.stage.scene?.runs ?? {}).reverse();
    return runs.map(([name, run]) => ({
      name,
      label: this.stage.labelOf(name),
      scenario: scenarioAt(run, run.count - 1),
      wastes: wastesOf(run),
    }));
  }

  draw() {
    const entries = this.entries();
    if (!entries.length) return;
    part(this.card, ".wastes").replaceChildren(...WASTES.map((row) => itemOf(row, entries)));
    const isPart = Object.values(this.stage.scene?.runs ?? {}).some((run) => !isWhole(run));
    part(this.card, "[data-part=window]").hidden = !isPart;
    write(part(this.card, "[data-twin]"), entries.map(wordsOf).join(" "));
  }

  readings() {
    /** @type {Record<string, number | null>} */
    const all = {};
    for (const { name, wastes } of this.entries())
      for (const { reading, value } of [...WASTES, PAUSE]) all[`${name}.${reading}`] = value(wastes);
    return all;
  }
}

/**
 * @param {WasteRow} row
 * @param {Entry[]} entries
 */
function itemOf(row, entries) {
  const most = row.most(entries.map(({ wastes }) => wastes));
  const head = element("p", {}, element("b", {}, row.title), element("span", {}, `, ${row.unit}. ${row.removes}.`));
  const list = element("dl", {}, ...entries.flatMap((entry) => cellsOf(row, entry, most)));
  return element("li", { "data-waste": row.name }, head, list);
}

/**
 * @param {WasteRow} row
 * @param {Entry} entry
 * @param {number} most
 */
function cellsOf(row, { name, label, scenario, wastes }, most) {
  const { isOn, text, note } = row.technique(scenario);
  const width = `--w: ${Math.min(100, (100 * (row.value(wastes) ?? 0)) / most).toFixed(2)}%`;
  const sign = element("i", { "aria-hidden": "true" }, isOn ? "✓" : "✗");
  const state = { class: "switch", "data-on": String(isOn), ...(note ? { title: note } : {}) };
  return [
    element("dt", { "data-run": name, title: label }, label),
    element("dd", { class: "bar", "aria-hidden": "true", style: width }),
    element("dd", { class: "value" }, row.text(wastes)),
    element("dd", state, sign, " ", text),
  ];
}

/**
 * The description twin.
 * @param {Entry} entry
 */
function wordsOf({ label, scenario, wastes }) {
  const parts = WASTES.map((row) => {
    const { isOn, text, note } = row.technique(scenario);
    return `${row.title.toLowerCase().replace("kv", "KV")} ${row.text(wastes)} (${isOn ? "on" : "not on"}: ${note || text})`;
  });
  return `${label}: ${parts.join("; ")}.`;
}
