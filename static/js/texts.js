/**
 * How far the text of each request, and each beginning that several share, has been computed: twin of Texts in
 * sim/wastes.py. Texts are numbered as the server numbers them: shared ones, then the requests'.
 */
export class Texts {
  /** @param {import("./run.js").Run} run */
  constructor({ requests }) {
    const { prompt, parent = [], common = [], roots = [] } = requests;
    this.parent = parent;
    this.common = common;
    this.roots = roots.length;
    this.reach = new Float64Array(this.roots + prompt.length);
  }

  /**
   * Compute `count` tokens of a request from its token `first` on.
   * @param {number} request
   * @param {number} first
   * @param {number} count
   * @returns {number} how many of them had been computed before
   */
  compute(request, first, count) {
    const own = this.roots + request;
    const repeated = Math.max(0, Math.min(first + count, this.known(own)) - first);
    for (let text = own, end = first + count; text >= 0; ) {
      this.reach[text] = Math.max(this.reach[text], end);
      end = Math.min(end, this.common[text - this.roots] ?? 0);
      text = this.above(text);
    }
    return repeated;
  }

  /**
   * Tokens at the beginning of a text that have been computed, for whichever request.
   * @param {number} own
   */
  known(own) {
    let known = 0;
    for (let text = own, most = Number.POSITIVE_INFINITY; text >= 0; ) {
      known = Math.max(known, Math.min(this.reach[text], most));
      most = Math.min(most, this.common[text - this.roots] ?? 0);
      text = this.above(text);
    }
    return known;
  }

  /**
   * Text that a text begins with; -1: none.
   * @param {number} text
   */
  above(text) {
    return text < this.roots ? -1 : (this.parent[text - this.roots] ?? -1);
  }
}
