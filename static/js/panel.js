/**
 * The state of the step as HTML from the server. htmx asks for it; here its address follows the playhead, and a stale
 * answer is dropped.
 */

/** @typedef {{ctx: {sourceElement: Element, target?: Element, request: {action: string}, seq?: number, response?: {status: number}}}} Detail */

export class Panel {
  /**
   * @param {() => string} address query of the frame to show now
   * @param {(link: HTMLElement) => boolean} onStep a step link was used; whether the playhead has been moved for it
   * @param {() => void} onShown
   * @param {(text: string) => void} onError
   */
  constructor(address, onStep, onShown, onError) {
    this.address = address;
    this.onStep = onStep;
    this.onShown = onShown;
    this.onError = onError;
    this.seq = 0;
    this.timer = 0;
    document.addEventListener("htmx:config:request", (event) =>
      this.configure(/** @type {CustomEvent<Detail>} */ (event)),
    );
    document.addEventListener("htmx:before:swap", (event) => this.check(/** @type {CustomEvent<Detail>} */ (event)));
    document.addEventListener("htmx:after:swap", () => this.onShown());
  }

  /**
   * Ask for the frame soon; the newest wish counts.
   * @param {number} wait [ms]
   */
  refresh(wait) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.ask(), wait);
  }

  ask() {
    document.getElementById("frame")?.dispatchEvent(new CustomEvent("frame:refresh"));
  }

  /** @param {CustomEvent<Detail>} event */
  configure(event) {
    const { ctx } = event.detail;
    if (ctx.target?.id !== "frame") return;
    const link = /** @type {HTMLElement | null} */ (ctx.sourceElement.closest("[data-step]"));
    const isLocal = link ? this.onStep(link) : true;
    if (isLocal) ctx.request.action = `frame/?${this.address()}`;
    clearTimeout(this.timer);
    ctx.seq = ++this.seq;
  }

  /**
   * Drop a stale answer, and keep the panels if there is none.
   * @param {CustomEvent<Detail>} event
   */
  check(event) {
    const { seq, response } = event.detail.ctx;
    if (seq === undefined) return;
    const isError = (response?.status ?? 0) >= 400;
    if (seq !== this.seq || isError) event.preventDefault();
    if (seq === this.seq && isError) this.onError(`The state of the step did not come (${response?.status}).`);
  }
}
