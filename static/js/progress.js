/** What a reader has done, kept in this browser only. */

const KEY = "batchscope-progress";

/** @returns {Record<string, string[]>} what is done, by lesson */
export function progress() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {}; // storage is forbidden here, or holds something else
  }
}

/**
 * @param {string} lesson
 * @param {string} item
 */
export function note(lesson, item) {
  const all = progress();
  const done = Array.isArray(all[lesson]) ? all[lesson] : [];
  if (done.includes(item)) return;
  all[lesson] = [...done, item];
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // The page works without.
  }
}
