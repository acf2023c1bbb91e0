/** The set-up under the figures, copied as text with the address of the page. */

const SAID_MS = 2000;

export function watchSetup() {
  const button = document.getElementById("setup-copy");
  const live = document.getElementById("live");
  button?.addEventListener("click", async () => {
    const label = "Copy as text";
    try {
      await navigator.clipboard.writeText(setupText());
      button.textContent = "Copied";
    } catch {
      select();
      button.textContent = "Selected: copy it with the keyboard";
    }
    if (live) live.textContent = button.textContent;
    setTimeout(() => {
      button.textContent = label;
    }, SAID_MS);
  });
}

/** The lines as text. */
export function setupText() {
  const labels = [...document.querySelectorAll("#setup dt")];
  const lines = labels.map((label) => `${label.textContent}: ${label.nextElementSibling?.textContent}`);
  return [...lines, `Address: ${location.href}`].join("\n");
}

/** Without a clipboard (a page over plain HTTP has none) the text is selected. */
function select() {
  const range = document.createRange();
  range.selectNodeContents(/** @type {Node} */ (document.getElementById("setup")));
  getSelection()?.removeAllRanges();
  getSelection()?.addRange(range);
}
