/**
 * Sliders: places from 0 to 1000 on a linear or logarithmic scale, and the value of a field beside them.
 *
 * @typedef {HTMLInputElement | HTMLSelectElement} Field
 */

/** @param {HTMLInputElement} slider */
const rangeOf = (slider) => ({
  low: Number(slider.dataset.low),
  high: Number(slider.dataset.high),
  step: Number(slider.dataset.step),
  word: slider.dataset.word ?? "",
});

/**
 * Value at a slider's position; the last position is the word, as in "auto".
 * @param {HTMLInputElement} slider
 */
export function valueAt(slider) {
  const { low, high, step, word } = rangeOf(slider);
  const share = Number(slider.value) / Number(slider.max);
  if (word && share === 1) return word;
  const zero = low === 0 && slider.dataset.scale === "log" ? step : 0;
  const raw = slider.dataset.scale === "log" ? logAt(share, low + zero, high) - zero : low + share * (high - low);
  return tidy(raw, low, high, step);
}

/**
 * @param {number} share
 * @param {number} low
 * @param {number} high
 */
const logAt = (share, low, high) => low * (high / low) ** share;

/**
 * Nearest step, and no more than two or three significant digits: sliders give round numbers.
 * @param {number} raw
 * @param {number} low
 * @param {number} high
 * @param {number} step
 */
function tidy(raw, low, high, step) {
  const grain = Math.max(step, 10 ** Math.floor(Math.log10(Math.max(raw, step)) - 1) / 2);
  const coarse = grain > step ? Math.max(step, Math.round(grain / step) * step) : step;
  const value = Math.min(high, Math.max(low, Math.round(raw / coarse) * coarse));
  return String(Number(value.toPrecision(12)));
}

/**
 * Put a slider where its field's value is.
 * @param {HTMLInputElement} slider
 * @param {Field} field
 */
export function follow(slider, field) {
  const { low, high, step, word } = rangeOf(slider);
  const value = Number(field.value);
  const zero = low === 0 && slider.dataset.scale === "log" ? step : 0;
  const share =
    slider.dataset.scale === "log"
      ? Math.log((value + zero) / (low + zero)) / Math.log(high / (low + zero))
      : (value - low) / (high - low);
  const isWord = word && field.value.trim() === word;
  slider.value = String(Math.round((isWord ? 1 : Math.min(1, Math.max(0, share || 0))) * Number(slider.max)));
  say(slider, field);
}

/**
 * @param {HTMLInputElement} slider
 * @param {Field} field
 */
export function say(slider, field) {
  slider.style.setProperty("--at", `${(100 * Number(slider.value)) / Number(slider.max)}%`);
  slider.setAttribute("aria-valuetext", `${field.value} ${slider.dataset.unit ?? ""}`.trim());
}
