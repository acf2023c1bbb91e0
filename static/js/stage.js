/**
 * The stage of a page: scenarios, their runs, one playhead, and the figures that all show the same moment of them.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./scene.js").Scene} Scene
 * @typedef {object} View what a figure's `mount(card, stage)` returns; all of it optional
 * @property {(scene: Scene) => void} [show] other runs are here
 * @property {(scene: Scene) => void} [span] another part of the time is shown
 * @property {() => void} [draw] draw anew: after show, at another size, in other colours
 * @property {() => void} [move] the playhead is elsewhere
 * @property {() => void} [light] another request is lit
 * @property {() => void} [costs] the formulas of what the controls say have come, before the runs
 * @property {() => void} [asked] the controls ask for something else, and nothing of it has come
 * @property {() => void} [frame] the server's state of the step has come into the card
 * @property {() => Record<string, number | null>} [readings] what text beside the figure may quote
 */

import { CostBook } from "./costs.js";
import { needsBlocks, needsCosts, open } from "./gallery.js";
import { Loader } from "./loader.js";
import { readPalette } from "./palette.js";
import { Playhead } from "./playhead.js";
import { Replay } from "./replay.js";
import { stepAt } from "./run.js";
import { fetchBlocks, fetchScene } from "./scene.js";
import { State } from "./state.js";
import { Window } from "./window.js";

const DETAIL_MS = 250;

/**
 * Tells `show` after runs have been drawn, `readings` when more is known of them, `light`, `open` when figures open or
 * close, and `fail` with an error.
 */
