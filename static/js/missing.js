/** The page of a trace that the server lacks: sends it again if this browser has kept it, else asks for the file. */
import { sendAgain, sendTrace, watchFiles } from "./traces.js";

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
const { trace = "", tracesUrl = "" } = main.dataset;

/** @param {File} file */
async function send(file) {
  try {
    const { sha256 } = await sendTrace(tracesUrl, file, file.name);
    if (sha256 === trace) location.reload();
    else notice.textContent = `${file.name} is another file: its sha256 is ${sha256}.`;
  } catch (error) {
    notice.textContent = `${file.name}: ${/** @type {Error} */ (error).message}`;
  }
}

watchFiles(/** @type {HTMLInputElement} */ (document.getElementById("trace-file")), send);
if (await sendAgain(tracesUrl, trace)) location.reload();
else notice.textContent = "This browser does not have the file either: choose it, or drop it here.";
