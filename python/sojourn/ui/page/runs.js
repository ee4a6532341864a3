// The runs of the folder as tables, a series of runs (a folder that holds them) each; one run's page.
import {get, post} from "./api.js";
import {rangeBar, sparkline} from "./charts.js";
import {at, el, errorBox, errorPage, link, say, show} from "./dom.js";
import {documentView} from "./document.js";
import {fitsOf, known, seriesOf} from "./fits.js";
import {liveView} from "./live.js";
import {percent, perSecond, plain, seconds} from "./numbers.js";

const AT_ONCE = 60, EVERY_MS = 5000, MOST_MODELS = 3;
export async function runsPage(folder, _names, current) {
  document.title = "Runs · sojourn";
  if (folder.runs.length === 0) {
    show(el("h1", {}, "Runs"), el("p", {}, "There is no run in this folder. ", el("code", {}, "sojourn measure URL --out runs"), " makes some."),
      folder.models.length + folder.fitted.length > 0 && el("p", {}, link("#/models", "Models of this folder")));
    return;
  }
  const series = Map.groupBy ? Map.groupBy(folder.runs, seriesOf) : grouped(folder.runs);
  const chosen = new Set();
  const compare = el("button", {type: "button", disabled: true, onclick: () => {
    const [a, b] = sidesOf(chosen);
    location.hash = at("compare", ...a, "", ...b);
  }}, "Compare two");
  const report = el("button", {type: "button", disabled: true, onclick: () => { location.hash = at("run", ...chosen); }}, "Report of these");
  const filter = el("input", {type: "search", "aria-label": "Filter runs by name", placeholder: "filter by name"});
  const picked = () => {
    const sides = sidesOf(chosen);
    compare.disabled = sides === null;
    compare.textContent = sides === null || chosen.size === 2 ? "Compare two" : `Compare ${sides.map(side => seriesOf(side[0])).join(" with ")}`;
    report.disabled = chosen.size === 0 || chosen.size > 200;
    say(`${chosen.size} chosen`);
  };
  const tables = [...series].map(([name, names]) => new Series(name, names, chosen, picked));
  filter.addEventListener("input", () => { for (const table of tables) table.filter(filter.value.toLowerCase()); });
  show(el("h1", {}, `${folder.runs.length} runs`), folder.left_out && el("p", {class: "notice"}, folder.left_out),
    folder.fitted.length > 0 && el("p", {}, "Where it saturates, and what more load or workers would do: ", folder.fitted.slice(0, MOST_MODELS).map((name, k) => [k > 0 && ", ", link(at("model", name), name)]),
      folder.fitted.length > MOST_MODELS && [", ", link("#/models", `${folder.fitted.length - MOST_MODELS} more`)]),
    el("p", {class: "tools"}, filter, compare, report, el("span", {class: "muted"}, "choose two runs, or the runs of two folders, to compare them")), tables.map(table => table.element));
  const watch = setInterval(() => grown(folder, current), EVERY_MS);
  for (const table of tables) await table.load(current);
  const fits = current() ? await fitsOf(folder) : [];
  for (const table of tables) table.fitted(fits.filter(one => one.series === table.name).map(one => one.name));
  return () => clearInterval(watch);
}

// Two runs, or the runs of two series; null for what cannot be compared
function sidesOf(chosen) {
  const names = [...chosen], sides = [...grouped(names).values()];
  if (names.length === 2) return names.map(name => [name]);
  return sides.length === 2 ? sides : null;
}

// Says that there are other runs by now: whoever reads a table does not want it to jump
async function grown(folder, current) {
  if (document.hidden) return;
  const now = await get("api/folder");
  if (!current() || now.error || now.runs.join("\n") === folder.runs.join("\n")) return;
  document.getElementById("grown")?.remove();
  document.querySelector("main h1").after(el("p", {class: "notice", id: "grown", role: "status"}, `There are ${now.runs.length} runs now. `,
    el("button", {type: "button", onclick: () => dispatchEvent(new Event("hashchange"))}, "Show them")));
}

function grouped(names) {
  const found = new Map();
  for (const name of names) found.set(seriesOf(name), [...(found.get(seriesOf(name)) ?? []), name]);
  return found;
}

class Series {
  constructor(name, names, chosen, picked) {
    this.name = name; this.names = names; this.chosen = chosen; this.picked = picked;
    this.body = el("tbody");
    this.spark = el("span", {class: "sparks"});
    this.lines = new Map();
    const heads = ["", "run", "load", "throughput", "mean", "p99", "p50 to p99", "failed", "valid"];
    const all = el("input", {type: "checkbox", "aria-label": `choose all of ${name === "." ? "this folder" : name}`, onchange: () => this.choose(all.checked)});
    const head = el("thead", {}, el("tr", {}, heads.map(text => el("th", {scope: "col"}, text || all))));
    this.element = el("section", {class: "series"},
      el("h2", {}, name === "." ? "this folder" : name, " ", this.count = el("small", {}, this.counted())), this.fits = el("p", {hidden: true}), this.spark,
      el("div", {class: "table", tabindex: 0, role: "region", "aria-label": `runs of ${name}`}, el("table", {}, head, this.body)));
    for (const one of names) this.body.append(this.line(one, known.get(one)));
  }

