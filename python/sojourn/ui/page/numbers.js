// Numbers as people read them: four digits, a unit that fits.
const MINUS = "−";
const digits = (value, count = 3) => {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const text = size >= count ? String(Math.round(value)) : value.toFixed(Math.max(0, Math.min(8, count - 1 - size)));
  return text.replace("-", MINUS);
};

export function seconds(value) {
  if (value == null) return "–";
  for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]])
    if (Math.abs(value) >= size) return `${digits(value / size)} ${unit}`;
  return value === 0 ? "0 s" : `${digits(value / 1e-9)} ns`;
}

export const perSecond = value => (value == null ? "–" : `${digits(value)} /s`);
export const percent = value => (value == null ? "–" : `${digits(100 * value)} %`);
// A level: 90 %, and not 90.0 %
const percentOf = value => `${Number((100 * value).toPrecision(4))} %`;
export const plain = value => (value == null ? "–" : String(Number(Number(value).toPrecision(4))).replace("-", MINUS));

export function quantity(value, unit) {
  if (value == null) return "–";
  return unit === "s" ? seconds(value) : unit === "1/s" ? perSecond(value) : plain(value);
}

export function interval(row) {
  const value = quantity(row.value, row.unit);
  if (row.low == null || row.low === row.high) return value;
  return `${value} (${row.level ? `${percentOf(row.level)}: ` : ""}${quantity(row.low, row.unit)} … ${row.high == null ? "no upper limit" : quantity(row.high, row.unit)})`;
}
