/** The lab: wires state, controls, runs, drawing and panels. None of them knows of the others. */
import { metricsInWords, showMetrics } from "./cards.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { Figure } from "./figure.js";
import { Focus } from "./focus.js";
import { watchKeys } from "./keys.js";
import { HttpProblem } from "./lines.js";
import { Loader } from "./loader.js";
import { Notice } from "./notice.js";
import { readPalette } from "./palette.js";
import { Panel } from "./panel.js";
import { Playhead } from "./playhead.js";
import { boundary, stepAt } from "./run.js";
import { Say } from "./say.js";
import { fetchScene } from "./scene.js";
import { State } from "./state.js";
import { Transport } from "./transport.js";
import { Upload } from "./upload.js";
import { Window } from "./window.js";

const FOLLOW_MS = 1000;
const CHART_MS = 300;
const SEEK_MS = 120;
const DRAG_MS = 250;
const ADDRESS_MS = 150;

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Time from an input to the second frame after the picture, for bench/page.py.
 * @param {number} start
 * @param {number} seq
 */
function measure(start, seq) {
  const measured = () => performance.measure("lab:move", { start, end: performance.now(), detail: { seq } });
  requestAnimationFrame(() => requestAnimationFrame(measured));
}

class Lab {
  constructor() {
    this.data = byId("main").dataset;
    this.urls = { steps: this.data.stepsUrl ?? "", overview: "overview/" };
    this.most = { steps: Number(this.data.mostSteps), requests: Number(this.data.mostRequests) };
    this.state = new State(this.data.query ?? "", this.data.run ?? "a");
    this.palette = readPalette();
    this.playhead = new Playhead();
    this.figure = new Figure(byId("lanes"));
    this.chart = new Chart(byId("chart"), JSON.parse(byId("chart-figure").textContent ?? "{}"), this.data.plotly ?? "");
    this.controls = new Controls(/** @type {HTMLFormElement} */ (byId("controls")), (...change) =>
      this.changed(...change),
    );
    this.notice = new Notice(this.controls);
    this.upload = new Upload(this.data.tracesUrl ?? "", this.notice, (sha256) => this.state.traceQuery(sha256));
    this.focus = new Focus((run) => this.focused(run));
    this.transport = new Transport(this.playhead, this.figure, () => this.settled());
    this.window = new Window((us) => this.placeWindow(us));
    this.panel = new Panel(
      () => this.state.pageQuery(this.t),
      (link) => this.step(link.dataset.step ?? ""),
      () => this.followFrame(),
      (text) => this.notice.say(text),
    );
    this.say = new Say(byId("scene"), byId("live"));
    this.loader = new Loader(
      (signal) => fetchScene(this.state, this.urls, this.most, this.window.span, signal),
      (scene, seq) => this.show(scene, seq),
      (error) => this.failed(error),
    );
    /** @type {import("./scene.js").Scene | null} */
    this.scene = null;
    /** Time the page opens at [us]. */
    this.startAt = Number(this.data.t) * 1e6;
    this.inputAt = 0;
    this.followedAt = 0;
    this.change = "";
    /** Whether the scenario was refused: the address and the panels stay with what is drawn. */
    this.isBad = false;
    this.timers = { address: 0, chart: 0 };
    this.watch();
    if (this.data.long === "true") this.window.place(this.startAt);
    this.loader.want();
  }

  /** Time shown [s]. */
  get t() {
    return (this.scene ? this.playhead.at : this.startAt) / 1e6;
  }

