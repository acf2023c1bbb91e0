/** The event list: entries in words from the server, a page of them around the playhead; a click goes to one. */

/** @typedef {import("../stage.js").Stage} Stage */

const REST_MS = 250;
const FOLLOW_MS = 1000;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const list = new EventList(card, stage);
  return { show: () => list.want(REST_MS), move: () => list.move() };
}

class EventList {
  /**
   * @param {HTMLElement} card
   * @param {Stage} stage
   */
  constructor(card, stage) {
    this.card = card;
    this.stage = stage;
    this.form = /** @type {HTMLFormElement} */ (card.querySelector("form"));
    this.timer = 0;
    this.askedAt = 0;
    this.abort = new AbortController();
    this.run = stage.state.run;
    /** @type {{us: number, row: HTMLElement}[]} */
    this.rows = [];
    /** Times that the page of entries tells all of [us]. */
    this.span = { from: 0, to: 0 };
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("change", () => this.filter());
    card.addEventListener("click", (event) => this.clicked(event));
    stage.addEventListener("neighbour", (event) => this.go(/** @type {CustomEvent} */ (event).detail));
    this.read();
  }

  /** Take what the page of entries says. */
  read() {
    const rows = /** @type {NodeListOf<HTMLElement>} */ (this.card.querySelectorAll("li[data-us]"));
    this.rows = [...rows].map((row) => ({ us: Number(row.dataset.us), row }));
    const has = (/** @type {string} */ page) => this.card.querySelector(`[data-page="${page}"]`) !== null;
    this.span = {
      from: has("earlier") ? (this.rows[0]?.us ?? 0) : Number.NEGATIVE_INFINITY,
      to: has("later") ? (this.rows.at(-1)?.us ?? 0) : Number.POSITIVE_INFINITY,
    };
  }

  filter() {
    const { kept } = this.stage.state;
    for (const name of ["kind", "request"]) {
      const { value } = /** @type {HTMLInputElement} */ (this.form.elements.namedItem(name));
      if (value) kept.set(name, value);
      else kept.delete(name);
    }
    this.stage.dispatchEvent(new Event("seek"));
    this.ask();
  }

  /** @param {number} wait [ms] */
  want(wait) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.ask(), wait);
  }

  /** @param {string} [query] of a page of the list; without it, the page with the playhead */
  async ask(query) {
    clearTimeout(this.timer);
    this.abort.abort();
    this.abort = new AbortController();
    const { signal } = this.abort;
    this.askedAt = performance.now();
    this.run = this.stage.state.run;
    const url = `${this.card.dataset.eventsUrl}?${query ?? this.stage.state.pageQuery(this.stage.at / 1e6)}`;
    try {
      const answer = await fetch(url, { signal, headers: { "HX-Request-Type": "partial" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("event-list");
      if (!page || signal.aborted) return;
      this.card.querySelector("#event-list")?.replaceWith(document.adoptNode(page));
      this.shown();
    } catch (error) {
      if (!signal.aborted) this.stage.fail(/** @type {Error} */ (error));
    }
  }

  shown() {
    const label = this.card.querySelector("[data-focus-label]");
    if (label) label.textContent = this.stage.labelOf(this.run).toLowerCase();
    this.read();
    this.stage.light(this.stage.lit);
    this.mark();
  }

  move() {
    const { at } = this.stage;
    const isElsewhere = at < this.span.from || at > this.span.to || this.run !== this.stage.state.run;
    if (isElsewhere && performance.now() - this.askedAt > FOLLOW_MS) this.ask();
    else if (isElsewhere) this.want(REST_MS);
    this.mark();
  }

  /** Mark the entries of the step at the playhead, and keep the first of them in sight. */
  mark() {
    const { run } = this.stage;
    const s = this.stage.step();
    const [from, to] = run && s >= 0 ? [run.start_us[s], run.end_us[s]] : [-1, -1];
    let first = null;
    for (const { us, row } of this.rows) {
      const isNow = us >= from && us < to;
      if (row.classList.contains("now") !== isNow) row.classList.toggle("now", isNow);
      if (isNow) first ??= row;
    }
    if (first) keepInSight(first);
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const target = /** @type {Element} */ (event.target);
    const page = target.closest("[data-page]");
    const neighbour = target.closest("[data-event]");
    const row = /** @type {HTMLElement | null} */ (target.closest("li[data-us]"));
    if (!page && !neighbour && !row) return;
    event.preventDefault();
    if (page) this.ask(page.getAttribute("href")?.slice(1));
    else if (neighbour) this.go(neighbour.getAttribute("data-event") ?? "");
    else if (row) this.seek(row);
  }

  /**
   * Go to the entry before or after the playhead.
   * @param {string} side
   */
  async go(side) {
    const near = this.neighbour(side);
    if (near) return this.seek(near.row);
    await this.ask();
    const link = /** @type {HTMLElement | null} */ (this.card.querySelector(`[data-event="${side}"][data-us]`));
    if (link) this.stage.seek(Number(link.dataset.us));
  }

  /** @param {string} side */
  neighbour(side) {
    const at = Math.round(this.stage.at);
    if (at < this.span.from || at > this.span.to) return null;
    return side === "after" ? this.rows.find(({ us }) => us > at) : this.rows.findLast(({ us }) => us < at);
  }

  /** @param {HTMLElement} row */
  seek(row) {
    this.stage.seek(Number(row.dataset.us));
    const text = row.querySelector(".event-text")?.textContent ?? "";
    this.stage.dispatchEvent(new CustomEvent("say", { detail: text }));
  }
}

/**
 * Scroll the list, not the page.
 * @param {HTMLElement} row
 */
function keepInSight(row) {
  const box = /** @type {HTMLElement} */ (row.closest(".event-scroll"));
  const top = row.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = top - box.clientHeight / 3;
}
