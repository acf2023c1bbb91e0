/** Numbers in prose, written as app/numbers.py writes them. */

/** @type {Record<string, [number, string]>} factor from SI, and what stands behind the number */
const UNITS = {
  ms: [1e3, "\u202fms"],
  us: [1e6, "\u202fµs"],
  s: [1, "\u202fs"],
  times: [1, "×"],
  percent: [100, "\u202f%"],
  count: [1, ""],
  number: [1, ""],
  GB: [1e-9, "\u202fGB"],
  GiB: [2 ** -30, "\u202fGiB"],
  KiB: [2 ** -10, "\u202fKiB"],
  MB: [1e-6, "\u202fMB"],
  KB: [1e-3, "\u202fkB"],
  TB_s: [1e-12, "\u202fTB/s"],
  tokens_s: [1, "\u202ftokens/s"],
  requests_s: [1, "\u202frequests/s"],
};

/**
 * @param {number | null | undefined} value
 * @param {string} unit
 */
export function written(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const [scale, suffix] = UNITS[unit] ?? UNITS.number;
  const scaled = value * scale;
  const size = Math.abs(scaled);
  const digits = unit === "count" || size >= 100 ? 0 : size >= 10 || unit === "percent" ? 1 : 2;
  return scaled.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + suffix;
}
