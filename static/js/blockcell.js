/**
 * A block as a piece of page: a strip of tokens with its number below, an option of a list that arrow keys walk through.
 *
 * @typedef {import("./blocksketch.js").Spot} Spot
 * @typedef {import("./blocksketch.js").Fill} Fill
 * @typedef {{name: string, request: number | null, requests: number[]}} Told what it is called and whose it is
 */
import { element, write as writeText } from "./dom.js";
import { Cell } from "./kvcells.js";
import { seriesOf } from "./palette.js";

/** @type {Map<number, string>} */
const KINDS = new Map(Object.entries(Cell).map(([name, kind]) => [kind, name.toLowerCase()]));

/** What each option shows, so that only what is different is made anew. @type {WeakMap<Element, string>} */
const shown = new WeakMap();

/**
 * As many options as are needed, in a list or a row of one.
 * @param {HTMLElement} list
 * @param {number} count
 * @param {string} name class of each
 */
export function optionsIn(list, count, name) {
  const options = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(":scope > [role=option]")]);
  while (options.length > count) options.pop()?.remove();
  while (options.length < count) {
    const said = element("span", { class: "visually-hidden" });
    const face = { class: name, role: "option", tabindex: "-1", "aria-selected": "false" };
    options.push(list.appendChild(element("div", face, said)));
  }
  return options;
}

/**
 * @param {HTMLElement} option
 * @param {Spot} spot
 * @param {number} blockSize
 * @param {Told} told
 */
export function paintSpot(option, spot, blockSize, told) {
  const { block, kind, fills, id, mark, isTaken } = spot;
  const look = [block, kind, id, mark, isTaken, ...fills.flatMap((fill) => Object.values(fill))].join();
  write(option, told, block);
  if (shown.get(option) === look) return;
  shown.set(option, look);
  option.dataset.kind = block ? KINDS.get(kind) : "gap";
  option.toggleAttribute("data-next", mark === "next");
  option.toggleAttribute("data-taken", isTaken);
  const bands = fills.map((fill) => bandOf(fill, blockSize));
  draw(option, mark ? [...bands, element("b", {}, mark)] : bands, id);
}

/**
 * What is seen of an option, behind its name in words.
 * @param {HTMLElement} option
 * @param {HTMLElement[]} parts of the strip
 * @param {string} id
 */
export function draw(option, parts, id) {
  const strip = element("span", { class: "bt-strip", "aria-hidden": "true" }, ...parts);
  const said = /** @type {Element} */ (option.firstElementChild);
  option.replaceChildren(said, strip, element("span", { class: "bt-id", "aria-hidden": "true" }, id));
}

/**
 * @param {HTMLElement | null} option
 * @returns {string | null}
 */
export const nameIn = (option) => option?.firstElementChild?.textContent ?? null;

/**
 * Who an option is, for pointer, keyboard and screen reader.
 * @param {HTMLElement} option
 * @param {Told} told
 * @param {number} block
 */
export function write(option, { name, request, requests }, block) {
  const { dataset } = option;
  writeText(option.firstElementChild, name);
  const [owner, owners, number] = [request === null ? "" : String(request), requests.join(" "), String(block)];
  if (!owner) delete dataset.request;
  else if (dataset.request !== owner) dataset.request = owner;
  if (dataset.holders !== owners) dataset.holders = owners;
  if (dataset.block !== number) dataset.block = number;
}

/**
 * Tokens of one request: prompt hatched, output solid, the rest of its places plain.
 * @param {Fill} fill
 * @param {number} places
 */
export function bandOf({ request, prompt, output }, places) {
  const share = (/** @type {number} */ tokens) => `width: ${(100 * tokens) / places}%`;
  const parts = [];
  if (prompt) parts.push(element("i", { class: "prompt", style: share(prompt) }));
  if (output) parts.push(element("i", { class: "output", style: share(output) }));
  return element("span", { class: "bt-band", "data-series": String(seriesOf(request) + 1) }, ...parts);
}
