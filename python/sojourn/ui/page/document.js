// A report of runs as elements: the answer, its numbers, then sections that fold.
import {Chart} from "./charts.js";
import {el, spans} from "./dom.js";
import {table} from "./table.js";

const STATUS = {ok: "✓ Valid", warn: "! Valid, with warnings", invalid: "✕ Not valid"};

export function documentView(made) {
  const [first, ...rest] = made.verdict;
  return el("article", {},
    el("h1", {}, made.title), made.subtitle && el("p", {class: "muted"}, made.subtitle),
    el("section", {class: `verdict ${made.status}`, "aria-label": "Verdict"},
      el("p", {class: "status"}, STATUS[made.status]),
      made.numbers.length > 0 && el("dl", {class: "numbers"}, made.numbers.map(([value, what]) => el("div", {}, el("dt", {}, what), el("dd", {}, value)))),
      el("p", {class: "headline"}, spans(first)),
      rest.length > 0 && el("details", {open: rest.length <= 3}, el("summary", {}, `${rest.length} more`), el("ul", {}, rest.map(line => el("li", {}, spans(line)))))),
    made.sections.map(section));
}

function section(made) {
  return el("section", {}, el("h2", {}, made.title), paragraphs(made.lead), made.blocks.map(block));
}

// Items that follow each other are one list
export function paragraphs(list) {
  const made = [];
  for (const one of list) {
    if (!one.item) made.push(el("p", {}, spans(one.spans)));
    else if (made.at(-1)?.tagName === "UL") made.at(-1).append(el("li", {}, spans(one.spans)));
    else made.push(el("ul", {}, el("li", {}, spans(one.spans))));
  }
  return made;
}

function block(made) {
  if (made.kind === "figure") {
    const chart = new Chart(made.title);
    new IntersectionObserver((seen, watch) => {
      if (!seen.some(one => one.isIntersecting)) return;
      watch.disconnect();
      chart.draw(made);
    }, {rootMargin: "200px"}).observe(chart.element);
    return [chart.element, made.note.length > 0 && el("p", {class: "note"}, spans(made.note))];
  }
  if (made.kind === "table") return [table(made.title, made.columns, made.rows, made.numeric), made.note.length > 0 && el("p", {class: "note"}, spans(made.note))];
  if (made.kind === "text") return el("div", {class: "text"}, paragraphs(made.paragraphs));
  return el("pre", {tabindex: 0}, made.text);
}
