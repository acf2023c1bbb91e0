/** The lab: wires state, controls, runs, drawing and panels. Each of them knows nothing of the others. */
import { showMetrics } from "./cards.js";
import { Chart } from "./chart.js";
import { Controls } from "./controls.js";
import { Figure } from "./figure.js";
import { Frames } from "./frames.js";
import { watchKeys } from "./keys.js";
import { HttpProblem } from "./lines.js";
import { Loader } from "./loader.js";
import { readPalette } from "./palette.js";
import { Panel } from "./panel.js";
import { Playhead } from "./playhead.js";
import { stepAt } from "./run.js";
import { Say, sceneOf } from "./say.js";
import { fetchScene, within } from "./scene.js";
import { State } from "./state.js";
import { sendAgain, sendTrace, watchFiles } from "./traces.js";
import { Transport } from "./transport.js";

const FOLLOW_MS = 1000;
const CHART_MS = 120;

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

class Lab {
  constructor() {
    const main = byId("main");
    this.data = main.dataset;
    this.urls = { steps: this.data.stepsUrl ?? "", overview: "overview/" };
    this.state = new State(this.data.query ?? "", this.data.run ?? "a");
    this.palette = readPalette();
    this.playhead = new Playhead();
    this.figure = new Figure(byId("lanes"));
    this.chart = new Chart(byId("chart"), JSON.parse(byId("chart-figure").textContent ?? "{}"), this.data.plotly ?? "");
    this.controls = new Controls(/** @type {HTMLFormElement} */ (byId("controls")), (...change) =>
      this.changed(...change),
    );
    this.transport = new Transport(this.playhead, this.figure, () => this.settled());
    this.panel = new Panel(
      () => this.state.pageQuery(this.t),
      (link) => this.step(link.dataset.step ?? ""),
      () => this.followFrame(),
    );
    this.say = new Say(byId("scene"), byId("live"));
    this.loader = new Loader(
      (signal) => fetchScene(this.state, this.urls, this.window, signal),
      (scene, seq) => this.show(scene, seq),
      (error) => this.failed(error),
    );
    /** @type {import("./scene.js").Scene | null} */
    this.scene = null;
    /** @type {Record<string, Frames>} */
    this.frames = {};
    /** @type {{t0: number, t1: number} | null} */
    this.window = null;
    this.startAt = Number(this.data.t) * 1e6;
    this.inputAt = 0;
    this.followedAt = 0;
    this.timers = { url: 0, chart: 0 };
    this.watch();
    this.loader.want();
  }

  /** Time shown [s]. */
  get t() {
    return this.scene ? this.playhead.at / 1e6 : this.startAt / 1e6;
  }

