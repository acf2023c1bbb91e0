/** A part of the page as an image, as it looks now: a copy with all styles written into it, inside an SVG. */

const XHTML = "http://www.w3.org/1999/xhtml";
const MARGIN = 12;

/**
 * @param {HTMLElement} element
 * @returns {string} address of the image
 */
export function snapshotOf(element) {
  const { width, top } = element.getBoundingClientRect();
  const bottoms = [...element.children].map((child) => child.getBoundingClientRect().bottom);
  const height = Math.ceil(Math.max(...bottoms) - top + MARGIN); // a card can be taller than what is in it
  const copy = /** @type {HTMLElement} */ (element.cloneNode(true));
  const originals = [element, .../** @type {NodeListOf<HTMLElement>} */ (element.querySelectorAll("*"))];
  const copies = [copy, .../** @type {NodeListOf<HTMLElement>} */ (copy.querySelectorAll("*"))];
  originals.forEach((original, i) => {
    write(original, copies[i]);
  });
  originals.forEach((original, i) => {
    if (original instanceof HTMLCanvasElement) copies[i].replaceWith(imageOf(original, copies[i]));
  });
  copy.style.cssText += "; margin: 0; border: 0; border-radius: 0";
  copy.setAttribute("xmlns", XHTML);
  const inside = new XMLSerializer().serializeToString(copy);
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<foreignObject width="100%" height="100%">${inside}</foreignObject></svg>`;
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

/**
 * Write the computed style into a copy.
 * @param {Element} original
 * @param {HTMLElement} copy
 */
function write(original, copy) {
  const style = getComputedStyle(original);
  const text = [...style].map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
  copy.setAttribute("style", text);
  copy.removeAttribute("id");
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} copy
 */
function imageOf(canvas, copy) {
  const image = document.createElement("img");
  image.src = canvas.toDataURL();
  image.setAttribute("style", copy.getAttribute("style") ?? "");
  return image;
}
