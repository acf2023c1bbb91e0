/** The memory of a GPU as a bar for each run: what the model takes, what is left for KV, what is asked of it and in use. */
import { askedOf, demandOf } from "../demand.js";
import { part, write } from "../dom.js";
import { fullnessInWords, peakOf } from "../fullness.js";
import { Bar } from "../memorybar.js";

/** @typedef {import("../stage.js").Stage} Stage */

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new Memory(card, stage);
  const draw = () => figure.draw();
  return {
    draw,
    costs: draw,
    asked: () => figure.asked(),
    move: () => figure.move(),
    readings: () => figure.readings(),
  };
}

class Memory {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    /** @type {Record<string, Bar>} */
    this.bars = {};
    this.told = "";
  }

  draw() {
    const { runs } = this.stage.costs;
    if (Object.keys(runs).join() !== Object.keys(this.bars).join()) {
      this.bars = Object.fromEntries(Object.keys(runs).map((run) => [run, new Bar()]));
      part(this.card, ".memories").replaceChildren(...inOrder(this.bars).map((bar) => bar.root));
    }
    for (const [run, bar] of Object.entries(this.bars)) bar.show(this.stage.labelOf(run), runs[run]);
    this.asked();
  }

  /** What the controls ask for, by formulas that may be older than they are. */
  asked() {
    for (const [run, bar] of Object.entries(this.bars)) {
      const asked = askedOf(this.stage.costs.runs[run], this.stage.state.scenarioQuery(run));
      bar.want(demandOf(asked), asked);
    }
    const reach = Math.max(1, ...Object.values(this.bars).map((bar) => bar.reach));
    for (const [run, bar] of Object.entries(this.bars)) {
      bar.count(bar.isFitting ? peakOf(this.stage, run) : null);
      bar.scale(reach);
    }
    this.move();
  }

  move() {
    for (const [run, bar] of Object.entries(this.bars)) bar.move(useAt(this.stage, run));
    this.tell();
    if (this.stage.playhead.isPlaying) return;
    write(
      part(this.card, "[data-twin]"),
      inOrder(this.bars)
        .map((bar) => bar.words())
        .join(" "),
    );
  }

  readings() {
    /** @type {Record<string, number | null>} */
    const readings = {};
    for (const [run, bar] of Object.entries(this.bars))
      for (const [name, value] of Object.entries(bar.readings)) readings[`${run}.${name}`] = value;
    return readings;
  }

  tell() {
    const told = JSON.stringify(this.readings());
    if (told === this.told) return;
    this.told = told;
    this.stage.dispatchEvent(new Event("readings"));
  }
}

/**
 * In the order of the lanes of the timeline.
 * @param {Record<string, Bar>} bars
 */
const inOrder = (bars) => Object.values(bars).reverse();

/**
 * Blocks in use and cached at the playhead, and who waits for some; null where the run that is here is not that of the
 * controls, or has not begun.
 * @param {Stage} stage
 * @param {string} name
 * @returns {import("../memorybar.js").Use | null}
 */
function useAt(stage, name) {
  const run = stage.scene?.runs[name];
  const frame = stage.frame(name);
  const costs = stage.costs.runs[name];
  if (!run || !frame || !costs || run.facts.num_gpu_blocks - 1 !== costs.memory.usable_blocks) return null;
  const isOver = frame.position === run.count - 1 && stage.at >= run.end_us[frame.position];
  if (isOver) return { step: frame.step, used: 0, cached: 0, waiting: 0, words: "" };
  const used = costs.memory.usable_blocks - frame.free;
  const cached = run.hasBlocks ? frame.cached : 0;
  return { step: frame.step, used, cached, waiting: frame.waiting.length, words: fullnessInWords(frame) };
}