  watch() {
    this.playhead.addEventListener("move", () => this.moved());
    this.playhead.addEventListener("pause", () => this.settled());
    watchKeys(
      () => this.playhead.toggle(),
      (step) => /** @type {HTMLElement | null} */ (document.querySelector(`[data-step="${step}"][href]`))?.click(),
    );
    for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-focus]")))
      link.addEventListener("click", (event) => this.focus(event, link.dataset.focus ?? "a"));
    watchFiles(/** @type {HTMLInputElement} */ (byId("trace-file")), (file) => this.openTrace(file));
    new ResizeObserver(() => this.redraw()).observe(byId("lanes"));
    new IntersectionObserver(([entry]) => entry.isIntersecting || this.playhead.pause()).observe(byId("timeline"));
    document.addEventListener("themechange", () => this.retheme());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme());
    byId("window-at").addEventListener("input", () => this.moveWindow());
    byId("window-span").addEventListener("change", () => this.moveWindow());
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
    const label =
      document.querySelector(`[name="${name}"]`)?.closest(".control")?.querySelector("label, .label")?.textContent ??
      name;
    this.pending = `${label}: ${value}.`;
    for (const current of document.querySelectorAll(".preset[aria-current]")) current.removeAttribute("aria-current");
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
    this.window = scene.courses ? scene.span : null;
    this.frames = Object.fromEntries(Object.entries(scene.runs).map(([name, run]) => [name, new Frames(run)]));
    this.playhead.end = scene.end;
    this.figure.show(scene);
    this.figure.draw(this.palette);
    this.playhead.seek(isFirst ? this.startAt : this.playhead.at);
    showMetrics(byId("metrics"), scene.runs);
    this.measure(this.inputAt, seq);
    this.complain(null);
    this.showWindow();
    if (isFirst) this.begin();
    else this.settled();
    clearTimeout(this.timers.chart);
    this.timers.chart = window.setTimeout(() => this.drawChart(), CHART_MS);
  }

  /** After the first picture: the rest of the page wakes up. */
  begin() {
    this.describe();
    requestAnimationFrame(() => setTimeout(() => this.chart.load()));
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.data.given === "false" && !isCalm) this.playhead.play();
  }

  /**
   * Time from an input to the second frame after the picture, for bench/page.py.
   * @param {number} start
   * @param {number} seq
   */
  measure(start, seq) {
    if (!start) return;
    requestAnimationFrame(() =>
      requestAnimationFrame(() => performance.measure("lab:move", { start, end: performance.now(), detail: { seq } })),
    );
  }

  /** The playhead is elsewhere. */
  moved() {
    const { at, isPlaying } = this.playhead;
    this.figure.move(at);
    this.chart.move(at, isPlaying);
    const run = this.scene?.runs[this.state.run];
    const s = run ? stepAt(run, at) : -1;
    this.transport.show(this.labelOf(this.state.run).toLowerCase(), run && s >= 0 ? run.first + s : null);
    if (!isPlaying) return;
    if (this.scene?.courses && at > this.scene.span.t1) this.showTime(at);
    if (performance.now() - this.followedAt < FOLLOW_MS) return;
    this.followedAt = performance.now();
    this.panel.ask();
  }

  /** The playhead rests: address, panels and description follow. */
  settled() {
    if (!this.scene) return;
    const { at } = this.playhead;
    if (this.scene.courses && (at < this.scene.span.t0 || at > this.scene.span.t1)) this.showTime(at);
    this.panel.refresh();
    clearTimeout(this.timers.url);
    this.timers.url = window.setTimeout(() => {
      this.state.t = this.t;
      this.state.write();
      this.describe();
    }, 150);
  }

  /**
   * Go to another step of the focused run, if it is here.
   * @param {string} name
   * @returns {boolean}
   */
  step(name) {
    this.playhead.pause();
    const run = this.scene?.runs[this.state.run];
    const to = run && boundary(run, this.playhead.at, name, Boolean(this.scene?.courses));
    if (to === undefined || to === null) return false;
    this.playhead.seek(to);
    this.settled();
    return true;
  }

  /** A frame has come from the server; without runs of its own the page goes where it says. */
  followFrame() {
    const { t, run } = byId("frame").dataset;
    const isElsewhere = Math.abs(Number(t) - this.t) > 1e-6;
    if (!isElsewhere || this.playhead.isPlaying || run !== this.state.run) return;
    if (this.scene && !this.scene.courses) return;
    this.startAt = Number(t) * 1e6;
    this.state.t = Number(t);
    this.state.write();
    if (this.scene) this.playhead.seek(this.startAt);
    else this.transport.clock.textContent = `t = ${t} s`;
    if (this.scene?.courses) this.showTime(this.startAt);
  }

  /**
   * @param {Event} event
   * @param {string} run
   */
  focus(event, run) {
    event.preventDefault();
    this.state.run = run;
    for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-focus]")))
      link.toggleAttribute("aria-current", link.dataset.focus === run);
    this.moved();
    this.settled();
  }

  /** @param {string} run */
  labelOf(run) {
    return document.querySelector(`[data-focus="${run}"]`)?.textContent ?? run;
  }

  describe() {
    if (!this.scene) return;
    const { at } = this.playhead;
    const sentences = Object.entries(this.scene.runs).map(([name, run]) => {
      const s = stepAt(run, at);
      return sceneOf(this.labelOf(name), run, s, s < 0 ? new Map() : this.frames[name].at(s));
    });
    this.say.describe([`At ${(at / 1e6).toFixed(2)} seconds.`, ...sentences]);
    const change = this.pending ?? "";
    this.pending = "";
    if (change) this.say.announce(() => `${change} ${byId("metrics").innerText.replaceAll("\n", " ")}`);
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
   * Bring a time of a long run into the window.
   * @param {number} us
   */
  showTime(us) {
    if (!this.window || !this.scene) return;
    const length = Number(/** @type {HTMLSelectElement} */ (byId("window-span")).value) * 1e6;
    this.window = within({ t0: us - length / 8, t1: us + (7 * length) / 8 }, this.scene.end);
    this.loader.want();
  }

  moveWindow() {
    if (!this.scene) return;
    const slider = /** @type {HTMLInputElement} */ (byId("window-at"));
    this.transport.seek((Number(slider.value) / Number(slider.max)) * this.scene.end);
    this.showTime(this.playhead.at);
  }

  showWindow() {
    byId("window-controls").hidden = !this.window;
    if (!this.window || !this.scene) return;
    const slider = /** @type {HTMLInputElement} */ (byId("window-at"));
    const text = `${(this.window.t0 / 1e6).toFixed(0)} to ${(this.window.t1 / 1e6).toFixed(0)} s of ${(this.scene.end / 1e6).toFixed(0)} s`;
    if (document.activeElement !== slider)
      slider.value = String(Math.round((this.playhead.at / this.scene.end) * Number(slider.max)));
    slider.style.setProperty("--at", `${(100 * Number(slider.value)) / Number(slider.max)}%`);
    slider.setAttribute("aria-valuetext", text);
    byId("window-text").textContent = text;
  }

  /** @param {File} file */
  async openTrace(file) {
    this.complain(`Reading ${file.name}…`, true);
    try {
      const { sha256 } = await sendTrace(this.data.tracesUrl ?? "", file, file.name);
      this.state.set("load", "trace", "open");
      this.state.set("trace", sha256, "");
      this.state.t = null;
      location.assign(`?${this.state.pageQuery()}`);
    } catch (error) {
      this.complain(`${file.name}: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** @param {Error} error */
  async failed(error) {
    if (error instanceof HttpProblem && error.status === 409 && !this.hasSentAgain) {
      this.hasSentAgain = true;
      const sha256 = this.state.query.get("trace") ?? "";
      if (await sendAgain(this.data.tracesUrl ?? "", sha256)) return this.loader.want();
    }
    const field = error instanceof HttpProblem ? String(error.problem.field ?? "") : "";
    this.controls.complain(field.replace(/^[bc]\./, ""), error.message);
    this.complain(
      error instanceof TypeError ? "The server does not answer; the page keeps what it has." : error.message,
    );
  }

  /**
   * @param {string | null} text
   * @param {boolean} [isCalm]
   */
  complain(text, isCalm = false) {
    const notice = byId("notice");
    notice.hidden = !text;
    notice.textContent = text;
    notice.classList.toggle("calm", isCalm);
    if (!text) this.controls.complain();
  }
}

/**
 * Time of the boundary that a step button goes to [us]; null if it lies outside what is here.
 * @param {import("./run.js").Run} run
 * @param {number} at
 * @param {string} name
 * @param {boolean} isWindow
 * @returns {number | null}
 */
function boundary(run, at, name, isWindow) {
  const s = stepAt(run, at);
  if (isWindow && (name === "start" || name === "end" || s < 1 || s + 1 >= run.count)) return null;
  if (name === "start") return 0;
  if (name === "end") return run.count ? run.start_us[run.count - 1] : 0;
  if (name === "forward") return run.start_us[Math.min(s + 1, run.count - 1)];
  if (s < 0) return 0;
  return at > run.start_us[s] ? run.start_us[s] : run.start_us[Math.max(0, s - 1)];
}

new Lab();
