// Series over the seconds of a run: lines with their greatest value and their names.
import {svg} from "./dom.js";

const WIDE = 720, HIGH = 150, LEFT = 70, BELOW = 22, ABOVE = 16;

export function timeline(points, series, unit, label) {
  const chart = svg("svg", {class: "timeline", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": label});
  if (points.length === 0) return chart;
  const first = points[0].at_s, last = Math.max(points.at(-1).at_s, first + 10);
  const top = Math.max(...points.flatMap(p => series.map(([, key]) => p[key] ?? 0))) || 1;
  const x = at => LEFT + (WIDE - LEFT - 60) * (at - first) / (last - first);
  const y = value => HIGH - BELOW - (HIGH - BELOW - ABOVE) * value / top;
  for (const value of [0, top / 2, top]) {
    chart.append(svg("line", {x1: LEFT, x2: WIDE - 60, y1: y(value), y2: y(value), class: "grid"}), svg("text", {x: LEFT - 6, y: y(value) + 4, "text-anchor": "end"}, unit(value)));
  }
  for (const at of [first, last]) chart.append(svg("text", {x: x(at), y: HIGH - 5, "text-anchor": "middle"}, `${Math.round(at)} s`));
  series.forEach(([name, key], k) => {
    const known = points.filter(p => p[key] != null);
    if (known.length === 0) return;
    chart.append(svg("polyline", {points: known.map(p => `${x(p.at_s).toFixed(1)},${y(p[key]).toFixed(1)}`).join(" "), class: `curve c${k}`}));
    if (known.length === 1) chart.append(svg("circle", {cx: x(known[0].at_s), cy: y(known[0][key]), r: 2.5, class: `dot c${k}`}));
    chart.append(svg("text", {x: x(known.at(-1).at_s) + 5, y: y(known.at(-1)[key]) + 4, class: `name c${k}`}, name));
  });
  return chart;
}
