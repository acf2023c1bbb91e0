/** A page of sections, each with a stage that begins when it comes near or there is time for it; keys and buttons lead from one to the next. */
import { watchButtons } from "./actions.js";
import { Tasks, watchQuestions } from "./exercise.js";
import { watchKeys } from "./keys.js";
import { watchKnobs } from "./knobs.js";
import { Player } from "./player.js";
import { lookUp } from "./readings.js";
import { watchTerms } from "./terms.js";
import { written } from "./units.js";

const NEAR = "60% 0px";
const READ_MS = 60;
const REST_MS = 500;

/** After what is in sight, once there is time for it. @param {() => void} act */
const later = (act) => setTimeout(() => (window.requestIdleCallback ?? setTimeout)(act), REST_MS);

/** What is farther down begins one by one, each when the one before is here, so that it is there when it is come to. */
const startNext = () => sections.find(({ place, player }) => place && !player)?.start();

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const live = /** @type {HTMLElement} */ (document.getElementById("live"));
const LESSON = main.dataset.lesson ?? "";

class Section {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.place = /** @type {HTMLElement | null} */ (root.querySelector("[data-stage]"));
    this.tasks = new Tasks(root, LESSON, (text) => {
      live.textContent = text;
    });
    /** @type {Player | null} */
    this.player = null;
    this.timer = 0;
    this.readings = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-reading]"));
    watchQuestions(root, LESSON);
    this.mark();
    for (const event of ["input", "change", "click", "keydown", "pointerdown"])
      root.addEventListener(event, (event) => this.touched(event), { capture: true });
  }

  /** The stage begins. */
  start() {
    if (this.player || !this.place) return;
    const player = new Player(this.place, live);
    const { stage } = player;
    this.player = player;
    player.ownSteps();
    watchKnobs(this.place, stage);
    for (const event of ["show", "readings", "mount", "seek"]) stage.addEventListener(event, () => this.read());
    stage.playhead.addEventListener("move", () => this.read());
    for (const event of ["show", "fail"]) stage.addEventListener(event, () => later(startNext), { once: true });
    player.start();
  }

  /** @param {Event} event */
  touched(event) {
    this.tasks.isTouched = true;
    const { target } = event;
    if (event.type === "change" || (target instanceof Element && target.closest("[data-stage], .answer")))
      this.root.classList.add("moved");
    this.read();
    current = this;
  }

  /** Numbers in the words follow the stage, and tasks are looked at. */
  read() {
    this.timer ||= window.setTimeout(() => {
      this.timer = 0;
      const { player } = this;
      if (!player?.stage.scene) return;
      for (const place of this.readings) {
        const text = written(lookUp(player.stage, place.dataset.reading ?? ""), place.dataset.unit ?? "");
        if (place.textContent !== text) place.textContent = text;
      }
      this.tasks.check(player.stage);
      this.mark();
    }, READ_MS);
  }

  /** The rail says whether all of its questions and tasks are done. */
  mark() {
    const open = this.root.querySelector(".task:not(.done), .question:not([data-given], .was-done)");
    const isDone = !open && this.root.querySelector(".task, .question") !== null;
    main.querySelector(`[data-rail="${this.root.id}"]`)?.classList.toggle("done", isDone);
  }

  /** Whether it is the one that is read now. @param {boolean} is */
  show(is) {
    const link = main.querySelector(`[data-rail="${this.root.id}"]`);
    if (is) link?.setAttribute("aria-current", "step");
    else link?.removeAttribute("aria-current");
    if (!is) return;
    current = this;
    const rail = link?.closest("ol");
    if (rail && link instanceof HTMLElement) rail.scrollLeft = link.offsetLeft - rail.clientWidth / 3;
  }

  /** @param {number} by */
  turn(by) {
    const to = sections[sections.indexOf(this) + by];
    if (!to) return;
    to.root.scrollIntoView();
    to.root.focus({ preventScroll: true });
    history.replaceState(null, "", `#${to.root.id}`);
  }
}

const sections = [.../** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("[data-section]"))].map(
  (root) => new Section(root),
);
let current = sections[0];

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) sections.find(({ root }) => root === target)?.start();
  },
  { rootMargin: NEAR },
);
const read = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      sections.find(({ root }) => root === target)?.show(isIntersecting);
  },
  { rootMargin: "-45% 0px -55% 0px" },
);
for (const { root } of sections) {
  near.observe(root);
  read.observe(root);
}

/** What the keys do is done to the section that is read now. @param {string} name */
const delegated = (name) => () => current.player?.actions[name]?.();
const names = ["play", "back", "forward", "start", "end", "in", "out", "whole", "left", "right", "clear", "keys"];
watchKeys({
  ...Object.fromEntries(names.map((name) => [name, delegated(name)])),
  next: () => current.turn(1),
  previous: () => current.turn(-1),
});
watchButtons(Object.fromEntries(["in", "out", "whole"].map((name) => [name, delegated(name)])));
main.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("[data-turn]") : null;
  const section = sections.find(({ root }) => link && root.contains(link));
  if (!link || !section) return;
  event.preventDefault();
  section.turn(link.getAttribute("data-turn") === "next" ? 1 : -1);
});
watchTerms(main);
for (const word of /** @type {NodeListOf<HTMLElement>} */ (main.querySelectorAll("[data-lights]"))) {
  const cards = word.closest("[data-section]")?.querySelectorAll("[data-figure]") ?? [];
  const light = (/** @type {boolean} */ is) => {
    for (const card of cards) card.toggleAttribute("data-lit-term", is);
    if (is) for (const card of cards) card.setAttribute("data-lit-term", word.dataset.lights ?? "");
  };
  for (const event of ["pointerenter", "focus", "click"]) word.addEventListener(event, () => light(true));
  for (const event of ["pointerleave", "blur"]) word.addEventListener(event, () => light(false));
}
