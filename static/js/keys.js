/**
 * Keys of the page, in one table that also fills the dialog that lists them. Fields, buttons and lists keep their own.
 *
 * @typedef {object} Key
 * @property {string} action
 * @property {string[]} keys names as a keyboard event gives them, with Shift+ in front of arrows
 * @property {string} shown
 * @property {string} does
 * @property {string} [except] where the key has another meaning
 */

const TYPING = "input:not([type=range]):not([type=radio]), select, textarea, dialog, [popover]";
const MOVING = "input:not(.seek), select, textarea, .table-scroll, .event-scroll, dialog, [popover]";
const PRESSING = "a, button, input:not(.seek), select, textarea, summary, dialog, [popover]";

/** @type {Key[]} */
export const KEYS = [
  { action: "play", keys: [" "], shown: "Space", does: "play or pause", except: PRESSING },
  { action: "back", keys: ["ArrowLeft"], shown: "←", does: "one step back", except: MOVING },
  { action: "forward", keys: ["ArrowRight"], shown: "→", does: "one step on", except: MOVING },
  { action: "start", keys: ["Home"], shown: "Home", does: "to the start", except: MOVING },
  { action: "end", keys: ["End"], shown: "End", does: "to the last step", except: MOVING },
  { action: "before", keys: ["["], shown: "[", does: "to the event before, of the kind that is listed" },
  { action: "after", keys: ["]"], shown: "]", does: "to the event after" },
  { action: "in", keys: ["+", "="], shown: "+", does: "zoom in on the time shown" },
  { action: "out", keys: ["-"], shown: "−", does: "zoom out" },
  { action: "whole", keys: ["0"], shown: "0", does: "show all of the time, or as much as can be drawn" },
  {
    action: "left",
    keys: ["Shift+ArrowLeft"],
    shown: "Shift ←",
    does: "earlier part of a zoomed timeline",
    except: MOVING,
  },
  { action: "right", keys: ["Shift+ArrowRight"], shown: "Shift →", does: "later part", except: MOVING },
  { action: "next", keys: ["n"], shown: "N", does: "in a lesson: to the next section" },
  { action: "previous", keys: ["p"], shown: "P", does: "in a lesson: to the section before" },
  { action: "clear", keys: ["Escape"], shown: "Esc", does: "no request stays lit" },
  { action: "keys", keys: ["?"], shown: "?", does: "this list" },
];

/** Keys that a lane of the timeline has while it has the focus. @type {{shown: string, does: string}[]} */
export const LANE_KEYS = [
  { shown: "↓", does: "on a timeline: the next request" },
  { shown: "↑", does: "the request before" },
  { shown: "Enter", does: "keep the request lit" },
];

/** @param {Partial<Record<string, () => void>>} actions by name; keys without one are left alone */
export function watchKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key;
    const key = KEYS.find(({ keys }) => keys.includes(name));
    const action = key && actions[key.action];
    if (!action || event.defaultPrevented || event.target.closest(key.except ?? TYPING)) return;
    // Escape also closes what is open over the page.
    if (name !== "Escape") event.preventDefault();
    action();
  });
}
