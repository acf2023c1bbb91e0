/** Where the panels and rules of a load curve stand. */
import { titleOf } from "./curves.js";

/**
 * The layout with its rules in place, in one column where there are panels to stack.
 * @param {any} layout
 * @param {import("./curves.js").Head} head
 * @param {number[]} stacked panels
 */
export function laidOut(layout, head, stacked) {
  const copy = structuredClone(layout);
  const { name, values } = head.x;
  const own = Number(head.scenarios.a[name]);
  const slo = head.scenarios.a.slo_ttft_ms / 1000;
  for (const shape of copy.shapes) {
    const isLoad = shape.xref.indexOf("domain") < 0;
    if (isLoad) Object.assign(shape, { x0: own, x1: own, visible: own <= values[values.length - 1] });
    else Object.assign(shape, { y0: slo, y1: slo });
  }
  for (const note of copy.annotations) if (!note.yref.includes("domain")) note.y = Math.log10(slo);
  for (const key of ["xaxis", "xaxis2", "xaxis3", "xaxis4"]) copy[key].range = [0, values[values.length - 1] * 1.02];
  if (stacked.length) stack(copy, stacked);
  const titled = stacked.length ? [`xaxis${(stacked.at(-1) ?? 0) + 1}`] : ["xaxis3", "xaxis4"];
  for (const key of titled) copy[key].title = { text: titleOf(name), standoff: 4 };
  return copy;
}

/**
 * Some panels one under the other; the others go.
 * @param {any} layout
 * @param {number[]} panels
 */
function stack(layout, panels) {
  const height = 1 / panels.length;
  for (const [i, key] of ["", "2", "3", "4"].entries()) {
    const place = panels.indexOf(i);
    const [x, y] = [layout[`xaxis${key}`], layout[`yaxis${key}`]];
    for (const axis of [x, y]) axis.visible = place >= 0;
    for (const mark of [...layout.shapes, ...layout.annotations])
      if (mark.xref.replace(" domain", "") === `x${key}`) mark.visible = mark.visible !== false && place >= 0;
    x.domain = [0, 1];
    y.domain = place < 0 ? [0, 0.001] : [1 - (place + 1) * height + 0.24 * height, 1 - place * height];
  }
}
