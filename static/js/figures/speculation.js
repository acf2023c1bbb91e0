/** Speculative decoding: drafts accepted and wasted, in this step, so far and in all; tokens a pass against the formula. */
import { tokensPerPass } from "../batch.js";
import { element, part, write } from "../dom.js";
import { draftsOf, expectedShares } from "../drafts.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../run.js").Run} Run
 * @typedef {import("../drafts.js").Drafts} Drafts
 * @typedef {import("../drafts.js").Tally} Tally
 */

const REST_MS = 200;
const DRAFTS = "3";
const ROWS = [
  { name: "step", title: "this step" },
  { name: "until", title: "so far" },
  { name: "all", title: "whole run" },
];

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const box = part(card, ".drafts");
  /** @type {Record<string, RunDrafts>} */
  let runs = {};
  let timer = 0;
  const drawNow = () => {
    if (!stage.scene) return;
    const entries = Object.entries(stage.scene.runs).reverse();
    const isOn = entries.some(([, run]) => run.scenario.num_speculative_tokens > 0);
    runs = Object.fromEntries(entries.map(([name, run]) => [name, new RunDrafts(run, stage.labelOf(name))]));
    box.replaceChildren(...(isOn ? Object.values(runs).map(({ root }) => root) : [offer(stage)]));
    move();
  };
  const draw = () => {
    clearTimeout(timer);
    timer = window.setTimeout(drawNow, REST_MS);
  };
  const move = () => {
    for (const [name, run] of Object.entries(runs)) run.move(stage.step(name));
    if (stage.playhead.isPlaying) return;
    const words = Object.values(runs).map((run) => run.words());
    write(part(card, "[data-twin]"), words.join(" "));
  };
  return { show: draw, move };
}

/**
 * Nothing to show, and how there would be.
 * @param {Stage} stage
 */
function offer(stage) {
  const query = new URLSearchParams(stage.state.pageQuery(stage.at / 1e6));
  query.set("num_speculative_tokens", DRAFTS);
  const link = element("a", { class: "button", href: `?${query}` }, `Try ${DRAFTS} drafts a pass`);
  const words =
    "Off: each pass of the model brings one token for each request. With drafts from a small model, a pass checks several.";
  return element("div", { class: "offer" }, element("p", {}, words), link);
}

/** The drafts of one run. */
class RunDrafts {
  /**
   * @param {Run} run
   * @param {string} label
   */
  constructor(run, label) {
    this.run = run;
    this.label = label;
    this.k = run.scenario.num_speculative_tokens;
    this.drafts = draftsOf(run);
    this.all = this.drafts.until(run.count - 1);
    this.position = -1;
    const isWhole = run.first === 0 && run.count === run.metrics.steps;
    const meters = ROWS.map(({ name, title }) => meterOf(name, isWhole ? title : title.replace("run", "window")));
    this.meters = Object.fromEntries(meters.map((meter) => [meter.name, meter]));
    const head = element("p", {}, element("b", {}, `${label}.`), ` ${this.sentence()}`);
    const list = element("dl", { class: "meters" }, ...meters.flatMap(({ title, bar, value }) => [title, bar, value]));
    this.root = element("div", { class: "drafts-run" }, head, ...(this.k ? [list, this.histogram()] : []));
  }

  sentence() {
    if (!this.k) return "Off: one token a pass.";
    const { passes, accepted } = this.all;
    if (!passes) return "No draft has been checked yet.";
    const { acceptance } = this.run.scenario;
    const formula = tokensPerPass(this.k, acceptance).toFixed(2);
    return `${(1 + accepted / passes).toFixed(2)} tokens a pass; ${formula} by the formula for ${this.k} drafts accepted with ${acceptance}.`;
  }

  /** @param {number} s */
  move(s) {
    this.position = s;
    if (!this.k) return;
    const none = { passes: 0, drafted: 0, accepted: 0 };
    const tallies = { step: s < 0 ? none : this.drafts.step(s), until: this.drafts.until(s), all: this.all };
    for (const [name, tally] of Object.entries(tallies)) fill(this.meters[name], tally);
  }

  words() {
    if (!this.k || this.position < 0) return `${this.label}: ${this.sentence()}`;
    const { drafted, accepted } = this.drafts.step(this.position);
    const so = this.drafts.until(this.position);
    return (
      `${this.label}, step ${this.run.first + this.position}: ${drafted} drafted, ${accepted} accepted; ` +
      `so far ${so.drafted} drafted, ${so.accepted} accepted; in all ${this.all.drafted} drafted, ${this.all.accepted} ` +
      `accepted. ${this.sentence()}`
    );
  }

  /** Passes by how many drafts they accepted, with a mark at what the formula expects. */
  histogram() {
    const { lengths } = this.drafts;
    const { acceptance } = this.run.scenario;
    const total = lengths.reduce((sum, count) => sum + count, 0);
    const expected = expectedShares(this.k, acceptance);
    const most = Math.max(...expected, ...lengths.map((count) => count / Math.max(1, total)));
    const rows = lengths.map((count, i) => {
      const share = count / Math.max(1, total);
      const style = `--w: ${(100 * share) / most}%; --x: ${(100 * expected[i]) / most}%`;
      const texts = [String(i), count.toLocaleString("en"), percent(share), percent(expected[i])];
      const bar = element("td", { class: "bar", "aria-hidden": "true" }, element("span", { style }));
      const [first, ...others] = texts;
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, first),
        bar,
        ...others.map((text) => element("td", {}, text)),
      );
    });
    const heads = ["accepted", "", "passes", "share", "formula"].map((text) =>
      text ? element("th", { scope: "col" }, text) : element("td", { "aria-hidden": "true" }),
    );
    return element(
      "table",
      { class: "numbers lengths" },
      element("caption", { class: "visually-hidden" }, `${this.label}: passes by drafts accepted`),
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows),
    );
  }
}

/**
 * @param {string} name
 * @param {string} title
 */
function meterOf(name, title) {
  const accepted = element("i", { class: "accepted" });
  const wasted = element("i", { class: "wasted" });
  const bar = element("dd", { class: "meter", "aria-hidden": "true" }, accepted, wasted);
  return { name, accepted, wasted, bar, title: element("dt", {}, title), value: element("dd", { class: "value" }) };
}

/**
 * @param {ReturnType<typeof meterOf>} meter
 * @param {Tally} tally
 */
function fill({ accepted, wasted, value }, tally) {
  const share = tally.drafted ? tally.accepted / tally.drafted : 0;
  accepted.style.setProperty("--w", `${100 * share}%`);
  wasted.style.setProperty("--w", tally.drafted ? `${100 - 100 * share}%` : "0%");
  const count = (/** @type {number} */ n) => n.toLocaleString("en");
  const text = `${count(tally.accepted)} of ${count(tally.drafted)} accepted, ${count(tally.drafted - tally.accepted)} wasted`;
  write(value, tally.drafted ? text : "none drafted");
}

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(0)} %`;
