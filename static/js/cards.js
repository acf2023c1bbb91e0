/** The figures of both runs: what is shown, how it is written and which way is better stands in the markup. */

const FORMATS = [0, 1, 2].map(
  (digits) => new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
);

/**
 * @param {Record<string, any> | null} metrics
 * @param {string} path as in "ttft_s.p50"
 * @returns {number | null}
 */
export function metricAt(metrics, path) {
  let value = /** @type {any} */ (metrics);
  for (const key of path.split(".")) value = value?.[key];
  return typeof value === "number" ? value : null;
}

/**
 * @param {number | null} value
 * @param {DOMStringMap} card
 */
export function written(value, card) {
  if (value === null) return "–";
  const scaled = value * Number(card.scale);
  return FORMATS[digitsOf(scaled, card)].format(scaled);
}

/**
 * Digits after the point: none from 1,000 on, and one of a small rate.
 * @param {number} scaled
 * @param {DOMStringMap} card
 */
function digitsOf(scaled, card) {
  if (scaled >= 1000) return 0;
  return card.unit === "tok/s" && scaled < 100 ? 1 : Number(card.digits);
}

/**
 * How a figure differs from the one it is compared with.
 * @param {number | null} value
 * @param {number | null} other
 * @param {DOMStringMap} card
 * @returns {{text: string, verdict: "better" | "worse" | "same"}}
 */
export function differenceOf(value, other, card) {
  if (value === null || other === null || written(value, card) === written(other, card))
    return { text: "", verdict: "same" };
  const verdict = value > other === (card.better === "higher") ? "better" : "worse";
  const sign = value > other ? "+" : "−";
  if (card.unit === "%") return { text: `${sign}${Math.abs(100 * (value - other)).toFixed(0)} pp`, verdict };
  if (other === 0) return { text: "", verdict };
  const ratio = value / other;
  if (ratio >= 10 || ratio <= 0.1)
    return { text: `${ratio >= 10 ? "×" : "÷"} ${Math.round(ratio >= 10 ? ratio : 1 / ratio)}`, verdict };
  return { text: `${sign}${Math.abs(100 * (ratio - 1)).toFixed(0)} %`, verdict };
}

/**
 * @param {HTMLElement} root
 * @param {Record<string, import("./run.js").Run>} runs
 */
export function showMetrics(root, runs) {
  for (const card of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-metric]"))) {
    const path = card.dataset.metric ?? "";
    const mine = metricAt(runs.a.metrics, path);
    set(card, '[data-value="a"]', written(mine, card.dataset));
    for (const name of Object.keys(runs).filter((run) => run !== "a")) {
      const other = metricAt(runs[name].metrics, path);
      set(card, `[data-value="${name}"]`, written(other, card.dataset));
      const difference = differenceOf(mine, other, card.dataset);
      const change = card.querySelector(`[data-change="${name}"]`);
      if (!(change instanceof HTMLElement)) continue;
      change.textContent = difference.text;
      change.dataset.verdict = difference.verdict;
    }
  }
}

/**
 * @param {HTMLElement} card
 * @param {string} selector
 * @param {string} text
 */
function set(card, selector, text) {
  const node = card.querySelector(selector);
  if (node && node.textContent !== text) node.textContent = text;
}

/**
 * The figures in words, for the live region.
 * @param {HTMLElement} root
 */
export function metricsInWords(root) {
  const cards = [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-metric]"))];
  const words = (/** @type {Element} */ part) =>
    part.textContent?.replace("uncalibrated", "").replace(/\s+/g, " ").trim();
  return cards.map((card) => [...card.querySelectorAll("h3, .figure, .versus")].map(words).join(" ")).join(". ");
}
