/** Buttons that copy: `data-copy` is the id of a field or an element with the text, `data-said` what it is called. */

const SAID_MS = 1500;

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  const source = document.getElementById(button.dataset.copy ?? "");
  if (!source) return;
  const isCopied = await copy(source);
  const label = button.textContent;
  button.textContent = isCopied ? "Copied" : "Selected";
  const live = document.getElementById("live");
  const what = button.dataset.said ?? "Text";
  if (live) live.textContent = isCopied ? `${what} copied.` : `${what} selected: Ctrl+C copies it.`;
  setTimeout(() => {
    button.textContent = label;
  }, SAID_MS);
});

/**
 * Pages that came over plain HTTP have no clipboard but the old command, which copies what is selected.
 * @param {HTMLElement} source
 */
async function copy(source) {
  const isField = source instanceof HTMLInputElement;
  if (isField) source.select();
  else getSelection()?.selectAllChildren(source);
  try {
    await navigator.clipboard.writeText(isField ? source.value : (source.textContent ?? ""));
    return true;
  } catch {
    return document.execCommand("copy");
  }
}
