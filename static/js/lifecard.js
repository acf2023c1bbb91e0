/** A small card with the life of the request that is pointed at, inside the lanes and never over the controls. */
import { linesOf, livesOf } from "./lives.js";
import { seriesOf } from "./palette.js";

const GAP = 8;

export class LifeCard {
  /**
   * @param {HTMLElement} root the lanes
   * @param {HTMLElement} box
   */
  constructor(root, box) {
    this.root = root;
    this.box = box;
  }

  hide() {
    this.box.hidden = true;
  }

  /**
   * @param {import("./run.js").Run} run
   * @param {number} request
   * @param {string} label of the run
   * @param {{left: number, top: number, bottom: number}} place of the bar in the lanes
   */
  show(run, request, label, place) {
    const life = livesOf(run).get(request);
    if (!life) return this.hide();
    const title = document.createElement("p");
    const chip = document.createElement("b");
    chip.className = "request lit";
    chip.dataset.series = String(seriesOf(request) + 1);
    chip.textContent = String(request + 1);
    title.append(chip, ` ${label.toLowerCase()}`);
    const list = document.createElement("dl");
    for (const [name, value] of linesOf(life)) list.append(textIn("dt", name), textIn("dd", value));
    this.box.replaceChildren(title, list);
    this.box.hidden = false;
    this.put(place);
  }

  /** @param {{left: number, top: number, bottom: number}} place */
  put({ left, top, bottom }) {
    const { clientWidth: wide, clientHeight: tall } = this.root;
    const { offsetWidth: width, offsetHeight: height } = this.box;
    const below = bottom + GAP;
    const y =
      below + height <= tall || top - GAP - height < 0
        ? Math.min(below, Math.max(0, tall - height))
        : top - GAP - height;
    const x = Math.max(0, Math.min(left + GAP, wide - width));
    this.box.style.transform = `translate(${x.toFixed(0)}px, ${y.toFixed(0)}px)`;
  }
}

/**
 * @param {string} tag
 * @param {string} text
 */
function textIn(tag, text) {
  const node = document.createElement(tag);
  node.textContent = text;
  return node;
}

/**
 * A life in one sentence, for those who hear it.
 * @param {import("./run.js").Run} run
 * @param {number} request
 */
export function lifeInWords(run, request) {
  const life = livesOf(run).get(request);
  const lines = life ? linesOf(life).map(([name, value]) => `${name} ${value}`) : [];
  return `Request ${request + 1}: ${lines.join(", ")}.`;
}
