/**
 * The timeline: slots over time for each run on one axis, the playhead over them, and for a long run its course with the
 * window that is drawn.
 *
 * @typedef {import("../run.js").Run} Run
 * @typedef {import("../scene.js").Scene} Scene
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {object} LaneParts
 * @property {HTMLElement} box
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} now label at the playhead
 * @property {HTMLElement} note which slots are shown
 * @property {string} text of the label
 * @property {number} rows slots that are drawn
 */
import { barsOf } from "../bars.js";
import { watchDrag } from "../drag.js";
import { forkTime, slotsOf } from "../fork.js";
import { drawCourses } from "../overview.js";
import { stepAt } from "../run.js";
import { drawAxis, drawFork, drawLane, penOf } from "../timeline.js";
import { WindowControls } from "../windowcontrols.js";

const ALL_ROWS = 32;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export const mount = (card, stage) => new Timeline(inside(card, "#lanes"), stage);

class Timeline {
  /**
   * @param {HTMLElement} root the lanes
   * @param {Stage} stage
   */
  constructor(root, stage) {
    this.root = root;
    this.stage = stage;
    /** @type {Record<string, LaneParts>} */
    this.lanes = {};
    for (const box of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-lane]")))
      this.lanes[box.dataset.lane ?? ""] = partsOf(box, root);
    this.axis = canvasIn(inside(root, "#axis"));
    this.line = inside(root, "#playhead");
    this.overview = /** @type {HTMLElement} */ (document.getElementById("overview"));
    this.window = new WindowControls(stage);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Record<string, import("../bars.js").Bar[]>} */
    this.bars = {};
    this.width = 1;
    watchDrag(root, ".lane, #axis", (x) => stage.seek(this.timeAt(x)));
    watchDrag(this.overview, "", (x) => stage.seek(this.courseTimeAt(x)));
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    this.bars = Object.fromEntries(Object.entries(scene.runs).map(([name, run]) => [name, barsOf(run)]));
    for (const [name, run] of Object.entries(scene.runs)) this.seat(name, run);
    this.window.show(scene);
  }

  /**
   * Give a run's lane the rows it needs; of very many slots those that were never used are left out, and it says so.
   * @param {string} name
   * @param {Run} run
   */
  seat(name, run) {
    const slots = slotsOf(run);
    const used = this.bars[name].reduce((most, bar) => Math.max(most, bar.slot + 1), 0);
    const rows = slots <= ALL_ROWS ? slots : Math.min(slots, Math.max(used, ALL_ROWS / 2));
    const { box, note } = this.lanes[name];
    this.lanes[name].rows = rows;
    box.style.setProperty("--slots", String(rows));
    note.textContent = rows < slots ? `1–${rows} of ${slots} slots drawn` : "";
  }

  draw() {
    if (!this.scene) return;
    const { runs, span, courses } = this.scene;
    const { palette } = this.stage;
    const most = Math.max(...Object.values(runs).map((run) => largest(run.steps.waiting)));
    const fork = forkTime(runs);
    for (const [name, run] of Object.entries(runs)) {
      const { pen, width, height } = penOf(this.lanes[name].canvas);
      const strip = height > 150 ? 26 : 16;
      drawLane(
        pen,
        { width, height, strip },
        span,
        { run, bars: this.bars[name], slots: this.lanes[name].rows, most },
        palette,
      );
      if (fork !== null && (name === "a" || name === "fork"))
        drawFork(pen, { width, height, strip }, span, fork, name === "fork", palette);
    }
    const { pen, width } = penOf(this.axis);
    drawAxis(pen, width, span, runs.a.requests.arrival_us, palette);
    this.width = width;
    if (courses) this.drawOverview(courses);
  }

  /** @param {import("../overview.js").Courses} courses */
  drawOverview(courses) {
    const { pen, width, height } = penOf(canvasIn(this.overview));
    drawCourses(pen, width, height, courses, this.stage.palette);
    if (!this.scene) return;
    const { span, end } = this.scene;
    const frame = inside(this.overview, ".window");
    frame.style.left = `${(100 * span.t0) / end}%`;
    frame.style.width = `${(100 * (span.t1 - span.t0)) / end}%`;
  }

  /** Put the line and its labels where the playhead is. */
  move() {
    if (!this.scene) return;
    const { runs, span } = this.scene;
    const us = this.stage.at;
    const x = Math.min(1, Math.max(0, (us - span.t0) / (span.t1 - span.t0))) * this.width;
    this.line.style.transform = `translateX(${x.toFixed(1)}px)`;
    for (const [name, run] of Object.entries(runs)) {
      const lane = this.lanes[name];
      const text = `${waitingAt(run, us)} waiting`;
      if (text !== lane.text) lane.now.textContent = lane.text = text;
      lane.now.style.transform = x > this.width - 90 ? `translateX(calc(${x - 5}px - 100%))` : `translateX(${x + 5}px)`;
    }
  }

  /**
   * Time at a place on the axis [us].
   * @param {number} clientX
   */
  timeAt(clientX) {
    const { left, width } = this.axis.getBoundingClientRect();
    const span = this.scene?.span ?? { t0: 0, t1: 0 };
    return span.t0 + Math.min(1, Math.max(0, (clientX - left) / width)) * (span.t1 - span.t0);
  }

  /**
   * Time at a place on the overview [us].
   * @param {number} clientX
   */
  courseTimeAt(clientX) {
    const { left, width } = this.overview.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width)) * (this.scene?.end ?? 0);
  }
}

/**
 * @param {Run} run
 * @param {number} us
 */
function waitingAt(run, us) {
  const s = stepAt(run, us);
  return s < 0 || (run.end_us[s] < us && s + 1 < run.count) || s + 1 > run.count ? 0 : run.steps.waiting[s];
}

/** @param {Int32Array} values */
const largest = (values) => values.reduce((most, value) => Math.max(most, value), 0);

/**
 * @param {HTMLElement} box
 * @param {HTMLElement} root
 * @returns {LaneParts}
 */
function partsOf(box, root) {
  const note = inside(root, `[data-used="${box.dataset.lane}"]`);
  return { box, canvas: canvasIn(box), now: inside(box, ".now"), note, text: "", rows: 1 };
}

/**
 * @param {Element} root
 * @param {string} selector
 */
const inside = (root, selector) => /** @type {HTMLElement} */ (root.querySelector(selector));

/** @param {Element} root */
const canvasIn = (root) => /** @type {HTMLCanvasElement} */ (root.querySelector("canvas"));
