/**
 * The state of the page is its URL: a scenario, what the others change of it, and the view.
 *
 * The server writes the canonical query of the page into the DOM; from there on this module keeps it.
 */

const RUNS = ["a", "fork", "b", "c"];
const VIEW = new Set(["t", "run", "views"]);

export class State {
  /**
   * @param {string} query canonical, without view parameters
   * @param {string} run the focused run
   * @param {string} views names of the open figures
   * @param {HTMLElement} root of the stage
   */
  constructor(query, run, views, root) {
    this.root = root;
    this.query = new URLSearchParams(query);
    this.run = run;
    const { normalViews = views, kept = "" } = root.dataset;
    this.normalViews = normalViews;
    /** View parameters of figures, as the address has them. */
    this.kept = new URLSearchParams(kept);
    /** @type {Set<string>} figures that are open */
    this.views = new Set(views.split(",").filter(Boolean));
    /** @type {number | null} shown time [s] */
    this.t = null;
  }

  /** @returns {string[]} */
  get runs() {
    return RUNS.filter((run) => run === "a" || [...this.query.keys()].some((key) => runOf(key) === run));
  }

  /**
   * Set a parameter of the plain scenario; the default is left out.
   * @param {string} name
   * @param {string} value
   * @param {string} normal its default
   */
  set(name, value, normal) {
    if (value === normal) this.query.delete(name);
    else this.query.set(name, value);
  }

  /**
   * Query of one scenario alone, as the API wants it; that of the fork is the plain one and what changes.
   * @param {string} run
   */
  scenarioQuery(run) {
    const alone = new URLSearchParams();
    for (const [key, value] of this.query) if (runOf(key) === "a") alone.set(key, value);
    for (const [key, value] of this.query)
      if (run !== "a" && runOf(key) === run) alone.set(run === "fork" ? key : key.slice(2), value);
    return alone.toString();
  }

  /**
   * Query of the whole page.
   * @param {number | null} [t] another time [s]
   * @param {string} [run] another focus
   */
  pageQuery(t = this.t, run = this.run) {
    const all = new URLSearchParams(this.query);
    for (const key of VIEW) all.delete(key);
    if (all.size === 0) all.set("num_requests", "60");
    if (t !== null) all.set("t", formatTime(t));
    if (run !== "a") all.set("run", run);
    const views = this.viewsText;
    if (views !== this.normalViews) all.set("views", views);
    for (const [name, value] of this.kept) all.set(name, value);
    return all.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  }

  /** The open figures, in the order of the page. */
  get viewsText() {
    const chips = /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll("[data-figure]"));
    const order = [...chips].map((card) => card.dataset.figure ?? "");
    return [...this.views].sort((x, y) => order.indexOf(x) - order.indexOf(y)).join(",");
  }

  /**
   * Query of the page with a trace instead of drawn requests, from its beginning.
   * @param {string} sha256
   */
  traceQuery(sha256) {
    this.query.set("load", "trace");
    this.query.set("trace", sha256);
    for (const name of ["arrival_list", "prompt_list", "output_list", "trace_from_s", "trace_to_s"])
      this.query.delete(name);
    return this.pageQuery(0);
  }

  /** Write the address bar; a stage that is only a part of its page has no address. */
  write() {
    if (this.root.tagName !== "MAIN") return;
    history.replaceState(null, "", `?${this.pageQuery()}`);
  }
}

/**
 * Run that a parameter of the address belongs to.
 * @param {string} key
 */
const runOf = (key) => (key === "fork" || key.startsWith("fork.") ? "fork" : key[1] === "." ? key[0] : "a");

/**
 * Seconds with as many digits as a microsecond needs.
 * @param {number} t
 */
export const formatTime = (t) => String(Math.round(t * 1e6) / 1e6);
