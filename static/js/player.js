/** A stage that stands alone: its transport, its steps, its words; what goes wrong is said in its notice. */
import { actionsOf } from "./actions.js";
import { Focus } from "./focus.js";
import { watchRequests } from "./light.js";
import { HttpProblem } from "./lines.js";
import { boundary } from "./run.js";
import { Say } from "./say.js";
import { Stage } from "./stage.js";
import { Transport } from "./transport.js";

const SAY_MS = 150;

export class Player {
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} live where changes are said
   */
  constructor(root, live) {
    this.root = root;
    this.stage = new Stage(root);
    this.notice = this.inside(".notice");
    this.say = new Say(this.inside(".scene"), live, this.stage);
    this.actions = actionsOf(this.stage);
    this.timer = 0;
    if (root.querySelector(".play-button")) new Transport(this.stage);
    new Focus(root, (run) => this.focused(run));
    watchRequests(this.stage);
    this.watch();
  }

  /** @param {string} selector */
  inside(selector) {
    return /** @type {HTMLElement} */ (this.root.querySelector(selector));
  }

  /** Time shown [s]. */
  get t() {
    return this.stage.at / 1e6;
  }

  /** Open the figures and ask for their runs. */
  start() {
    this.stage.openFigures(this.stage.state.views);
    this.stage.load();
  }

  watch() {
    const { stage } = this;
    stage.addEventListener("show", () => this.shown());
    stage.addEventListener("seek", () => this.settled());
    stage.addEventListener("fail", (event) => this.failed(/** @type {CustomEvent} */ (event).detail));
    stage.playhead.addEventListener("pause", () => this.settled());
    new IntersectionObserver(([entry]) => entry.isIntersecting || stage.playhead.pause()).observe(stage.main);
    const link = /** @type {HTMLAnchorElement} */ (this.inside("[data-lab]"));
    const follow = () => {
      link.href = `${link.dataset.lab}?${stage.state.pageQuery(this.t)}`;
    };
    for (const event of ["pointerenter", "focus", "click"]) link.addEventListener(event, follow);
  }

  /** Where no fragment brings new step links, they become buttons. */
  ownSteps() {
    for (const link of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll("a[data-step]"))) {
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

  /** The playhead rests: what follows it slowly does so now. */
  settled() {
    if (!this.stage.scene) return;
    this.offerSteps();
    clearTimeout(this.timer);
    this.timer = globalThis.setTimeout(() => this.say.describe(), SAY_MS);
  }

  offerSteps() {
    const { run, at } = this.stage;
    for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (
      this.root.querySelectorAll("button[data-step]")
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

  /** @param {string} run */
  focused(run) {
    this.stage.focus(run);
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
