/** Small pieces of page that figures make. */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/**
 * A table of numbers: first row and first column are heads.
 * @param {string} caption
 * @param {string[]} heads
 * @param {string[][]} rows
 */
export function tableOf(caption, heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, first), ...cells.map((text) => element("td", {}, text))),
  );
  return element(
    "table",
    { class: "numbers" },
    element("caption", { class: "visually-hidden" }, caption),
    element("thead", {}, head),
    element("tbody", {}, ...body),
  );
}

/**
 * Write a text only where it changes, so that nothing is painted or read twice.
 * @param {Element | null} node
 * @param {string} text
 */
export function write(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

/**
 * @param {HTMLElement} card
 * @param {string} selector
 * @returns {HTMLElement}
 */
export const part = (card, selector) => /** @type {HTMLElement} */ (card.querySelector(selector));
