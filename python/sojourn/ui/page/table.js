// A table that scrolls by itself where it is wide.
import {el} from "./dom.js";

export function table(title, columns, rows, numeric = []) {
  const cls = k => (numeric[k] ? {class: "number"} : {});
  return el("div", {class: numeric.length > 0 ? "table" : "table words", tabindex: 0, role: "region", "aria-label": title || `table: ${columns.filter(Boolean).join(", ")}`}, el("table", {},
    title && el("caption", {}, el("span", {}, title)),
    el("thead", {}, el("tr", {}, columns.map((text, k) => (text ? el("th", {scope: "col", ...cls(k)}, text) : el("td"))))),
    el("tbody", {}, rows.map(row => el("tr", {}, row.map((text, k) => (k === 0 && !numeric[0] ? el("th", {scope: "row"}, text) : el("td", cls(k), text))))))));
}
