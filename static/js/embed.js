/** A page with one figure: wires the stage, the transport and, where the server tells the figure, the panel. */
import { actionsOf, watchButtons } from "./actions.js";
import { Focus } from "./focus.js";
import { watchKeys } from "./keys.js";
import { mark, watchRequests } from "./light.js";
import { HttpProblem } from "./lines.js";
import { Panel } from "./panel.js";
import { boundary } from "./run.js";
import { Say } from "./say.js";
import { Stage } from "./stage.js";
import { Transport } from "./transport.js";

const FOLLOW_MS = 1000;
const SEEK_MS = 120;
const SAY_MS = 150;

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

class Embed {
  constructor() {
    this.stage = new Stage(byId("main"));
    this.notice = byId("notice");
    this.say = new Say(byId("scene"), byId("live"), this.stage);
    this.panel = document.getElementById("frame") ? this.makePanel() : null;
    if (document.getElementById("play")) new Transport(this.stage);
    new Focus(this.stage.main, (run) => this.focused(run));
    this.followedAt = 0;
    this.timer = 0;
    this.watch();
    this.stage.openFigures(this.stage.state.views);
    this.stage.load();
  }

  /** Time shown [s]. */
  get t() {
    return this.stage.at / 1e6;
  }

  makePanel() {
    return new Panel(
      () => this.stage.state.pageQuery(this.t),
      (link) => this.step(link.dataset.step ?? ""),
      () => this.framed(),
      (text) => this.tell(text),
    );
  }

  watch() {
    const { stage } = this;
    watchRequests(stage);
    const actions = actionsOf(stage);
    watchKeys(actions);
    watchButtons(actions);
    if (!this.panel) this.ownSteps();
    stage.addEventListener("show", () => this.shown());
    stage.addEventListener("seek", () => this.settled());
    stage.addEventListener("fail", (event) => this.failed(/** @type {CustomEvent} */ (event).detail));
    stage.playhead.addEventListener("move", () => this.moved());
    stage.playhead.addEventListener("pause", () => this.settled());
    new IntersectionObserver(([entry]) => entry.isIntersecting || stage.playhead.pause()).observe(stage.main);
    const link = /** @type {HTMLAnchorElement} */ (document.querySelector("[data-lab]"));
    link.addEventListener("click", () => {
      link.href = `${link.dataset.lab}?${this.stage.state.pageQuery(this.t)}`;
    });
  }

  /** @param {string} name */
  stepper(name) {
    return /** @type {HTMLElement | null} */ (
      document.querySelector(`[data-step="${name}"]:not([aria-disabled="true"], :disabled)`)
    );
  }

  /** Where no fragment brings new step links, they become buttons. */
  ownSteps() {
    for (const link of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("a[data-step]"))) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = link.className;
      button.dataset.step = link.dataset.step;
      button.setAttribute("aria-label", link.getAttribute("aria-label") ?? "");
      button.append(...link.childNodes);
      button.addEventListener("click", () => this.step(button.dataset.step ?? ""));
      link.replaceWith(button);
    }
  }

  shown() {
    this.notice.hidden = true;
    this.settled();
  }

  moved() {
    const { playhead, window } = this.stage;
    if (!playhead.isPlaying || performance.now() - this.followedAt < FOLLOW_MS) return;
    this.followedAt = performance.now();
    if (window.lacks(playhead.at)) this.stage.look(playhead.at);
    this.panel?.ask();
  }

  /** The playhead rests: what follows it slowly does so now. */
  settled() {
    if (!this.stage.scene) return;
    this.panel?.refresh(SEEK_MS);
    this.offerSteps();
    clearTimeout(this.timer);
    this.timer = globalThis.setTimeout(() => this.say.describe(), SAY_MS);
  }

  offerSteps() {
    const { run, at } = this.stage;
    for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (
      document.querySelectorAll("button[data-step]")
    )) {
      const to = run ? boundary(run, at, button.dataset.step ?? "") : null;
      button.disabled = to === null || to === at;
    }
  }

  /**
   * Go to another step of the run in focus, if it is here.
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

  /** A frame has come from the server. */
  framed() {
    mark(this.stage.lit);
    this.stage.each("frame");
    const t = Number(byId("frame").dataset.t);
    if (this.stage.playhead.isPlaying || Math.abs(t - this.t) < 1e-6) return;
    if (!this.stage.scene || this.stage.scene.courses) this.stage.look(t * 1e6);
  }

  /** @param {string} run */
  focused(run) {
    this.stage.state.run = run;
    this.stage.playhead.seek(this.stage.at);
    this.settled();
  }

  /** @param {string} text */
  tell(text) {
    this.notice.hidden = false;
    this.notice.textContent = text;
  }

  /** @param {Error} error */
  failed(error) {
    if (error instanceof HttpProblem && error.retryAfter) setTimeout(() => this.stage.load(), 1000 * error.retryAfter);
    this.tell(error instanceof TypeError ? "The server does not answer; the figure keeps what it has." : error.message);
  }
}

new Embed();
