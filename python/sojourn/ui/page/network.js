// The drawing of a network: where each station stands, and what goes from one to the next.
import {svg} from "./dom.js";

const WIDE = 118, HIGH = 46, GAP_X = 62, GAP_Y = 34, EDGE = 26;
const ENDS = ["source", "exit", "think"];

export function drawing(made, busy = {}) {
  const places = placed(made);
  const columns = Math.max(...[...places.values()].map(p => p.column)) + 1;
  const rows = Math.max(...[...places.values()].map(p => p.row)) + 1;
  const width = EDGE * 2 + columns * WIDE + (columns - 1) * GAP_X;
  const height = EDGE * 2 + 46 + rows * HIGH + (rows - 1) * GAP_Y;
  const chart = svg("svg", {class: "network", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": described(made), style: `max-width:${width}px`});
  chart.append(svg("defs", {}, svg("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse"},
    svg("path", {d: "M0 0 8 4 0 8z", class: "head"}))));
  for (const group of made.groups) chart.append(...boxed(group, places));
  const seen = new Map();
  for (const route of made.routes) {
    const key = `${route.from} ${route.to}`;
    seen.set(key, [...(seen.get(key) ?? []), route]);
  }
  for (const routes of seen.values()) chart.append(...arrow(routes, places, made.classes, height));
  for (const node of made.nodes) chart.append(station(node, places.get(node.name), busy[node.name]));
  return chart;
}

// Columns by the steps from where customers come in; of one column in the order of the file.
function placed(made) {
  const start = made.nodes.some(n => n.name === "source") ? "source" : made.nodes.some(n => n.name === "think") ? "think" : made.nodes[0]?.name;
  const column = new Map([[start, 0]]);
  if (made.nodes.some(n => n.name === "think")) column.set("think", 0);
  for (let round = 0, grew = true; grew && round < 500; round++) {
    grew = false;
    for (const {from, to} of made.routes) {
      if (column.has(from) && !column.has(to)) { column.set(to, column.get(from) + 1); grew = true; }
    }
  }
  const last = Math.max(0, ...[...column].filter(([name]) => name !== "exit").map(([, c]) => c));
  for (const node of made.nodes) if (!column.has(node.name)) column.set(node.name, Math.min(last, 1));
  if (column.has("exit")) column.set("exit", last + 1);
  const used = new Map(), places = new Map();
  for (const node of made.nodes) {
    const here = column.get(node.name), row = used.get(here) ?? 0;
    used.set(here, row + 1);
    places.set(node.name, {column: here, row, x: EDGE + here * (WIDE + GAP_X), y: EDGE + 14 + row * (HIGH + GAP_Y)});
  }
  return places;
}

function station(node, {x, y}, busy) {
  if (ENDS.includes(node.kind)) {
    return svg("g", {class: "end"}, svg("ellipse", {cx: x + WIDE / 2, cy: y + HIGH / 2, rx: 34, ry: 17}),
      svg("text", {x: x + WIDE / 2, y: y + HIGH / 2 + 4, "text-anchor": "middle"}, node.name));
  }
  const drawn = svg("g", {class: `station ${node.kind}`, "data-station": node.name},
    svg("title", {}, `${node.name}: ${node.text}`),
    svg("rect", {x, y, width: WIDE, height: HIGH, rx: node.kind === "delay" ? HIGH / 2 : 5}),
    busy != null && svg("rect", {x: x + 1, y: y + HIGH - 5, width: (WIDE - 2) * Math.min(1, busy), height: 4, class: "busy"}),
    svg("text", {x: x + WIDE / 2, y: y + 19, "text-anchor": "middle", class: "name"}, cut(node.name, 16)),
    svg("text", {x: x + WIDE / 2, y: y + 34, "text-anchor": "middle", class: "kind"}, cut(busy == null ? node.text : `${Math.round(100 * busy)} % busy`, 20)));
  return drawn;
}

function arrow(routes, places, classes, height) {
  const {from, to} = routes[0];
  const a = places.get(from), b = places.get(to);
  if (!a || !b) return [];
  const names = [...new Set(routes.map(r => r.class))];
  const shares = [...new Set(routes.filter(r => r.probability != null && r.probability < 1).map(r => r.probability))];
  const text = [names.length < classes.length ? names.join(", ") : "", shares.length === 1 ? Number(shares[0].toPrecision(3)) : "", routes[0].text].filter(Boolean).join(" ");
  const forward = b.column > a.column;
  let path, at;
  if (from === to) {
    path = `M${a.x + WIDE * 0.7} ${a.y} c8 -20 28 -20 20 0`;
    at = [a.x + WIDE * 0.85, a.y - 12];
  } else if (forward) {
    const [x1, y1, x2, y2] = [a.x + WIDE, a.y + HIGH / 2, b.x, b.y + HIGH / 2], mid = Math.max(18, (x2 - x1) / 2);
    path = `M${edge(from, x1, -25)} ${y1} C${x1 + mid} ${y1} ${x2 - mid} ${y2} ${edge(to, x2, 25)} ${y2}`;
    at = [(x1 + x2) / 2, (y1 + y2) / 2 - 6];
  } else if (b.column === a.column) {
    const down = b.y > a.y;
    path = `M${a.x + WIDE / 2} ${down ? a.y + HIGH : a.y} L${b.x + WIDE / 2} ${down ? b.y : b.y + HIGH}`;
    at = [a.x + WIDE / 2 + 20, (a.y + b.y + HIGH) / 2];
  } else {
    const low = height - 16;
    path = `M${a.x + WIDE / 2} ${a.y + HIGH} C${a.x + WIDE / 2} ${low} ${a.x} ${low} ${(a.x + b.x + WIDE) / 2} ${low} S${b.x + WIDE / 2} ${low} ${b.x + WIDE / 2} ${b.y + HIGH + (ENDS.includes(to) ? -6 : 0)}`;
    at = [(a.x + b.x + WIDE) / 2, low - 4];
  }
  return [svg("path", {d: path, class: "route", "marker-end": "url(#arrow)"}), text && svg("text", {x: at[0], y: at[1], "text-anchor": "middle", class: "share"}, cut(String(text), 24))].filter(Boolean);
}

const edge = (name, x, by) => (ENDS.includes(name) ? x + by : x);

function boxed(group, places) {
  const inside = group.over.map(name => places.get(name)).filter(Boolean);
  if (inside.length === 0) return [];
  const x1 = Math.min(...inside.map(p => p.x)) - 9, y1 = Math.min(...inside.map(p => p.y)) - 18;
  const x2 = Math.max(...inside.map(p => p.x)) + WIDE + 9, y2 = Math.max(...inside.map(p => p.y)) + HIGH + 9;
  return [svg("rect", {x: x1, y: y1, width: x2 - x1, height: y2 - y1, rx: 8, class: `group ${group.kind}`}), svg("text", {x: x1 + 6, y: y1 + 12, class: "share"}, cut(`${group.name}: ${group.text}`, 30))];
}

function described(made) {
  const stations = made.nodes.filter(n => !ENDS.includes(n.kind)).map(n => `${n.name}, ${n.text}`);
  return `network of ${stations.length} stations: ${stations.join("; ")}`;
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