export class Stage extends EventTarget {
  /** @param {HTMLElement} main its dataset says what the page shows */
  constructor(main) {
    super();
    this.main = main;
    const { query = "", run = "a", views = "", stepsUrl = "", overviewUrl = "" } = main.dataset;
    this.urls = { steps: stepsUrl, overview: overviewUrl };
    this.most = { steps: Number(main.dataset.mostSteps), requests: Number(main.dataset.mostRequests) };
    this.state = new State(query, run, views, main);
    this.palette = readPalette();
    this.playhead = new Playhead();
    this.window = new Window(this.most);
    /** Time the page opens at [us]. */
    this.startAt = Number(main.dataset.t) * 1e6;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {Map<string, View>} open figures that draw */
    this.views = new Map();
    /** @type {Set<string>} figures whose script is on its way */
    this.coming = new Set();
    /** @type {number | null} request that is lit everywhere */
    this.lit = null;
    /** @type {Record<string, Replay>} */
    this.replays = {};
    this.costs = new CostBook(this.state, stepsUrl, () => this.each("costs"));
    this.detail = { timer: 0, abort: new AbortController() };
    this.loader = new Loader(
      (signal) => fetchScene(this.state, this.urls, this.most, this.window.span, signal),
      (scene, seq) => this.show(scene, seq),
      (error) => this.fail(error),
    );
    if (main.dataset.long === "true") this.window.begin(this.startAt);
    this.redrawing = 0;
    /** Query of the runs that are here. */
    this.shownQuery = "";
    this.playhead.addEventListener("move", () => this.moved());
    document.addEventListener("themechange", () => this.retheme());
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, () => this.retheme());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme());
    this.sizes = new ResizeObserver((entries) => this.resized(entries));
  }

  /** Time shown [us]. */
  get at() {
    return this.scene ? this.playhead.at : this.startAt;
  }

  /** The run in focus, if it is here. @returns {Run | null} */
  get run() {
    return this.scene?.runs[this.state.run] ?? null;
  }

  /**
   * Position of the step at the playhead, -1 before the first.
   * @param {string} [name] of a run; without it the one in focus
   */
  step(name = this.state.run) {
    const run = this.scene?.runs[name];
    return run ? stepAt(run, this.at) : -1;
  }

  /**
   * State of a run after the schedule() of its step at the playhead; null before the first.
   * @param {string} [name]
   */
  frame(name = this.state.run) {
    const s = this.step(name);
    return s < 0 ? null : this.replays[name].at(s);
  }

  /**
   * State of a run, if a step of it runs at the playhead.
   * @param {string} [name]
   */
  running(name = this.state.run) {
    const run = this.scene?.runs[name];
    const s = this.step(name);
    if (!run || s < 0) return null;
    const isRunning = this.at < run.end_us[s] || run.start_us[s] === run.end_us[s];
    return isRunning ? this.frame(name) : null;
  }

  /**
   * What a run is called.
   * @param {string} name
   */
  labelOf(name) {
    return this.main.querySelector(`[data-focus="${name}"], [data-label="${name}"]`)?.textContent ?? name;
  }

  /** The playhead is elsewhere; a zoomed part that is here comes along at once. */
  moved() {
    const { window, playhead } = this;
    if (!window.isLong && window.lacks(playhead.at)) {
      window.place(playhead.at);
      this.respan();
    }
    this.each("move");
  }

  /** Ask for the runs of what the state now says. */
  load() {
    clearTimeout(this.detail.timer);
    this.detail.abort.abort();
    this.wantCosts();
    return this.loader.want();
  }

  /**
   * @param {Scene} scene
   * @param {number} seq
   */
  show(scene, seq) {
    const isFirst = !this.scene;
    const isOther = this.shownQuery !== String(this.state.query);
    const at = this.at;
    this.shownQuery = String(this.state.query);
    this.take(scene);
    this.playhead.end = scene.end;
    this.window.show(scene);
    this.scene = { ...scene, span: this.window.shown ?? scene.span };
    for (const view of this.views.values()) present(view, this.scene);
    this.playhead.seek(at);
    this.dispatchEvent(new CustomEvent("show", { detail: { seq, isFirst } }));
    this.wantBlocks();
    if (isOther && this.window.lacks(this.at)) this.look(this.at);
  }

  /** @param {Scene} scene */
  take(scene) {
    this.replays = Object.fromEntries(Object.entries(scene.runs).map(([name, run]) => [name, new Replay(run)]));
  }

  /** Block ids are asked for once things rest, and only while a figure shows them. */
  wantBlocks() {
    clearTimeout(this.detail.timer);
    if (!this.scene || this.scene.hasBlocks || ![...this.views.keys()].some(needsBlocks)) return;
    this.detail.timer = window.setTimeout(() => this.fetchBlocks(), DETAIL_MS);
  }

  /** Formulas are asked for beside the runs, while a figure shows them. */
  wantCosts() {
    if ([...this.views.keys()].some(needsCosts)) this.costs.want();
  }

  async fetchBlocks() {
    const scene = /** @type {Scene} */ (this.scene);
    this.detail.abort = new AbortController();
    const { signal } = this.detail.abort;
    try {
      const detailed = await fetchBlocks(scene, this.state, this.urls, signal);
      if (signal.aborted || this.scene?.runs !== scene.runs) return;
      this.scene = { ...detailed, span: this.scene.span };
      this.take(detailed);
      for (const [name, view] of this.views) if (needsBlocks(name)) present(view, this.scene);
      for (const [name, view] of this.views) if (needsBlocks(name)) view.move?.();
      this.dispatchEvent(new Event("readings"));
    } catch (error) {
      if (!signal.aborted) this.fail(/** @type {Error} */ (error));
    }
  }

  /**
   * Another run is looked at.
   * @param {string} run
   */
  focus(run) {
    this.state.run = run;
    this.playhead.seek(this.at);
    this.each("costs");
  }

  /**
   * The user goes to another time [us].
   * @param {number} us
   */
  seek(us) {
    this.playhead.pause();
    this.playhead.seek(us);
    if (this.window.lacks(us)) this.look(us);
    this.dispatchEvent(new Event("seek"));
  }

  /**
   * Show the part of the time that another moment is in.
   * @param {number} us
   */
  look(us) {
    this.window.place(us);
    if (!this.playhead.isPlaying && us !== this.playhead.at) this.playhead.seek(us);
    this.respan();
  }

  /**
   * Show less (below 1) or more of the time; a moment stays in its place.
   * @param {number} factor
   * @param {number} [us]
   */
  zoom(factor, us = this.at) {
    this.window.zoom(factor, us);
    this.respan();
  }

  /**
   * Show an earlier (below 0) or later part of the time.
   * @param {number} share of what is shown
   */
  pan(share) {
    this.window.pan(share);
    this.respan();
  }

  /** Draw the part of the time that is to be shown, and fetch it if it is not here. */
  respan() {
    const { scene, window } = this;
    if (!scene) return void this.load();
    const span = window.shown ?? scene.here;
    this.scene = { ...scene, span };
    if (span.t0 < scene.here.t0 || span.t1 > scene.here.t1) this.load();
    this.redrawing ||= requestAnimationFrame(() => this.redrawSpan());
  }

  redrawSpan() {
    this.redrawing = 0;
    const { scene } = this;
    if (!scene) return;
    for (const view of this.views.values()) {
      view.span?.(scene);
      view.move?.();
    }
  }

  /**
   * Light a request everywhere; null: none.
   * @param {number | null} request
   */
  light(request) {
    if (request === this.lit) return;
    this.lit = request;
    this.each("light");
    this.dispatchEvent(new Event("light"));
  }

  /**
   * Bring the figures on the page to what is open; scripts of figures come when they are first opened.
   * @param {Iterable<string>} names
   */
  openFigures(names) {
    const wanted = new Set(names);
    for (const card of /** @type {NodeListOf<HTMLElement>} */ (this.main.querySelectorAll("[data-figure]"))) {
      const name = card.dataset.figure ?? "";
      card.hidden = !wanted.has(name);
      if (card.hidden) this.views.delete(name);
      else if (!this.views.has(name) && !this.coming.has(name)) this.mount(card, name);
    }
    this.dispatchEvent(new Event("open"));
  }

  /**
   * @param {HTMLElement} card
   * @param {string} name
   */
  async mount(card, name) {
    this.coming.add(name);
    const module = await open(name);
    this.coming.delete(name);
    if (!module || card.hidden) return;
    const view = module.mount(card, this);
    this.views.set(name, view);
    this.sizes.observe(card.querySelector("[data-box]") ?? card);
    if (needsCosts(name)) this.costs.want();
    this.dispatchEvent(new Event("mount"));
    if (!this.scene) return;
    present(view, this.scene);
    view.move?.();
    this.wantBlocks();
  }

  /** @param {"move" | "light" | "costs" | "asked" | "frame"} what */
  each(what) {
    if (this.scene) for (const view of this.views.values()) view[what]?.();
  }

  /** @param {ResizeObserverEntry[]} entries */
  resized(entries) {
    if (!this.scene) return;
    const cards = entries.map(({ target }) => /** @type {HTMLElement | null} */ (target.closest("[data-figure]")));
    for (const card of cards) this.redraw(this.views.get(card?.dataset.figure ?? ""));
  }

  retheme() {
    this.palette = readPalette();
    if (this.scene) for (const view of this.views.values()) this.redraw(view);
  }

  /** @param {View | undefined} view */
  redraw(view) {
    view?.draw?.();
    view?.move?.();
  }

  /** @param {Error} error */
  fail(error) {
    this.dispatchEvent(new CustomEvent("fail", { detail: error }));
  }
}

/**
 * @param {View} view
 * @param {Scene} scene
 */
function present(view, scene) {
  view.show?.(scene);
  view.draw?.();
}
