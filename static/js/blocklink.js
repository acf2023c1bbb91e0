/** Lines from logical blocks to the physical one, over both; and the way of the arrow keys from block to block. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {SVGSVGElement} svg covers what it draws over
 * @param {Element[]} spots
 * @param {Element} home
 */
export function drawLinks(svg, spots, home) {
  const origin = svg.getBoundingClientRect();
  const lines = spots.map((spot) => wayOf(spot.getBoundingClientRect(), home.getBoundingClientRect(), origin));
  svg.replaceChildren(...["halo", "line"].flatMap((name) => lines.map((line) => pathOf(name, line))));
}

/**
 * From the nearer edges: sideways where there is room between, else downwards.
 * @param {DOMRect} from
 * @param {DOMRect} to
 * @param {DOMRect} origin
 */
function wayOf(from, to, origin) {
  const isBeside = to.left - from.right > 12;
  const [x0, x1] = isBeside ? [from.right, to.left] : [from.left + from.width / 2, to.left + to.width / 2];
  const [y0, y1] = isBeside ? [from.top + from.height / 2, to.top + to.height / 2] : [from.bottom, to.top];
  const [ax, ay, bx, by] = [x0 - origin.left, y0 - origin.top, x1 - origin.left, y1 - origin.top];
  const [dx, dy] = isBeside ? [(bx - ax) / 2, 0] : [0, (by - ay) / 2];
  return `M${ax},${ay} C${ax + dx},${ay + dy} ${bx - dx},${by - dy} ${bx},${by}`;
}

/**
 * @param {string} name
 * @param {string} line
 */
function pathOf(name, line) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", name);
  path.setAttribute("d", line);
  return path;
}

/** @type {Record<string, (from: DOMRect, to: DOMRect) => boolean>} */
const BEYOND = {
  ArrowUp: (from, to) => to.bottom <= from.top + 1,
  ArrowDown: (from, to) => to.top >= from.bottom - 1,
};

/**
 * The option that a key leads to; undefined if the key is none of ours.
 * @param {HTMLElement[]} options
 * @param {HTMLElement} at
 * @param {string} key
 */
export function optionAt(options, at, key) {
  const place = options.indexOf(at);
  if (key === "Home") return options[0];
  if (key === "End") return options[options.length - 1];
  if (key === "ArrowLeft") return options[place - 1] ?? at;
  if (key === "ArrowRight") return options[place + 1] ?? at;
  return key in BEYOND ? nearest(options, at, BEYOND[key]) : undefined;
}

/**
 * Nearest option beyond an edge: in the next line, and there the nearest sideways.
 * @param {HTMLElement[]} options
 * @param {HTMLElement} at
 * @param {(from: DOMRect, to: DOMRect) => boolean} isBeyond
 */
function nearest(options, at, isBeyond) {
  const from = at.getBoundingClientRect();
  let best = { option: at, far: Number.POSITIVE_INFINITY };
  for (const option of options) {
    const to = option.getBoundingClientRect();
    const far = 1000 * Math.round(Math.abs(to.top - from.top)) + Math.abs(to.left - from.left);
    if (isBeyond(from, to) && far < best.far) best = { option, far };
  }
  return best.option;
}
