/**
 * Keeps a card that the server tells at the playhead: what has come from the server stays as it is, any other step is written
 * by the page into the same elements.
 *
 * @typedef {import("./frame.js").Frame} Frame
 */

/** While it plays, ten times a second are as often as can be read. */
const CALM_MS = 100;

export class Follower {
  /**
   * @param {HTMLElement} card in a fragment that says its time and run
   * @param {import("./stage.js").Stage} stage
   * @param {(frame: Frame) => void} write
   */
  constructor(card, stage, write) {
    this.card = card;
    this.stage = stage;
    this.write = write;
    /** Step that the card shows, '' if it is the server's. */
    this.shown = "";
    this.isServers = true;
    this.isFirst = true;
    this.wroteAt = 0;
  }

  /** The playhead is elsewhere. */
  move() {
    const now = performance.now();
    if (this.stage.playhead.isPlaying && now - this.wroteAt < CALM_MS) return;
    const frame = this.stage.running();
    if (!frame || (this.isServers && this.isAtServers(frame))) return;
    const mark = `${this.stage.state.run} ${frame.step} ${frame.run.hasBlocks}`;
    if (mark === this.shown) return;
    this.shown = mark;
    this.isServers = false;
    this.wroteAt = now;
    this.write(frame);
  }

  /** Write the step again, with more than was known before. */
  again() {
    this.shown = "";
    this.move();
  }

  /**
   * Other runs are here, or the same with block ids; the server's card is of those before, unless they are the first.
   * @param {import("./scene.js").Scene} scene
   */
  show(scene) {
    this.shown = "";
    if (!this.isFirst && !scene.hasBlocks) this.isServers = false;
    this.isFirst = false;
  }

  /** The server's card has come. */
  replaced() {
    this.isServers = true;
    this.again();
  }

  /**
   * Whether the server's card is of this step.
   * @param {Frame} frame
   */
  isAtServers({ run, position }) {
    const { t, run: name } = /** @type {HTMLElement | null} */ (this.card.closest("[data-t][data-run]"))?.dataset ?? {};
    const us = Math.round(Number(t) * 1e6);
    const isIn = us >= run.start_us[position] && (us < run.end_us[position] || run.start_us[position] === us);
    return name === this.stage.state.run && isIn;
  }
}
