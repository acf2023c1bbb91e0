/**
 * A figure as a PNG: its server-made picture if there is one, charts as Plotly draws them, anything else as the page shows it.
 *
 * @typedef {import("./palette.js").Palette} Palette
 * @typedef {object} Options
 * @property {string} caption the set-up
 * @property {string} picture address of the figure's SVG, '' if there is none
 * @property {Palette} palette
 */
import { snapshotOf } from "./snapshot.js";

const SCALE = 2;
const PADDING = 16;
const LINE = 18;

/**
 * @param {HTMLElement} card
 * @param {string} name of the file
 * @param {Options} options
 */
export async function savePng(card, name, options) {
  const canvas = await pictureOf(card, options);
  /** @type {Blob | null} */
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("no picture");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
}

/**
 * @param {HTMLElement} card
 * @param {Options} options
 * @returns {Promise<HTMLCanvasElement>}
 */
async function pictureOf(card, { caption, picture, palette }) {
  if (picture) return drawn(await loaded(picture), palette);
  const plot = /** @type {any} */ (card.querySelector(".js-plotly-plot"));
  if (!plot) return framed(await loaded(snapshotOf(card)), "", caption, palette);
  return framed(await chartOf(plot, palette), titleOf(card), caption, palette);
}

/**
 * The chart with a legend of its own: the one beside it is not part of it.
 * @param {any} plot
 * @param {Palette} palette
 * @returns {Promise<HTMLImageElement>}
 */
async function chartOf(plot, palette) {
  const { clientWidth: width, clientHeight: height } = plot;
  /** @type {Set<string>} */
  const named = new Set();
  const data = plot.data.map((/** @type {any} */ trace) => {
    const showlegend = Boolean(trace.name) && !named.has(trace.name);
    named.add(trace.name);
    return { ...trace, showlegend };
  });
  const legend = { orientation: "h", y: -0.12, yanchor: "top", font: { color: palette.token.ink } };
  const margin = { ...plot.layout.margin, b: 52 };
  const layout = { ...plot.layout, showlegend: named.size > 1, legend, margin, width, height };
  const { Plotly } = /** @type {any} */ (window);
  return loaded(await Plotly.toImage({ data, layout }, { format: "svg", width, height }));
}

/** @param {HTMLElement} card */
const titleOf = (card) => card.querySelector("h2")?.firstChild?.textContent?.trim() ?? "";

/**
 * A picture between its title and its caption.
 * @param {HTMLImageElement} image
 * @param {string} title '' if the picture has it
 * @param {string} caption
 * @param {Palette} palette
 */
function framed(image, title, caption, palette) {
  const top = PADDING + (title ? LINE : 0);
  const lines = brokenTo(caption.split(" · "), image.width, palette);
  const bottom = top + image.height + 4;
  const canvas = canvasOf(image.width + 2 * PADDING, bottom + lines.length * LINE + PADDING / 2, palette);
  const pen = penOf(canvas);
  pen.drawImage(image, PADDING, top, image.width, image.height);
  pen.textBaseline = "top";
  pen.fillStyle = palette.token.ink;
  pen.font = `650 14px ${palette.font}`;
  pen.fillText(title, PADDING, PADDING);
  pen.fillStyle = palette.token.muted;
  pen.font = captionFont(palette);
  lines.forEach((line, i) => {
    pen.fillText(line, PADDING, bottom + i * LINE);
  });
  return canvas;
}

/** @param {Palette} palette */
const captionFont = (palette) => `11px ${palette.font}`;

/**
 * Parts joined to lines that are no wider.
 * @param {string[]} parts
 * @param {number} width
 * @param {Palette} palette
 */
function brokenTo(parts, width, palette) {
  const pen = penOf(document.createElement("canvas"));
  pen.font = captionFont(palette);
  /** @type {string[]} */
  const lines = [];
  for (const part of parts) {
    const longer = lines.length ? `${lines[lines.length - 1]} · ${part}` : part;
    if (lines.length && pen.measureText(longer).width <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

/**
 * @param {HTMLImageElement} image
 * @param {Palette} palette
 */
function drawn(image, palette) {
  const canvas = canvasOf(image.width, image.height, palette);
  penOf(canvas).drawImage(image, 0, 0, image.width, image.height);
  return canvas;
}

/**
 * @param {number} width
 * @param {number} height
 * @param {Palette} palette
 */
function canvasOf(width, height, palette) {
  const canvas = document.createElement("canvas");
  canvas.width = width * SCALE;
  canvas.height = height * SCALE;
  const pen = penOf(canvas);
  pen.scale(SCALE, SCALE);
  pen.fillStyle = palette.token.card;
  pen.fillRect(0, 0, width, height);
  return canvas;
}

/** @param {HTMLCanvasElement} canvas */
const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * @param {string} source
 * @returns {Promise<HTMLImageElement>}
 */
async function loaded(source) {
  const image = new Image();
  image.src = source;
  await image.decode();
  return image;
}
