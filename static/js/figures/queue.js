/** The waiting line between the server's answers: the same elements, from the run that is here. */
import { element, part, write } from "../dom.js";
import { Follower } from "../follower.js";
import { mark } from "../light.js";
import { seriesOf } from "../palette.js";
import { durationText } from "../stepcard.js";
import { reasonsOf } from "../waits.js";

/**
 * @typedef {import("../stage.js").Stage} Stage
 * @typedef {import("../frame.js").Frame} Frame
 */

const MOST = 6;

/**
 * @param {HTMLElement} card
 * @param {Stage} stage
 * @returns {import("../stage.js").View}
 */
export function mount(card, stage) {
  const follower = new Follower(card, stage, (frame) => {
    // Of a window in mid-run the line is known with the block ids only.
    const isKnown = frame.run.first === 0 || frame.run.state;
    if (isKnown && show(card, frame)) mark(stage.lit);
  });
  return { show: (scene) => follower.show(scene), move: () => follower.move(), frame: () => follower.replaced() };
}

/**
 * Whether other requests are in the list now.
 * @param {HTMLElement} card
 * @param {Frame} frame
 */
function show(card, frame) {
  const { waiting } = frame;
  const list = part(card, ".queue");
  const more = waiting.length - MOST;
  write(part(card, ".card-head p"), waiting.length ? `${count(waiting.length)} waiting` : "nobody waits");
  write(part(card, ".more"), more > 0 ? `and ${count(more)} more behind them` : "");
  if (!waiting.length) {
    list.replaceChildren();
    return false;
  }
  const reasons = reasonsOf(frame);
  const first = waiting.slice(0, MOST);
  const before = [...list.querySelectorAll("[data-request]")].map((chip) => chip.getAttribute("data-request"));
  const isOther = first.join() !== before.join();
  if (isOther) list.replaceChildren(...first.map(rowOf));
  first.forEach((request, i) => {
    const row = list.children[i];
    write(row.children[1], sinceText(frame, request));
    const reason = i ? reasons.rest : reasons.head;
    const isRepeated = i > 1 || (i === 1 && reasons.rest === reasons.head);
    showReason(row.children[2], reason, isRepeated);
  });
  return isOther;
}

/** @param {number} request */
function rowOf(request) {
  const [number, series] = [String(request + 1), String(seriesOf(request) + 1)];
  const chip = { type: "button", class: "request", "data-series": series, "data-request": String(request) };
  const button = element("button", { ...chip, "aria-label": `Request ${number}` }, number);
  const cells = ["since", "reason"].map((name) => element("span", { class: name }));
  return element("li", {}, element("span", {}, button), ...cells);
}

/**
 * How long it waits, at the start of the step.
 * @param {Frame} frame
 * @param {number} request
 */
function sinceText({ run, position }, request) {
  const arrival = run.requests.arrival_us[request];
  return arrival === null ? "" : durationText(Math.max(0, run.start_us[position] - arrival) / 1e6);
}

/**
 * A reason that was just given is there for screen readers only.
 * @param {Element} place
 * @param {string} reason
 * @param {boolean} isRepeated
 */
function showReason(place, reason, isRepeated) {
  if (place.textContent === reason && Boolean(place.firstElementChild) === isRepeated) return;
  place.replaceChildren(isRepeated ? element("span", { class: "visually-hidden" }, reason) : reason);
}

/** @param {number} n */
const count = (n) => n.toLocaleString("en");
