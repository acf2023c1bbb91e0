/**
 * Trace files: choose or drop one, send it, remember it so that a server that has lost it gets it again.
 * A trace is named by the sha256 that the server answers.
 */
import { problemOf } from "./lines.js";

/**
 * @typedef {object} Answer
 * @property {string} sha256
 * @property {number} rows
 * @property {number} span_s
 * @property {{row: number, reason: string}[]} rejected the first of them
 * @property {number} rejected_count
 * @property {{row: number, what: string}[]} repaired
 */

const STORE = "traces";

/**
 * @param {string} url
 * @param {Blob} content
 * @param {string} name
 * @returns {Promise<Answer>}
 */
export async function sendTrace(url, content, name) {
  const body = new FormData();
  body.append("file", content, name);
  const response = await fetch(url, { method: "POST", body });
  if (!response.ok) throw await problemOf(response);
  const answer = await response.json();
  await keep(answer.sha256, content, name);
  return answer;
}

/**
 * Send again what this browser has kept.
 * @param {string} url
 * @param {string} sha256
 * @returns {Promise<boolean>} whether it had it
 */
export async function sendAgain(url, sha256) {
  const kept = await keptFile(sha256);
  if (!kept) return false;
  await sendTrace(url, kept.content, kept.name);
  return true;
}

/** @returns {Promise<IDBObjectStore>} */
function store() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("batchscope", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onsuccess = () => resolve(opening.result.transaction(STORE, "readwrite").objectStore(STORE));
    opening.onerror = () => reject(opening.error);
  });
}

/**
 * @param {string} sha256
 * @param {Blob} content
 * @param {string} name
 */
async function keep(sha256, content, name) {
  try {
    (await store()).put({ content, name }, sha256);
  } catch {
    // A browser that keeps nothing only loses the re-sending.
  }
}

/**
 * @param {string} sha256
 * @returns {Promise<{content: Blob, name: string} | undefined>}
 */
async function keptFile(sha256) {
  try {
    const asking = (await store()).get(sha256);
    return await new Promise((resolve) => {
      asking.onsuccess = () => resolve(asking.result);
      asking.onerror = () => resolve(undefined);
    });
  } catch {
    return undefined;
  }
}

/**
 * @param {HTMLInputElement} input
 * @param {(file: File) => void} onFile
 */
export function watchFiles(input, onFile) {
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) onFile(file);
    input.value = "";
  });
  const mark = (/** @type {DragEvent} */ event, /** @type {boolean} */ on) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    document.body.classList.toggle("dropping", on);
  };
  addEventListener("dragover", (event) => mark(event, true));
  addEventListener("dragleave", (event) => mark(event, event.relatedTarget !== null));
  addEventListener("drop", (event) => {
    mark(event, false);
    const file = event.dataTransfer?.files[0];
    if (file) onFile(file);
  });
}