  watch() {
    this.playhead.addEventListener("move", () => this.moved());
    this.playhead.addEventListener("pause", () => this.settled());
    watchKeys(
      () => this.playhead.toggle(),
      (step) => /** @type {HTMLElement | null} */ (document.querySelector(`[data-step="${step}"][href]`))?.click(),
    );
    new ResizeObserver(() => this.redraw()).observe(byId("lanes"));
    new IntersectionObserver(([entry]) => entry.isIntersecting || this.playhead.pause()).observe(byId("lanes"));
    document.addEventListener("themechange", () => this.retheme());
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, () => this.retheme());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme());
  }

  /**
   * A control has moved.
   * @param {string} name
   * @param {string} value
   * @param {string} normal
   */
  changed(name, value, normal) {
    this.inputAt = performance.now();
    this.state.set(name, value, normal);
    this.change = `${this.controls.labelOf(name)}: ${value}.`;
    for (const current of document.querySelectorAll(".preset[aria-current]")) current.removeAttribute("aria-current");
    this.isBad = false;
    this.loader.want();
  }

  /**
   * Runs have come: draw them first, then all the rest.
   * @param {import("./scene.js").Scene} scene
   * @param {number} seq
   */
  show(scene, seq) {
    const isFirst = !this.scene;
    this.scene = scene;
    this.say.show(scene.runs);
    this.playhead.end = scene.end;
    this.figure.show(scene);
    this.figure.draw(this.palette);
    this.playhead.seek(isFirst ? this.startAt : this.playhead.at);
    this.window.show(scene, this.playhead.at);
    showMetrics(byId("metrics"), scene.runs);
    if (this.inputAt) measure(this.inputAt, seq);
    this.inputAt = 0;
    this.notice.clear();
    if (this.window.lacks(this.playhead.at)) this.placeWindow(this.playhead.at);
    if (isFirst) this.begin();
    else if (!this.playhead.isPlaying) this.settled(DRAG_MS);
    clearTimeout(this.timers.chart);
    this.timers.chart = window.setTimeout(() => this.drawChart(), CHART_MS);
  }

  /** After the first picture: the rest of the page wakes up. */
  begin() {
    this.describe();
    this.upload.greet();
    requestAnimationFrame(() => setTimeout(() => this.chart.load()));
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.data.given === "false" && !isCalm) this.playhead.play();
  }

  /** The playhead is elsewhere. */
  moved() {
    const { at, isPlaying } = this.playhead;
    this.figure.move(at);
    this.chart.move(at);
    const run = this.scene?.runs[this.state.run];
    const s = run ? stepAt(run, at) : -1;
    this.transport.show(this.focus.labelOf(this.state.run).toLowerCase(), run && s >= 0 ? run.first + s : null);
    if (!isPlaying || performance.now() - this.followedAt < FOLLOW_MS) return;
    this.followedAt = performance.now();
    if (this.window.lacks(at)) this.placeWindow(at);
    if (!this.isBad) this.panel.ask();
  }

  /**
   * The playhead rests: panels, address and description follow; not at once, so that a drag is not held up.
   * @param {number} [wait] [ms]
   */
  settled(wait = SEEK_MS) {
    if (!this.scene) return;
    if (this.window.lacks(this.playhead.at)) this.placeWindow(this.playhead.at);
    if (this.isBad) return;
    this.panel.refresh(wait);
    clearTimeout(this.timers.address);
    this.timers.address = window.setTimeout(() => {
      this.state.t = this.t;
      this.state.write();
      this.describe();
    }, ADDRESS_MS);
  }

  /**
   * Go to another step of the focused run, if it is here; else the server's link is followed.
   * @param {string} name
   * @returns {boolean}
   */
  step(name) {
    this.playhead.pause();
    const run = this.scene?.runs[this.state.run];
    const to = run ? boundary(run, this.playhead.at, name) : null;
    if (to === null) return false;
    this.playhead.seek(to);
    this.settled();
    return true;
  }

  /** A frame has come from the server; where the page has no such step itself, it goes where the frame is. */
  followFrame() {
    this.focus.spread();
    const { t, run } = byId("frame").dataset;
    if (Math.abs(Number(t) - this.t) < 1e-6 || this.playhead.isPlaying || run !== this.state.run) return;
    if (this.scene && !this.scene.courses) return;
    this.startAt = Number(t) * 1e6;
    this.state.t = Number(t);
    this.state.write();
    if (this.scene) this.playhead.seek(this.startAt);
    else this.transport.say(this.focus.labelOf(this.state.run), Number(t));
    if (this.window.lacks(this.startAt)) this.placeWindow(this.startAt);
  }

  /** @param {string} run */
  focused(run) {
    this.state.run = run;
    this.moved();
    this.settled();
  }

  describe() {
    this.say.describe(this.playhead.at, (run) => this.focus.labelOf(run));
    const { change } = this;
    this.change = "";
    if (change) this.say.announce(() => `${change} ${metricsInWords(byId("metrics"))}`);
  }

  redraw() {
    this.figure.draw(this.palette);
    this.figure.move(this.playhead.at);
    this.drawChart();
  }

  retheme() {
    this.palette = readPalette();
    this.redraw();
  }

  drawChart() {
    if (this.scene) this.chart.draw(this.scene.runs, this.scene.span, this.palette, this.figure.gutter);
  }

  /**
   * Show another part of a long run.
   * @param {number} us
   */
  placeWindow(us) {
    this.window.place(us);
    if (!this.playhead.isPlaying && us !== this.playhead.at) this.playhead.seek(us);
    this.loader.want();
  }

  /** @param {Error} error */
  async failed(error) {
    const status = error instanceof HttpProblem ? error.status : 0;
    if (status === 409 && (await this.upload.again(this.state.query.get("trace") ?? "")))
      return void this.loader.want();
    if (error instanceof HttpProblem && error.retryAfter) setTimeout(() => this.loader.want(), 1000 * error.retryAfter);
    this.isBad = status === 422;
    this.notice.explain(error);
  }
}

new Lab();
