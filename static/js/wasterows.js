/**
 * The five wastes as rows of a figure: what each is called, how its number is written, and which technique removes it.
 *
 * @typedef {import("./run.js").Run} Run
 * @typedef {import("./wastes.js").Wastes} Wastes
 * @typedef {{isOn: boolean, text: string, note: string}} Switch whether a run has the technique, and what it is set to
 * @typedef {object} WasteRow
 * @property {string} name
 * @property {string} title
 * @property {string} unit
 * @property {string} removes the technique, as the beginning of a sentence
 * @property {string} reading
 * @property {(wastes: Wastes) => number | null} value
 * @property {(wastes: Wastes) => string} text
 * @property {(all: Wastes[]) => number} most value of a full bar
 * @property {(scenario: Record<string, any>) => Switch} technique
 */
import { durationText } from "./lives.js";

/** @param {number} n */
const count = (n) => n.toLocaleString("en");

/** @param {number | null} share */
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share && share < 0.0995 ? 1 : 0)} %`);

/**
 * @param {boolean} isOn
 * @param {string} text
 * @param {string} [note]
 * @returns {Switch}
 */
const set = (isOn, text, note = "") => ({ isOn, text, note });

/** @param {number[]} values */
const largest = (values) => Math.max(...values, 1e-9);

/** @type {WasteRow[]} in the order in which the techniques are told of */
export const WASTES = [
  {
    name: "held",
    title: "Slots held while others wait",
    unit: "share of slot time",
    removes: "Continuous batching gives a slot back at once",
    reading: "held_share",
    value: ({ held }) => held,
    text: ({ held }) => percent(held),
    most: () => 1,
    technique: ({ batching }) => set(batching === "continuous", batching),
  },
  {
    name: "kv",
    title: "KV memory reserved and unused",
    unit: "share of what is reserved",
    removes: "Paging reserves a block at a time",
    reading: "kv_unused_share",
    value: ({ unused }) => unused,
    text: ({ unused }) => percent(unused),
    most: () => 1,
    technique: ({ kv }) => set(kv === "paged", kv),
  },
  {
    name: "prefill",
    title: "Prompt tokens computed again",
    unit: "tokens",
    removes: "A prefix cache keeps what was computed",
    reading: "repeated_tokens",
    value: ({ repeated }) => repeated,
    text: ({ repeated }) => count(repeated),
    most: (all) => largest(all.map(({ prefill }) => prefill)),
    technique: ({ prefix_cache: cache, kv }) => {
      if (cache === "shared" && kv === "contiguous") return set(false, "no effect", "sharing needs paged KV");
      return set(cache !== "off", cache.replace("_", " "));
    },
  },
  {
    name: "frozen",
    title: "Streams frozen by a long prompt",
    unit: "time of all streams",
    removes: "Chunked prefill lets them go on beside it",
    reading: "frozen_ms",
    value: ({ frozen }) => frozen / 1000,
    text: ({ frozen }) => (frozen ? durationText(frozen) : "0 s"),
    most: (all) => largest(all.map(({ frozen }) => frozen / 1000)),
    technique: ({ prefill, batching }) => {
      if (batching === "static")
        return set(false, "no effect", "a static batch computes its prompts before anybody streams");
      return set(prefill === "chunked", prefill);
    },
  },
  {
    name: "reads",
    title: "Weight reads for each token",
    unit: "passes of the model",
    removes: "Speculative decoding checks several tokens with one read, and so does a larger batch",
    reading: "reads_per_token",
    value: ({ reads }) => reads,
    text: ({ reads }) => (reads === null ? "–" : reads.toPrecision(2)),
    most: (all) => largest(all.map(({ reads }) => reads ?? 0)),
    technique: ({ num_speculative_tokens: drafts }) =>
      set(drafts > 0, drafts ? `${drafts} draft${drafts > 1 ? "s" : ""}` : "off"),
  },
];
