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
 * @property {HTMLElement} held what held slots cost
 * @property {string} text of the label
 * @property {number} rows slots that are drawn
 */
import { barsOf } from "../bars.js";
import { watchDrag } from "../drag.js";
import { forkTime, slotsOf } from "../fork.js";
import { watchGestures } from "../gestures.js";
import { heldTimeOf, heldWords } from "../heldtime.js";
import { readingsOf, waitingAt } from "../lanereadings.js";
import { LifeCard, lifeInWords } from "../lifecard.js";
import { coursesOf, drawCourses } from "../overview.js";
import { drawAxis, drawFork, drawLane, penOf, rowsOf } from "../timeline.js";
import { WindowControls } from "../windowcontrols.js";

const ALL_ROWS = 32;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export const mount = (card, stage) => new Timeline(inside(card, ".lanes"), stage);

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
    this.axis = canvasIn(inside(root, ".axis"));
    this.line = inside(root, ".playhead");
    this.overview = inside(stage.main, ".overview");
    this.window = new WindowControls(stage);
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Record<string, import("../bars.js").Bar[]>} */
    this.bars = {};
    /** @type {import("../overview.js").Courses | null} of runs that are here whole */
    this.courses = null;
    this.card = new LifeCard(root, inside(root, ".life"));
    this.width = 1;
    watchGestures(root, stage, (x) => this.timeAt(x));
    for (const [name, lane] of Object.entries(this.lanes)) this.watchLane(name, lane.box);
    watchDrag(root, ".lane, .axis", (x) => stage.seek(this.timeAt(x)));
    watchDrag(this.overview, "", (x) => stage.seek(this.courseTimeAt(x)));
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    this.bars = Object.fromEntries(Object.entries(scene.runs).map(([name, run]) => [name, barsOf(run)]));
    for (const [name, run] of Object.entries(scene.runs)) this.seat(name, run);
    this.courses = null;
    this.card.hide();
    this.window.show(scene);
  }

  /** @param {Scene} scene */
  span(scene) {
    this.scene = scene;
    this.card.hide();
    this.window.show(scene);
    this.draw();
  }

  light() {
    this.draw();
  }

  /**
   * A lane lights the request that is pointed at, or that the arrow keys come to.
   * @param {string} name
   * @param {HTMLElement} box
   */
  watchLane(name, box) {
    box.addEventListener("pointermove", (event) => this.pointed(name, event));
    box.addEventListener("pointerleave", () => this.left());
    box.addEventListener("blur", () => this.left());
    box.addEventListener("keydown", (event) => this.pressed(name, event));
  }

  /**
   * @param {string} name
   * @param {PointerEvent} event
   */
  pointed(name, event) {
    if (!this.scene || this.stage.playhead.isPlaying) return;
    const { canvas, rows } = this.lanes[name];
    const { top, height } = canvas.getBoundingClientRect();
    const places = rowsOf(rows, height - stripOf(height) - 4);
    const us = this.timeAt(event.clientX);
    const y = event.clientY - top;
    const bar = this.bars[name].findLast(
      ({ slot, start, free }) =>
        slot < places.length &&
        us >= start &&
        us <= free &&
        y >= places[slot].top &&
        y <= places[slot].top + places[slot].height,
    );
    if (bar) this.point(name, bar, event.clientX);
    else this.left();
  }

  /**
   * @param {string} name
   * @param {import("../bars.js").Bar} bar
   * @param {number} [clientX] where the pointer is
   */
  point(name, bar, clientX) {
    const { run, bounds, row } = this.placeOf(name, bar);
    this.stage.light(bar.request);
    const { left } = this.root.getBoundingClientRect();
    const x = clientX === undefined ? this.xOf(bar.start) + bounds.left : clientX;
    const top = bounds.top - this.root.getBoundingClientRect().top + row.top;
    this.card.show(run, bar.request, this.stage.labelOf(name), { left: x - left, top, bottom: top + row.height });
  }

  /**
   * @param {string} name
   * @param {import("../bars.js").Bar} bar
   */
  placeOf(name, bar) {
    const { canvas, rows } = this.lanes[name];
    const bounds = canvas.getBoundingClientRect();
    const row = rowsOf(rows, bounds.height - stripOf(bounds.height) - 4)[bar.slot] ?? { top: 0, height: 0 };
    return { run: /** @type {Scene} */ (this.scene).runs[name], bounds, row };
  }

  left() {
    this.card.hide();
    this.stage.dispatchEvent(new Event("unlight"));
  }

  /**
   * @param {string} name
   * @param {KeyboardEvent} event
   */
  pressed(name, event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const { lit } = this.stage;
    if (event.key === "Enter" && lit !== null) {
      event.preventDefault();
      this.stage.dispatchEvent(new CustomEvent("keep", { detail: lit }));
    } else if (by) {
      event.preventDefault();
      this.walk(name, by);
    }
  }

  /**
   * To the next bar in the order of time, from the lit one or from the playhead.
   * @param {string} name
   * @param {number} by
   */
  walk(name, by) {
    const bars = [...this.bars[name]].sort((x, y) => x.start - y.start);
    const here = bars.findIndex(({ request }) => request === this.stage.lit);
    const near = here >= 0 ? here + by : bars.findIndex(({ free }) => free >= this.stage.at);
    const bar = bars[Math.min(bars.length - 1, Math.max(0, near))];
    if (!bar) return;
    if (this.stage.window.lacks(bar.start)) this.stage.seek(bar.start);
    this.point(name, bar);
    const { run } = this.placeOf(name, bar);
    this.stage.dispatchEvent(new CustomEvent("say", { detail: lifeInWords(run, bar.request) }));
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
    const { box, note, held } = this.lanes[name];
    this.lanes[name].rows = rows;
    box.style.setProperty("--slots", String(rows));
    note.textContent = rows < slots ? `1–${rows} of ${slots} slots drawn` : "";
    held.textContent = heldWords(run);
  }

  draw() {
    if (!this.scene) return;
    const { runs, span, end } = this.scene;
    const { palette } = this.stage;
    const most = Math.max(...Object.values(runs).map((run) => largest(run.steps.waiting)));
    const fork = forkTime(runs);
    for (const [name, run] of Object.entries(runs)) {
      const { pen, width, height } = penOf(this.lanes[name].canvas);
      const strip = stripOf(height);
      const { stretches: costly } = heldTimeOf(run);
      drawLane(
        pen,
        { width, height, strip },
        span,
        { run, bars: this.bars[name], slots: this.lanes[name].rows, most, costly, lit: this.stage.lit },
        palette,
      );
      if (fork !== null && (name === "a" || name === "fork"))
        drawFork(pen, { width, height, strip }, span, fork, name === "fork", palette);
    }
    const { pen, width } = penOf(this.axis);
    drawAxis(pen, width, span, runs.a.requests.arrival_us, palette);
    this.width = width;
    if (!this.stage.window.shown) return;
    this.courses ??= this.scene.courses ?? coursesOf(runs, end);
    this.drawOverview(this.courses);
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
    const x = this.xOf(us);
    this.line.hidden = us < span.t0 || us > span.t1;
    this.line.style.transform = `translateX(${x.toFixed(1)}px)`;
    for (const [name, run] of Object.entries(runs)) {
      const lane = this.lanes[name];
      const text = `${waitingAt(run, us)} waiting`;
      if (text !== lane.text) lane.now.textContent = lane.text = text;
      lane.now.style.transform = x > this.width - 90 ? `translateX(calc(${x - 5}px - 100%))` : `translateX(${x + 5}px)`;
    }
  }

  /** What text beside the figure may quote, by run: `a.held_s` in slot-seconds, null where not all of the run is here. */
  readings() {
    return readingsOf(this.scene?.runs ?? {}, this.stage.at);
  }

  /**
   * Place of a time on the axis [px].
   * @param {number} us
   */
  xOf(us) {
    const span = this.scene?.span ?? { t0: 0, t1: 1 };
    return Math.min(1, Math.max(0, (us - span.t0) / (span.t1 - span.t0))) * this.width;
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
 * Height of the waiting line under a lane [px].
 * @param {number} height of the lane
 */
const stripOf = (height) => (height > 150 ? 26 : 16);

/** @param {Int32Array} values */
const largest = (values) => values.reduce((most, value) => Math.max(most, value), 0);

/**
 * @param {HTMLElement} box
 * @param {HTMLElement} root
 * @returns {LaneParts}
 */
function partsOf(box, root) {
  const note = inside(root, `[data-used="${box.dataset.lane}"]`);
  const held = inside(root, `[data-held="${box.dataset.lane}"]`);
  return { box, canvas: canvasIn(box), now: inside(box, ".now"), note, held, text: "", rows: 1 };
}

/**
 * @param {Element} root
 * @param {string} selector
 */
const inside = (root, selector) => /** @type {HTMLElement} */ (root.querySelector(selector));

/** @param {Element} root */
const canvasIn = (root) => /** @type {HTMLCanvasElement} */ (root.querySelector("canvas"));
