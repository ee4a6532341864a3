// The studies of the folder: how far each is, what is left, what was predicted and is not yet run.
import {at, el, errorPage, link, show} from "./dom.js";
import {table} from "./table.js";
import {interval, percent, plain, quantity} from "./numbers.js";

export function studiesPage(folder) {
  document.title = "Studies · sojourn";
  show(el("h1", {}, "Studies"), folder.studies.length === 0
    ? el("p", {}, "There is no study in this folder. ", el("code", {}, "sojourn study workers --quick"), " makes one.")
    : el("ul", {class: "plain"}, folder.studies.map(name => el("li", {}, link(at("study", name), name)))));
}

export function studyPage(_folder, [name]) {
  document.title = `${name} · sojourn`;
  const body = el("div", {}, el("p", {class: "muted"}, "Reading…"));
  show(el("p", {class: "path"}, link("#/studies", "Studies"), " / ", name), body);
  let last = "";
  const source = new EventSource(`api/study?name=${encodeURIComponent(name)}`);
  source.addEventListener("message", event => {
    const now = JSON.parse(event.data);
    if (!now.live) source.close();
    if (event.data === last) return; // what was opened stays open
    last = event.data;
    body.replaceChildren(...(now.error ? errorPage(name, now.error) : view(now, name)).flat().filter(Boolean));
    body.dataset.looks = String(Number(body.dataset.looks || 0) + 1);
  });
  source.addEventListener("error", () => {
    if (!body.querySelector(".lost")) body.prepend(el("p", {class: "notice lost", role: "status"}, "The workbench does not answer; trying again."));
  });
  source.addEventListener("open", () => body.querySelector(".lost")?.remove());
  return () => source.close();
}

function view(now, name) {
  const of = now.planned ? ` of ${now.planned}` : "";
  const running = now.live && now.runs.find(run => run.status === "running");
  const state = now.finished ? "finished" : now.live ? `running${left(now.left_s)}` : "not finished, and nobody is at it";
  return [
    el("h1", {}, now.name), el("p", {class: "status", role: "status"}, state),
    now.planned && el("progress", {max: now.planned, value: Math.min(now.complete, now.planned), "aria-label": "share of the runs that is over"}),
    el("dl", {class: "numbers"}, [["runs", `${now.complete}${of}`], ["not valid", now.invalid]].map(([what, value]) => el("div", {}, el("dt", {}, what), el("dd", {}, value)))),
    running && el("p", {}, "being recorded now: ", link(at("run", running.name), running.name.split("/").pop())),
    now.verdict.length > 0 && verdict(now),
    now.predictions.length > 0 && predicted(now),
    now.runs.length > 0 && ran(now.runs),
    now.runs.length > 0 && el("p", {}, link(at("run", ...now.runs.filter(run => run.status === "complete").slice(0, 200).map(run => run.name)), "Report of the runs so far")),
    !now.live && !now.finished && el("p", {class: "note"}, `sojourn study goes on with it where it stopped. Its folder: ${name}`),
  ];
}

// What does not fit, and at least one more line, before the fold
function verdict({verdict: lines, misfits, count}) {
  const first = misfits + 1, rest = lines.slice(first), good = misfits === 0 && count.judged === count.inside;
  return el("section", {class: good ? "verdict" : "verdict warn", "aria-label": "Verdict"}, lines.slice(0, first).map((line, k) => el("p", {class: k ? null : "headline"}, line)),
    rest.length > 0 && el("details", {}, el("summary", {}, `${rest.length} more`), el("ul", {}, rest.map(line => el("li", {}, line)))));
}

const left = seconds => (seconds == null ? "" : seconds >= 90 ? `, about ${Math.round(seconds / 60)} min left` : `, about ${Math.round(seconds)} s left`);
const factors = made => Object.entries(made).map(([key, value]) => `${key} = ${typeof value === "number" ? plain(value) : value}`).join(", ");
// Names that say all factors are as long as the table is wide
const short = (run, k) => { const name = run.name.split("/").pop(); return name.length > 30 ? `run ${k + 1}` : name; };
const stateOf = run => (run.status !== "complete" ? run.status : run.valid ? "valid" : `not valid: ${run.reasons.join("; ")}`);

function ran(runs) {
  const same = alike(runs.map(run => run.factors));
  return [el("h2", {}, "Runs"), Object.keys(same).length > 0 && el("p", {class: "muted"}, `The same in all: ${factors(same)}.`),
    table("", ["run", "section", "factors", "state"], runs.map((run, k) => [run.status === "complete" ? link(at("run", run.name), short(run, k)) : short(run, k), run.section || "–", without(run.factors, same), stateOf(run)]))];
}

// What is alike in all of them is said once
function alike(list) {
  const [first, ...rest] = list;
  return Object.fromEntries(Object.entries(first ?? {}).filter(([key, value]) => rest.length > 0 && rest.every(one => one[key] === value)));
}
const without = (made, same) => factors(Object.fromEntries(Object.entries(made).filter(([key]) => !(key in same)))) || "–";

// As the study itself judges and counts
function predicted(now) {
  const same = alike(now.predictions.map(one => one.factors));
  const numbers = now.predictions.map(one => ({...one, name: one.metric.replaceAll("_", " "), at: without(one.factors, same), off: off(one)}));
  const sorted = numbers.toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a)), worst = numbers.filter(one => one.valid).toSorted((a, b) => size(b) - size(a))[0];
  const told = one => (one.judged === "outside" ? el("strong", {class: "bad"}, one.judged) : one.valid === false ? el("span", {class: "muted"}, one.judged) : one.judged);
  const rows = sorted.map(one => [one.at, one.name, told(one), interval(one), one.measured == null ? one.valid == null ? "not yet run" : "–" : quantity(one.measured, one.unit),
    one.valid === false ? "–" : error(one.off)]);
  return [el("h2", {}, `Predicted before it was run${now.not_yet_run ? `, ${now.not_yet_run} of ${now.configurations} not yet run` : ""}`),
    now.counted && el("p", {class: "counted"}, `${now.counted}.`, now.count.judged > now.count.inside && " The table begins with what lies outside."),
    worst?.off != null && el("p", {}, `The largest error: ${worst.name} at ${worst.at}, ${quantity(worst.value, worst.unit)} predicted and ${quantity(worst.measured, worst.unit)} measured.`),
    Object.keys(same).length > 0 && el("p", {class: "muted"}, `The same in all: ${factors(same)}.`),
    table("", ["configuration", "quantity", "in the interval", "predicted", "measured", "error"], rows, [false, false, false, false, true, true])];
}

// Misses first, what could not be judged and what is not yet run last
const rank = one => (one.judged === "outside" ? 0 : one.inside ? 1 : one.valid === false ? 2 : 3);

// Of the prediction, relative to what was measured
const off = ({value, measured}) => (value == null || !measured ? null : value / measured - 1);
// A half and the double are as wrong as each other
const size = one => (one.off == null || one.off <= -1 ? 0 : Math.abs(Math.log1p(one.off)));
const error = share => (share == null ? "–" : `${share > 0 ? "+" : ""}${percent(share)}`);