  line(name, row) {
    const short = name === "." ? "this folder" : name.split("/").pop();
    const choose = el("input", {type: "checkbox", "aria-label": `choose ${short}`, checked: this.chosen.has(name), onchange: event => {
      event.target.checked ? this.chosen.add(name) : this.chosen.delete(name);
      this.picked();
    }});
    const cells = row === undefined ? [el("td", {colspan: 7, class: "muted"}, "…")] : row.error ? [el("td", {colspan: 7, class: "bad"}, said(row.error))] : this.cells(row);
    const line = el("tr", {}, el("td", {}, choose), el("th", {scope: "row"}, link(at("run", name), short), row?.live && el("span", {class: "live"}, " live")), cells);
    this.lines.set(name, line);
    return line;
  }

  cells(row) {
    const load = row.load == null ? "–" : row.users ? `${plain(row.load)} users` : perSecond(row.load);
    const why = row.valid ? el("span", {class: "good"}, "yes") : row.live ? "being recorded" :
      el("details", {}, el("summary", {class: "bad"}, row.status === "cut off" ? "cut off" : "no"), el("ul", {}, row.reasons.map(one => el("li", {}, one))));
    return [load, perSecond(row.throughput_per_s), seconds(row.response_s), seconds(row.p99_s)].map(text => el("td", {class: "number"}, text)).concat(
      el("td", {}, rangeBar(row, this.most || 1)), el("td", {class: "number"}, percent(row.failed)), el("td", {}, why));
  }

  async load(current) {
    const missing = this.names.filter(name => !known.has(name) || known.get(name).live);
    for (let k = 0; k < missing.length; k += AT_ONCE) {
      const found = await post("api/rows", {names: missing.slice(k, k + AT_ONCE)});
      if (!current()) return;
      if (found.error) { this.element.append(errorBox(found.error)); return; }
      for (const row of found.rows) known.set(row.name, row);
      this.redraw(missing.slice(k, k + AT_ONCE));
    }
    this.redraw(this.names);
  }

  counted(bad = 0) { return `${this.names.length} ${this.names.length === 1 ? "run" : "runs"}${bad ? `, ${bad} not valid` : ""}`; }

  // The models that were fitted from these runs
  fitted(names) {
    if (names.length === 0) return;
    const more = names.length - MOST_MODELS;
    this.fits.replaceChildren("fitted from these runs: ", ...names.slice(0, MOST_MODELS).flatMap((name, k) => [k > 0 ? ", " : "", link(at("model", name), name)]), more > 0 ? `, ${more} more` : "");
    this.fits.hidden = false;
  }

  redraw(names) {
    const rows = this.names.map(name => known.get(name)).filter(row => row && !row.error);
    this.count.textContent = this.counted(rows.filter(row => !row.valid && !row.live).length);
    this.most = Math.max(0, ...rows.map(row => row.p99_s ?? row.response_s ?? 0)) || 1;
    for (const name of names) this.lines.get(name).replaceWith(this.line(name, known.get(name)));
    const lines = linesOf(rows.filter(row => row.response_s != null && row.load != null));
    if (lines.length > 0) {
      this.spark.replaceChildren(
        el("span", {class: "labelled"}, sparkline(lines.map(line => line.map(row => [row.load, row.response_s])), `mean response time over the load of ${this.name}`), "mean over load"),
        el("span", {class: "labelled"}, sparkline(lines.map(line => line.map(row => [row.load, row.throughput_per_s])), `throughput over the load of ${this.name}`), "throughput over load"));
    }
  }

  // All that the filter shows
  choose(checked) {
    for (const [name, line] of this.lines) {
      if (line.hidden) continue;
      checked ? this.chosen.add(name) : this.chosen.delete(name);
      line.querySelector("input").checked = checked;
    }
    this.picked();
  }

  filter(text) {
    for (const [name, line] of this.lines) line.hidden = !name.toLowerCase().includes(text);
    this.element.hidden = [...this.lines.values()].every(line => line.hidden);
  }
}

// A line a configuration, where it has more than one load; users and rates are never one axis
function linesOf(rows) {
  const users = rows.filter(row => row.users).length > rows.length / 2, found = new Map();
  for (const row of rows.filter(one => one.users === users)) {
    const key = JSON.stringify(row.factors);
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found.values()].filter(line => new Set(line.map(row => row.load)).size > 1);
}

const said = error => [error.place, error.value, error.remedy].filter(Boolean).join("; ");

export async function runPage(_folder, names, current) {
  const title = names.length === 1 ? names[0] : `${names.length} runs`;
  document.title = `${title} · sojourn`;
  const main = show(el("p", {class: "path"}, link("#/", "Runs"), " / ", title), el("p", {class: "muted"}, "Reading…"));
  if (names.length === 1) {
    const found = await post("api/rows", {names});
    if (!current()) return;
    if (!found.error) known.set(names[0], found.rows[0]);
    if (found.rows?.[0].live) return liveView(main, names[0]);
  }
  const found = await post("api/report", {names, width: Math.max(260, Math.min(860, main.clientWidth))});
  if (!current()) return;
  main.lastChild.remove();
  main.append(...(found.error ? errorPage(title, found.error) : [documentView(found)]));
}
