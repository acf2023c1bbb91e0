/** Read NDJSON line by line while it arrives. */

export class HttpProblem extends Error {
  /**
   * @param {number} status
   * @param {Record<string, unknown>} problem members of the problem JSON
   * @param {number} retryAfter when to ask again [s]; 0: not at all
   */
  constructor(status, problem, retryAfter) {
    super(String(problem.detail ?? problem.title ?? `The server answered ${status}.`));
    this.status = status;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

/**
 * @param {Response} response
 * @returns {Promise<HttpProblem>}
 */
export async function problemOf(response) {
  const isJson = response.headers.get("content-type")?.includes("json");
  const retryAfter = Number(response.headers.get("retry-after")) || 0;
  return new HttpProblem(response.status, isJson ? await response.json() : {}, retryAfter);
}

/**
 * Call `onLine` with each parsed line of the answer.
 * @param {string} url
 * @param {AbortSignal} signal
 * @param {(line: any) => void} onLine
 */
export async function readLines(url, signal, onLine) {
  const response = await fetch(url, { signal });
  if (!response.ok) throw await problemOf(response);
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line) onLine(JSON.parse(line));
    if (done) break;
  }
  if (rest) onLine(JSON.parse(rest));
}
