/** The lab: wires the stage, the controls, the panels and the words. None of them knows of the others. */
import { actionsOf, watchButtons } from "./actions.js";
import { metricsInWords, showMetrics } from "./cards.js";
import { watchChips } from "./chips.js";
import { watchCompare } from "./compare.js";
import { Controls } from "./controls.js";
import { watchDialect } from "./dialect.js";
import { Focus } from "./focus.js";
import { watchKeys } from "./keys.js";
import { mark, watchRequests } from "./light.js";
import { HttpProblem } from "./lines.js";
import { Notice } from "./notice.js";
import { Panel } from "./panel.js";
import { boundary } from "./run.js";
import { Say } from "./say.js";
import { watchSetup } from "./setup.js";
import { Share } from "./share.js";
import { Stage } from "./stage.js";
import { Transport } from "./transport.js";
import { Upload } from "./upload.js";

const FOLLOW_MS = 1000;
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
    this.stage = new Stage(byId("main"));
    this.data = this.stage.main.dataset;
    this.controls = new Controls(/** @type {HTMLFormElement} */ (byId("controls")), (changes) => this.changed(changes));
    this.notice = new Notice(this.controls);
    this.upload = new Upload(this.data.tracesUrl ?? "", this.notice, (sha256) => this.stage.state.traceQuery(sha256));
    this.focus = new Focus(this.stage.main, (run) => this.focused(run));
    this.transport = new Transport(this.stage);
    this.panel = new Panel(
      () => this.stage.state.pageQuery(this.t),
      (link) => this.step(link.dataset.step ?? ""),
      () => this.followFrame(),
      (text) => this.notice.say(text),
    );
    this.say = new Say(byId("scene"), byId("live"), this.stage);
    new Share(this.stage, () => this.stage.state.pageQuery(this.t));
    this.inputAt = 0;
    this.followedAt = 0;
    this.change = "";
    /** Whether the scenario was refused: the address and the panels stay with what is drawn. */
    this.isBad = false;
    this.timer = 0;
    this.watch();
    this.stage.openFigures(this.stage.state.views);
    this.stage.load();
  }

  /** Time shown [s]. */
  get t() {
    return this.stage.at / 1e6;
  }

  watch() {
    const { stage } = this;
    watchChips(stage);
    watchDialect(stage);
    watchSetup();
    watchRequests(stage);
    watchCompare(stage, (text) => this.edited(text));
    const actions = actionsOf(stage);
    watchKeys(actions);
    watchButtons(actions);
    stage.addEventListener("say", (event) => this.say.announce(() => /** @type {CustomEvent} */ (event).detail));
    stage.addEventListener("show", (event) => this.shown(/** @type {CustomEvent} */ (event).detail));
    stage.addEventListener("seek", () => this.settled());
    stage.addEventListener("open", () => this.settled());
    stage.addEventListener("fail", (event) => this.failed(/** @type {CustomEvent} */ (event).detail));
    stage.playhead.addEventListener("move", () => this.moved());
    stage.playhead.addEventListener("pause", () => this.settled());
    new IntersectionObserver(([entry]) => entry.isIntersecting || stage.playhead.pause()).observe(byId("lanes"));
  }

  /**
   * Controls have moved.
   * @param {import("./controls.js").Change[]} changes
   */
  changed(changes) {
    for (const { name, value, normal } of changes) this.stage.state.set(name, value, normal);
    this.edited(changes.map(({ name, value }) => `${this.controls.labelOf(name)}: ${value || "none"}.`).join(" "));
  }

  /**
   * The scenarios are others.
   * @param {string} text what has changed, in words
   */
  edited(text) {
    this.inputAt = performance.now();
    this.change = text;
    for (const current of document.querySelectorAll(".preset[aria-current]")) current.removeAttribute("aria-current");
    document.getElementById("see")?.toggleAttribute("hidden", true);
    this.isBad = false;
    this.stage.each("asked");
    this.stage.load();
  }

  /**
   * Runs have come and are drawn: then all the rest.
   * @param {{seq: number, isFirst: boolean}} detail
   */
  shown({ seq, isFirst }) {
    const scene = /** @type {import("./scene.js").Scene} */ (this.stage.scene);
    showMetrics(byId("metrics"), scene.runs);
    if (this.inputAt) measure(this.inputAt, seq);
    this.inputAt = 0;
    this.notice.clear();
    this.controls.resolve(scene.runs.a.facts);
    if (isFirst) this.begin();
    else if (!this.stage.playhead.isPlaying) this.settled(DRAG_MS);
  }

  /** After the first picture: the rest of the page wakes up. */
  begin() {
    this.describe();
    this.upload.greet();
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (this.data.given === "false" && !isCalm) this.stage.playhead.play();
  }

  /** The playhead is elsewhere; while it plays, the panels follow now and then. */
  moved() {
    const { playhead, window } = this.stage;
    if (!playhead.isPlaying || performance.now() - this.followedAt < FOLLOW_MS) return;
    this.followedAt = performance.now();
    if (window.lacks(playhead.at)) this.stage.look(playhead.at);
    if (!this.isBad) this.panel.ask();
  }

  /**
   * The playhead rests: panels, address and description follow; not at once, so that a drag is not held up.
   * @param {number} [wait] [ms]
   */
  settled(wait = SEEK_MS) {
    if (!this.stage.scene) return;
    if (this.isBad) return;
    this.panel.refresh(wait);
    clearTimeout(this.timer);
    this.timer = globalThis.setTimeout(() => {
      this.stage.state.t = this.t;
      this.stage.state.write();
      this.describe();
    }, ADDRESS_MS);
  }

  /**
   * Go to another step of the focused run, if it is here; else the server's link is followed.
   * @param {string} name
   * @returns {boolean}
   */
  step(name) {
    this.stage.playhead.pause();
    const { run } = this.stage;
    const to = run ? boundary(run, this.stage.at, name) : null;
    if (to === null) return false;
    this.stage.seek(to);
    return true;
  }

  /** A frame has come from the server; where the page has no such step itself, it goes where the frame is. */
  followFrame() {
    const { stage } = this;
    this.focus.spread();
    mark(stage.lit);
    stage.each("frame");
    const { t, run } = byId("frame").dataset;
    if (Math.abs(Number(t) - this.t) < 1e-6 || stage.playhead.isPlaying || run !== stage.state.run) return;
    if (stage.scene && !stage.scene.courses) return;
    stage.startAt = Number(t) * 1e6;
    stage.state.t = Number(t);
    stage.state.write();
    if (stage.scene) stage.playhead.seek(stage.startAt);
    else this.transport.say(stage.labelOf(stage.state.run), Number(t));
    if (stage.window.lacks(stage.startAt)) stage.look(stage.startAt);
  }

  /** @param {string} run */
  focused(run) {
    this.stage.focus(run);
    this.settled();
  }

  describe() {
    this.say.describe();
    const { change } = this;
    this.change = "";
    if (change) this.say.announce(() => `${change} ${metricsInWords(byId("metrics"))}`);
  }

  /** @param {Error} error */
  async failed(error) {
    const { stage } = this;
    const status = error instanceof HttpProblem ? error.status : 0;
    if (status === 409 && (await this.upload.again(stage.state.query.get("trace") ?? ""))) return void stage.load();
    if (error instanceof HttpProblem && error.retryAfter) setTimeout(() => stage.load(), 1000 * error.retryAfter);
    this.isBad = status === 422;
    this.notice.explain(error);
  }
}

new Lab();
