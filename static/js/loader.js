/**
 * One load at a time: a newer wish waits for the answer, or for PATIENCE and then aborts it. Each load has a number, and
 * only the newest may be shown: a stale answer never wins.
 */
const PATIENCE_MS = 500;

/** @template T */
export class Loader {
  /**
   * @param {(signal: AbortSignal) => Promise<T>} fetch asks for what the page now says
   * @param {(answer: T, seq: number) => void} onAnswer
   * @param {(error: Error) => void} onError
   */
  constructor(fetch, onAnswer, onError) {
    this.fetch = fetch;
    this.onAnswer = onAnswer;
    this.onError = onError;
    this.seq = 0;
    this.wanted = 0;
    /** @type {AbortController | null} */
    this.running = null;
    this.since = 0;
  }

  /** Ask again, for what the page says when the turn has come. */
  want() {
    this.wanted = ++this.seq;
    if (!this.running) this.next();
    else setTimeout(() => this.giveUp(), Math.max(0, this.since + PATIENCE_MS - performance.now()));
    return this.seq;
  }

  /** Abort a slow load once something newer waits. */
  giveUp() {
    if (this.wanted && this.running && performance.now() - this.since >= PATIENCE_MS - 1) this.running.abort();
  }

  async next() {
    if (!this.wanted) return;
    const seq = this.wanted;
    this.wanted = 0;
    this.running = new AbortController();
    this.since = performance.now();
    const { signal } = this.running;
    try {
      const answer = await this.fetch(signal);
      if (!signal.aborted) this.onAnswer(answer, seq);
    } catch (error) {
      if (!signal.aborted && !this.wanted) this.onError(/** @type {Error} */ (error));
    } finally {
      this.running = null;
      this.next();
    }
  }
}
