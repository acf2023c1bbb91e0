/** A page with one figure: a player, the keys and, where the server tells the figure, the panel. */
import { watchButtons } from "./actions.js";
import { watchKeys } from "./keys.js";
import { mark } from "./light.js";
import { Panel } from "./panel.js";
import { Player } from "./player.js";

const FOLLOW_MS = 1000;
const SEEK_MS = 120;

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

class Embed extends Player {
  constructor() {
    super(byId("main"), byId("live"));
    this.panel = document.getElementById("frame") ? this.makePanel() : null;
    this.followedAt = 0;
    watchKeys(this.actions);
    watchButtons(this.actions);
    if (!this.panel) this.ownSteps();
    this.stage.playhead.addEventListener("move", () => this.moved());
    this.start();
  }

  makePanel() {
    return new Panel(
      () => this.stage.state.pageQuery(this.t),
      (link) => this.step(link.dataset.step ?? ""),
      () => this.framed(),
      (text) => this.tell(text),
    );
  }

  moved() {
    const { playhead, window } = this.stage;
    if (!playhead.isPlaying || performance.now() - this.followedAt < FOLLOW_MS) return;
    this.followedAt = performance.now();
    if (window.lacks(playhead.at)) this.stage.look(playhead.at);
    this.panel?.ask();
  }

  /** @override */
  settled() {
    if (this.stage.scene) this.panel?.refresh(SEEK_MS);
    super.settled();
  }

  /** A frame has come from the server. */
  framed() {
    mark(this.stage.lit);
    this.stage.each("frame");
    const t = Number(byId("frame").dataset.t);
    if (this.stage.playhead.isPlaying || Math.abs(t - this.t) < 1e-6) return;
    if (!this.stage.scene || this.stage.scene.courses) this.stage.look(t * 1e6);
  }
}

new Embed();
