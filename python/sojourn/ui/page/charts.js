// Figures by Vega (the bundle of reports), and the small charts of tables, which are a few lines of SVG.
import {el, svg} from "./dom.js";
import {KeptView, parted} from "./kept_view.js";
import {plain} from "./numbers.js";
import {table} from "./table.js";

const MOST_VIEWS = 3;
let vega = null;
const loaded = () => (vega ??= import("./vega.js").then(() => window.vegaEmbed));
const OPTIONS = {
  renderer: "svg", actions: false, ast: true, defaultStyle: false,
  tooltip: {theme: "custom", disableDefaultStyle: true, sanitize: text => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;")},
};

export class Chart {
  // pick: given the row of the point that was clicked
  constructor(title, pick = null) {
    this.pick = pick;
    this.title = title;
    this.plot = el("div", {class: "plot", role: "img", "aria-label": title});
    this.caption = el("figcaption", {}, title);
    this.values = el("details", {class: "values", ontoggle: () => { if (this.values.open) this.tell(); }}, el("summary", {}, "Values"));
    this.element = el("figure", {}, this.caption, this.plot, this.values);
    this.views = new Map(); // template → view: a slider that moves and one that rests have two
    this.shown = null;
  }

  // Draws a specification; what was drawn before stays until the new drawing is there
  async draw(figure) {
    const embed = await loaded();
    this.plot.setAttribute("aria-label", `${figure.title}: ${figure.y} against ${figure.x}`);
    const parts = parted(figure.spec), old = this.shown;
    let kept = this.views.get(parts.key);
    if (kept) await kept.update(parts);
    else {
      kept = await KeptView.made(embed, parts, el("div", {"aria-hidden": "true"}), OPTIONS); // the plot has a name, and its values are a table
      this.views.set(parts.key, kept);
      if (this.pick) kept.clicked(datum => this.pick(datum));
    }
    if (kept !== old) {
      if (old && this.figure.x === figure.x) await kept.zoomedAs(old);
      this.plot.replaceChildren(kept.holder);
      this.shown = kept;
    }
    this.figure = figure;
    for (const [key, one] of [...this.views].slice(0, -MOST_VIEWS)) if (one !== kept) { one.end(); this.views.delete(key); }
    if (this.values.open) this.tell();
    this.plot.dataset.drawn = String(Number(this.plot.dataset.drawn || 0) + 1);
  }

  // The numbers behind the drawing, for whoever reads rather than looks
  tell() {
    if (!this.figure) return;
    const {spec, x, y} = this.figure, names = spec.usermeta.names;
    const rows = spec.data.values.filter(one => one.style !== "alone").flatMap(one => one.x.map((at, i) =>
      [one.series, names[Math.round(at) - 1] ?? plain(at), plain(one.y[i]), plain(one.low[i]), one.open?.[i] ? "no upper limit" : plain(one.high[i])]));
    this.values.querySelector(".table")?.remove();
    this.values.append(table("", ["series", x, y, "low", "high"], rows, [false, true, true, true, true]));
  }
}

export function figureWidth(element) {
  return Math.max(260, Math.min(860, Math.floor(element.clientWidth || 700)));
}

// p50 to p99 of a run on the common scale of its table; a tick at the mean
export function rangeBar(row, most) {
  const width = 120, height = 14;
  const x = value => 2 + (width - 4) * Math.min(value / most, 1);
  const chart = svg("svg", {class: "bar", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true"});
  if (row.p50_s != null && row.p99_s != null) {
    chart.append(svg("rect", {x: x(row.p50_s), y: 5, width: Math.max(1, x(row.p99_s) - x(row.p50_s)), height: 4, class: "range"}));
  }
  if (row.response_s != null) chart.append(svg("rect", {x: x(row.response_s) - 1, y: 1, width: 2, height: 12, class: "mean"}));
  return chart;
}

// A few lines of points, x against y; for a row or a heading
export function sparkline(lines, label, width = 160, height = 40) {
  const good = lines.map(points => points.filter(([x, y]) => x != null && y != null).sort((a, b) => a[0] - b[0])), all = good.flat();
  const chart = svg("svg", {class: "spark", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  if (all.length === 0) return chart;
  const xs = all.map(p => p[0]), [low, high, top] = [Math.min(...xs), Math.max(...xs), Math.max(...all.map(p => p[1])) || 1];
  const at = ([x, y]) => [4 + (width - 8) * (high > low ? (x - low) / (high - low) : 0.5), height - 4 - (height - 8) * (y / top)];
  for (const points of good) chart.append(svg("polyline", {points: points.map(p => at(p).map(v => v.toFixed(1)).join(",")).join(" "), class: "curve"}));
  for (const point of all.length <= 40 ? all : []) {
    const [x, y] = at(point);
    chart.append(svg("circle", {cx: x.toFixed(1), cy: y.toFixed(1), r: 1.8, class: "point"}));
  }
  return chart;
}
