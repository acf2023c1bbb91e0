/** One strip a user: when tokens come, and where a stream stands still because others are served. */
import { element, part, tableOf, write } from "../dom.js";
import { watchDrag } from "../drag.js";
import { limitOf, reasonOf, streamsOf, waitedWith } from "../streams.js";
import { drawStrips } from "../strips.js";
import { penOf } from "../timeline.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../run.js").Run} Run
 * @typedef {import("../streams.js").Streams} Streams
 */

const REST_MS = 250;
const MOST_ROWS = 200;
const ROW = { least: 10, most: 18 };
const HEIGHT = 360;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const figure = new StreamsFigure(card, stage);
  return {
    draw: () => figure.want(),
    span: () => figure.want(),
    move: () => figure.move(),
    light: () => figure.paint(),
  };
}

class StreamsFigure {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.timer = 0;
    /** @type {import("../scene.js").Scene | null} */
    this.scene = null;
    /** @type {Record<string, RunStreams>} */
    this.runs = {};
  }

  /** Folding all tokens of a run takes a while, so it waits until things rest. */
  want() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.draw(), REST_MS);
  }

  draw() {
    const { scene } = this.stage;
    if (!scene) return;
    if (scene !== this.scene) this.take(scene);
    this.paint();
    this.move();
  }

  /** @param {import("../scene.js").Scene} scene */
  take(scene) {
    this.scene = scene;
    const names = Object.keys(scene.runs).reverse();
    if (names.join() !== Object.keys(this.runs).join()) {
      this.runs = Object.fromEntries(names.map((name) => [name, new RunStreams(this.stage)]));
      part(this.card, ".stream-runs").replaceChildren(...Object.values(this.runs).map(({ root }) => root));
    }
    for (const name of names) this.runs[name].take(scene.runs[name], this.stage.labelOf(name), scene.span);
    const tables = names.map((name) => this.runs[name].table());
    part(this.card, ".table-scroll").replaceChildren(...tables);
    const words = names.map((name) => this.runs[name].words());
    write(part(this.card, "[data-twin]"), words.join(" "));
  }

  paint() {
    for (const run of Object.values(this.runs)) run.paint();
  }

  move() {
    for (const run of Object.values(this.runs)) run.move();
  }
}

/** The streams of one run. */
class RunStreams {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.title = element("b", {});
    this.worst = element("span", {});
    this.note = element("span", { class: "note" });
    this.canvas = element("canvas", { role: "img" });
    this.line = element("div", { class: "playhead" });
    this.inner = element("div", { class: "stream-inner" }, this.canvas, this.line);
    this.box = element("div", { class: "stream-box", tabindex: "0", role: "group" }, this.inner);
    const head = element("p", {}, this.title, " ", this.worst, " ", this.note);
    this.root = element("div", { class: "stream-run" }, head, this.box);
    /** @type {Run | null} */
    this.run = null;
    /** @type {Streams} */
    this.streams = { times: new Map(), gaps: 0, late: 0, worst: null };
    /** @type {number[]} */
    this.requests = [];
    this.row = ROW.most;
    this.span = { t0: 0, t1: 1 };
    watchDrag(this.inner, "canvas", (x) => this.stage.seek(this.timeAt(x)));
    this.canvas.addEventListener("pointermove", (event) => this.stage.light(this.requestAt(event.clientY)));
  }

  /**
   * @param {Run} run
   * @param {string} label
   * @param {import("../strips.js").Span} span
   */
  take(run, label, span) {
    this.run = run;
    this.span = span;
    this.streams = streamsOf(run);
    const all = requestsIn(run, this.streams, span);
    this.requests = all.slice(0, MOST_ROWS);
    this.row = Math.min(ROW.most, Math.max(ROW.least, Math.floor(HEIGHT / Math.max(1, this.requests.length))));
    this.inner.style.height = `${this.row * this.requests.length}px`;
    write(this.title, `${label}.`);
    write(this.worst, sentenceOf(run, this.streams));
    write(this.note, all.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${all.length} streams are drawn.` : "");
    this.box.setAttribute("aria-label", `Streams, ${label}`);
    this.canvas.setAttribute("aria-label", `${label}: tokens of each request over time`);
  }

  paint() {
    if (!this.run) return;
    const { pen, width } = penOf(this.canvas);
    const { streams, requests } = this;
    const strips = { streams, requests, arrivals: this.run.requests.arrival_us, limit: limitOf(this.run) };
    const { lit, palette } = this.stage;
    drawStrips(pen, { width, row: this.row }, this.span, { ...strips, lit }, palette);
    this.width = width;
  }

  move() {
    const { t0, t1 } = this.span;
    const x = Math.min(1, Math.max(0, (this.stage.at - t0) / (t1 - t0))) * (this.width ?? 0);
    this.line.style.transform = `translateX(${x.toFixed(1)}px)`;
  }

  /** @param {number} clientX */
  timeAt(clientX) {
    const { left, width } = this.canvas.getBoundingClientRect();
    return this.span.t0 + Math.min(1, Math.max(0, (clientX - left) / width)) * (this.span.t1 - this.span.t0);
  }

  /** @param {number} clientY */
  requestAt(clientY) {
    return this.requests[Math.floor((clientY - this.canvas.getBoundingClientRect().top) / this.row)] ?? null;
  }

  words() {
    return `${this.title.textContent} ${this.worst.textContent}`;
  }

  table() {
    const limit = this.run ? limitOf(this.run) : 0;
    const rows = this.requests.map((request) => rowOf(request, this.streams.times.get(request) ?? [], limit));
    const heads = ["request", "passes with tokens", "median gap", "longest gap", `over ${limit / 1000} ms`];
    return tableOf(`Streams. ${this.title.textContent}`, heads, rows);
  }
}

/**
 * Requests that wait or get tokens in a span, in order of arrival.
 * @param {Run} run
 * @param {Streams} streams
 * @param {import("../strips.js").Span} span
 */
function requestsIn({ requests }, { times }, span) {
  const inSight = [...times].filter(([, tokens]) => tokens[tokens.length - 1] >= span.t0 && tokens[0] <= span.t1);
  const arrival = (/** @type {number} */ request) => requests.arrival_us[request] ?? 0;
  return inSight.map(([request]) => request).sort((x, y) => arrival(x) - arrival(y) || x - y);
}

/**
 * @param {Run} run
 * @param {Streams} streams
 */
function sentenceOf(run, streams) {
  const { worst, gaps, late } = streams;
  if (!worst) return "No request has got two tokens yet.";
  const slo = run.scenario.slo_tpot_ms;
  const share = late ? `${late.toLocaleString("en")} of ${gaps.toLocaleString("en")} gaps` : "No gap";
  const others = waitedWith(streams, worst);
  const company = others ? ` ${others} ${others > 1 ? "others" : "other"} with it.` : "";
  return (
    `Request ${worst.request + 1} waited ${durationOf(worst.to - worst.from)} for its next token ` +
    `${reasonOf(run, worst)}.${company} ${share} longer than ${slo} ms.`
  );
}

/**
 * @param {number} request
 * @param {number[]} times
 * @param {number} limit
 */
function rowOf(request, times, limit) {
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  gaps.sort((x, y) => x - y);
  const median = gaps.length ? durationOf(gaps[gaps.length >> 1]) : "–";
  const longest = gaps.length ? durationOf(gaps[gaps.length - 1]) : "–";
  return [String(request + 1), String(times.length), median, longest, String(gaps.filter((gap) => gap > limit).length)];
}

/** @param {number} us */
const durationOf = (us) =>
  us >= 1e6 ? `${(us / 1e6).toFixed(2)} s` : `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
