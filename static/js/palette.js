/**
 * Colours of the page's tokens as canvas wants them, and the hatch patterns, made once per theme.
 *
 * @typedef {object} Palette
 * @property {string[]} series fill of requests
 * @property {string[]} on label on each
 * @property {CanvasPattern[]} hatch prefill of each
 * @property {Record<string, string>} token
 * @property {string} font
 */

const SERIES = 8;
const TOKENS = "paper card ink muted line edge lane idle wait bad accent part weights kv compute".split(" ");

/** @param {number} request */
export const seriesOf = (request) => request % SERIES;

/** @returns {Palette} */
export function readPalette() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colour = (/** @type {string} */ name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const numbers = Array.from({ length: SERIES }, (_, i) => i + 1);
  const series = numbers.map((i) => colour(`series-${i}`));
  const card = colour("card");
  const palette = {
    series,
    on: numbers.map((i) => colour(`on-${i}`)),
    hatch: series.map((fill) => hatchOf(fill, card)),
    token: Object.fromEntries(TOKENS.map((name) => [name, colour(name)])),
    font: getComputedStyle(document.body).fontFamily,
  };
  probe.remove();
  return palette;
}

/**
 * @param {string} fill
 * @param {string} card
 * @returns {CanvasPattern}
 */
function hatchOf(fill, card) {
  const ratio = devicePixelRatio || 1;
  const size = Math.round(6 * ratio);
  const tile = document.createElement("canvas");
  tile.width = size;
  tile.height = size;
  const pen = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
  pen.fillStyle = card;
  pen.fillRect(0, 0, size, size);
  pen.globalAlpha = 0.3;
  pen.fillStyle = fill;
  pen.fillRect(0, 0, size, size);
  pen.globalAlpha = 1;
  pen.strokeStyle = fill;
  pen.lineWidth = size / 3;
  for (const shift of [-size, 0, size]) {
    pen.beginPath();
    pen.moveTo(shift - size, 2 * size);
    pen.lineTo(shift + 2 * size, -size);
    pen.stroke();
  }
  const pattern = /** @type {CanvasPattern} */ (pen.createPattern(tile, "repeat"));
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}
