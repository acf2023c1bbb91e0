/** A trace file that is opened: sent, said what was read of it, and sent again to a server that has lost it. */
import { sendAgain, sendTrace, watchFiles } from "./traces.js";

const NOTE = "trace-note";
const MOST_REASONS = 3;

export class Upload {
  /**
   * @param {string} url
   * @param {import("./notice.js").Notice} notice
   * @param {(sha256: string) => string} address query of the page that shows the trace
   */
  constructor(url, notice, address) {
    this.url = url;
    this.notice = notice;
    this.address = address;
    this.hasSentAgain = false;
    watchFiles(/** @type {HTMLInputElement} */ (document.getElementById("trace-file")), (file) => this.open(file));
  }

  /** @param {File} file */
  async open(file) {
    this.notice.say(`Reading ${file.name}…`, true);
    try {
      const answer = await sendTrace(this.url, file, file.name);
      sessionStorage.setItem(NOTE, noteOf(file.name, answer));
      location.assign(`?${this.address(answer.sha256)}`);
    } catch (error) {
      this.notice.say(`${file.name}: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** Say what was read, once, on the page that shows it. */
  greet() {
    const note = sessionStorage.getItem(NOTE);
    sessionStorage.removeItem(NOTE);
    if (note) this.notice.say(note, true);
  }

  /**
   * @param {string} sha256
   * @returns {Promise<boolean>} whether the server has got the trace again; tried once
   */
  async again(sha256) {
    if (this.hasSentAgain) return false;
    this.hasSentAgain = true;
    return sendAgain(this.url, sha256);
  }
}

/**
 * @param {string} name
 * @param {import("./traces.js").Answer} answer
 */
function noteOf(name, { rows, span_s, rejected, rejected_count, repaired }) {
  const parts = [`${name}: ${rows.toLocaleString("en")} requests over ${Math.round(span_s).toLocaleString("en")} s.`];
  const reasons = rejected.slice(0, MOST_REASONS).map(({ row, reason }) => `line ${row}: ${reason}`);
  if (rejected_count)
    parts.push(`${rejected_count} ${rejected_count > 1 ? "lines" : "line"} could not be used (${reasons.join("; ")}).`);
  if (repaired.length) parts.push(`Repaired: ${repaired.map(({ row, what }) => `line ${row}, ${what}`).join("; ")}.`);
  return parts.join(" ");
}
