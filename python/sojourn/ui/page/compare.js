// Two runs, or two series of runs, side by side: the verdict of `sojourn compare`, and what each says.
import {post} from "./api.js";
import {Chart, figureWidth} from "./charts.js";
import {at, el, errorBox, link, show} from "./dom.js";
import {table} from "./table.js";
import {known} from "./runs.js";
import {perSecond, percent, plain, seconds} from "./numbers.js";

export async function comparePage(_folder, names, current) {
  document.title = "Compare · sojourn";
  const [a, b] = names;
  const main = show(el("p", {class: "path"}, link("#/", "Runs"), " / compare"), el("h1", {}, "Two runs side by side"));
  if (!a || !b) { main.append(el("p", {}, "Choose two runs in the ", link("#/", "table"), ".")); return; }
  const waiting = el("p", {class: "muted"}, "Comparing…");
  main.append(waiting);
  const [verdict, rows] = await Promise.all([post("api/compare", {a: [a], b: [b], width: figureWidth(main)}), post("api/rows", {names: [a, b]})]);
  if (!current()) return;
  waiting.remove();
  if (rows.error) { main.append(errorBox(rows.error)); return; }
  for (const row of rows.rows) known.set(row.name, row);
  const [one, other] = rows.rows;
  if (verdict.error) main.append(el("p", {class: "notice"}, `No verdict: ${verdict.error.value}; ${verdict.error.remedy}. Below is what each run says.`));
  else main.append(el("section", {class: `verdict ${verdict.verdict.replace(" ", "-")}`, "aria-label": "Verdict"},
    el("p", {class: "headline"}, verdict.lines[0]), el("ul", {}, verdict.lines.slice(1).map(line => el("li", {}, line)))),
    table("B beside A", verdict.columns, verdict.rows));
  for (const figure of verdict.figures ?? []) {
    const chart = new Chart(figure.title);
    main.append(chart.element);
    chart.draw(figure);
  }
  main.append(el("div", {class: "beside"}, [[one, "A"], [other, "B"]].map(([row, name]) => side(row, name))));
  main.append(command(a, b));
}

function side(row, name) {
  if (row.error) return el("section", {}, el("h2", {}, name), errorBox(row.error));
  const facts = [
    ["run", link(at("run", row.name), row.name)], ["load", row.users ? `${plain(row.load)} users` : perSecond(row.load)], ["throughput", perSecond(row.throughput_per_s)],
    ["mean response time", seconds(row.response_s)], ["p50", seconds(row.p50_s)], ["p90", seconds(row.p90_s)], ["p99", seconds(row.p99_s)],
    ["failed", percent(row.failed)], ["busiest station", percent(row.busiest)], ["valid", row.valid ? "yes" : row.reasons.join("; ") || "no"], ["started", row.start],
    ...Object.entries(row.factors),
  ];
  return el("section", {}, el("h2", {}, name), el("dl", {class: "facts"}, facts.map(([what, value]) => el("div", {}, el("dt", {}, what), el("dd", {}, value ?? "–")))));
}

const command = (a, b) => el("pre", {tabindex: 0}, `sojourn compare ${quoted(a)} ${quoted(b)}`);
export const quoted = text => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
