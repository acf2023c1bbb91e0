/**
 * The scripts of the figures. What is open from the start is fetched ahead by the page, the others when they are opened.
 *
 * @typedef {{mount: (card: HTMLElement, stage: import("./stage.js").Stage) => import("./stage.js").View}} Module
 */
/** @type {Record<string, () => Promise<Module>>} */
const MODULES = {
  timeline: () => import("./figures/timeline.js"),
  "kv-map": () => import("./figures/kv-map.js"),
  "block-table": () => import("./figures/block-table.js"),
  queue: () => import("./figures/queue.js"),
  step: () => import("./figures/step.js"),
  "step-time": () => import("./figures/step-time.js"),
  wastes: () => import("./figures/wastes.js"),
  course: () => import("./figures/course.js"),
  memory: () => import("./figures/memory.js"),
  streams: () => import("./figures/streams.js"),
  speculation: () => import("./figures/speculation.js"),
  latency: () => import("./figures/latency.js"),
  "batch-curve": () => import("./figures/batch-curve.js"),
  roofline: () => import("./figures/roofline.js"),
  events: () => import("./figures/events.js"),
  "load-curve": () => import("./figures/load-curve.js"),
};

/** Figures that show block ids, which are asked for after the picture. */
const WITH_BLOCKS = new Set(["kv-map", "block-table", "queue", "step", "memory", "roofline"]);

/** Figures that show what follows from a formula, which is asked for with the runs. */
const WITH_COSTS = new Set(["step-time", "memory", "batch-curve", "roofline"]);

/** @param {string} name */
export const needsBlocks = (name) => WITH_BLOCKS.has(name);

/** @param {string} name */
export const needsCosts = (name) => WITH_COSTS.has(name);

/**
 * @param {string} name of a figure
 * @returns {Promise<Module | undefined>} undefined if the server tells all of it
 */
export const open = async (name) => MODULES[name]?.();
