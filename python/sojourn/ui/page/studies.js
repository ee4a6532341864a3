// The studies of the folder: how far each is, what is left, what was predicted and is not yet run.
import {at, el, errorPage, link, show} from "./dom.js";
import {table} from "./table.js";
import {interval, plain, quantity} from "./numbers.js";

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
    now.verdict.length > 0 && el("section", {class: "verdict", "aria-label": "Verdict"}, el("p", {class: "headline"}, now.verdict[0]),
      now.verdict.length > 1 && el("details", {}, el("summary", {}, `${now.verdict.length - 1} more`), el("ul", {}, now.verdict.slice(1).map(line => el("li", {}, line))))),
    now.predictions.length > 0 && predicted(now.predictions),
    now.runs.length > 0 && table("Runs", ["run", "section", "factors", "state"], now.runs.map(run => [run.name.split("/").pop(), run.section, factors(run.factors), stateOf(run)])),
    now.runs.length > 0 && el("p", {}, link(at("run", ...now.runs.filter(run => run.status === "complete").slice(0, 200).map(run => run.name)), "Report of the runs so far")),
    !now.live && !now.finished && el("p", {class: "note"}, `sojourn study goes on with it where it stopped. Its folder: ${name}`),
  ];
}

const left = seconds => (seconds == null ? "" : seconds >= 90 ? `, about ${Math.round(seconds / 60)} min left` : `, about ${Math.round(seconds)} s left`);
const factors = made => Object.entries(made).map(([key, value]) => `${key} = ${typeof value === "number" ? plain(value) : value}`).join(", ");
const stateOf = run => (run.status !== "complete" ? run.status : run.valid ? "valid" : `not valid: ${run.reasons.join("; ")}`);

function predicted(list) {
  const waiting = list.filter(one => one.runs === 0).length;
  const numbers = list.flatMap(one => one.numbers.map(number => ({...number, factors: one.factors, held: held(number)})));
  const judged = numbers.filter(one => one.held !== "–"), outside = judged.filter(one => one.held === "outside");
  const rows = numbers.toSorted((a, b) => ORDER[a.held] - ORDER[b.held]).map(number => [factors(number.factors), number.metric.replaceAll("_", " "), interval(number),
    number.measured == null ? "not yet run" : quantity(number.measured, number.unit), number.held === "outside" ? el("strong", {class: "bad"}, "outside") : number.held]);
  return [el("h2", {}, `Predicted before it was run${waiting ? `, ${waiting} of ${list.length} not yet run` : ""}`),
    judged.length > 0 && el("p", {}, `${outside.length} of ${judged.length} measured values lie outside the interval predicted for them${outside.length ? "; the table begins with them" : ""}.`), table("", ["configuration", "quantity", "predicted", "measured", "in the interval"], rows)];
}

const ORDER = {outside: 0, inside: 1, "–": 2};

function held({low, high, measured}) {
  if (measured == null || low == null) return "–";
  return measured >= low && (high == null || measured <= high) ? "inside" : "outside";
}
