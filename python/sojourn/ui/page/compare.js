// Two runs, or two series of runs, side by side: the verdict of `sojourn compare`, and what each says.
import {post} from "./api.js";
import {Chart, figureWidth} from "./charts.js";
import {at, el, errorBox, link, show} from "./dom.js";
import {table} from "./table.js";
import {known, seriesOf} from "./fits.js";
import {perSecond, percent, plain, seconds} from "./numbers.js";

// names: of A, an empty one, of B; or one and one
export async function comparePage(folder, names, current) {
  document.title = "Compare · sojourn";
  const cut = names.indexOf("");
  const [a, b] = cut < 0 ? [names.slice(0, 1), names.slice(1, 2)] : [names.slice(0, cut), names.slice(cut + 1)];
  const two = a.length === 1 && b.length === 1;
  const main = show(el("p", {class: "path"}, link("#/", "Runs"), " / compare"), el("h1", {}, two ? "Two runs side by side" : `A: ${series(a)}; B: ${series(b)}`));
  if (!a.length || !b.length) { main.append(el("p", {}, "Choose two runs in the ", link("#/", "table"), ".")); return; }
  const waiting = el("p", {class: "muted"}, "Comparing…");
  main.append(waiting);
  const [verdict, rows] = await Promise.all([post("api/compare", {a, b, width: figureWidth(main)}), post("api/rows", {names: [...a, ...b].slice(0, 200)})]);
  if (!current()) return;
  waiting.remove();
  if (rows.error) { main.append(errorBox(rows.error)); return; }
  for (const row of rows.rows) known.set(row.name, row);
  if (verdict.error) main.append(el("p", {class: "notice"}, `No verdict: ${verdict.error.value}; ${verdict.error.remedy}. Below is what each run says.`));
  else main.append(el("section", {class: `verdict ${verdict.verdict.replace(" ", "-")}`, "aria-label": "Verdict"},
    el("p", {class: "headline"}, verdict.lines[0]), el("ul", {}, verdict.lines.slice(1).map(line => el("li", {}, line)))));
  if (two && verdict.verdict === "cannot tell") main.append(...wider(folder, a[0], b[0]));
  if (!verdict.error) main.append(table(verdict.columns[3].replace("against", "beside"), verdict.columns, verdict.rows, [false, true, true]));
  for (const figure of verdict.figures ?? []) {
    const chart = new Chart(figure.title);
    main.append(chart.element);
    chart.draw(figure);
  }
  const sides = verdict.columns?.slice(1, 3) ?? ["A", "B"];
  if (two) main.append(el("div", {class: "beside"}, rows.rows.map((row, k) => side(row, sides[k]))));
  else main.append(...[a, b].map((own, k) => all(own.map(name => known.get(name)).filter(Boolean), sides[k])));
  const whole = own => own.length === 1 || own.length === folder.runs.filter(run => seriesOf(run) === seriesOf(own[0])).length;
  if (whole(a) && whole(b)) main.append(command(a, b));
}

// One run of each side says little of how runs vary: the rest of both folders says more
function wider(folder, a, b) {
  const own = [a, b].map(name => folder.runs.filter(run => seriesOf(run) === seriesOf(name)).slice(0, 200));
  if (seriesOf(a) === seriesOf(b) || own.every(one => one.length < 2)) return [];
  return [el("p", {}, link(at("compare", ...own[0], "", ...own[1]), `Compare all ${own[0].length} runs of ${seriesOf(a)} with all ${own[1].length} of ${seriesOf(b)}`))];
}

const series = names => {
  const folders = [...new Set(names.map(seriesOf))];
  return `${names.length} ${names.length === 1 ? "run" : "runs"} of ${folders.length === 1 && folders[0] !== "." ? folders[0] : "this folder"}`;
};

const loadOf = row => (row.users ? `${plain(row.load)} users` : perSecond(row.load));

function all(rows, name) {
  const cells = row => (row.error ? [row.name, row.error.value, "", "", "", ""] : [link(at("run", row.name), row.name.split("/").pop()), loadOf(row), perSecond(row.throughput_per_s), seconds(row.response_s), seconds(row.p99_s), row.valid ? "yes" : "no"]);
  return table(name, ["run", "load", "throughput", "mean", "p99", "valid"], rows.map(cells), [false, true, true, true, true]);
}

function side(row, name) {
  if (row.error) return el("section", {}, el("h2", {}, name), errorBox(row.error));
  const facts = [
    ["run", link(at("run", row.name), row.name)], ["load", loadOf(row)], ["throughput", perSecond(row.throughput_per_s)],
    ["mean response time", seconds(row.response_s)], ["p50", seconds(row.p50_s)], ["p90", seconds(row.p90_s)], ["p99", seconds(row.p99_s)],
    ["failed", percent(row.failed)], ["busiest station", percent(row.busiest)], ["valid", row.valid ? "yes" : row.reasons.join("; ") || "no"], ["started", row.start],
    ...Object.entries(row.factors),
  ];
  return el("section", {}, el("h2", {}, name), el("dl", {class: "facts"}, facts.map(([what, value]) => el("div", {}, el("dt", {}, what), el("dd", {}, value ?? "–")))));
}

// A folder of runs where all of it is compared
const command = (a, b) => el("pre", {tabindex: 0}, `sojourn compare ${[a, b].map(names => quoted(names.length === 1 ? names[0] : seriesOf(names[0]))).join(" ")}`);
export const quoted = text => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
