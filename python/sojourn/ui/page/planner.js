// The planner: which configuration meets an objective at the least cost. Its front is points to click: sliders and curves then show one.
import {post} from "./api.js";
import {Chart, figureWidth} from "./charts.js";
import {el, errorBox, say} from "./dom.js";
import {percent, plain, quantity} from "./numbers.js";
import {factorOf} from "./copied.js";
import {quoted} from "./compare.js";
import {explained, listed} from "./words.js";

const PLACES = 2; // numbers that may be varied together

export class Planner {
  constructor(page) {
    this.page = page;
    this.rows = Array.from({length: PLACES}, (_, k) => this.row(k));
    this.objective = el("input", {type: "text", size: 22, required: true, oninput: () => { this.own = true; }});
    this.cost = el("input", {type: "text", size: 30, required: true});
    this.load = el("span");
    this.button = el("button", {type: "submit"}, "Find the cheapest");
    this.answer = el("div", {"aria-live": "polite"});
    const form = el("form", {onsubmit: event => { event.preventDefault(); this.find(); }},
      this.rows.map(row => el("p", {class: "tools"}, row.parts)),
      el("p", {class: "tools"}, el("label", {}, "objective ", this.objective), el("label", {}, "cost ", this.cost), this.button),
      el("p", {class: "note"}, "An objective compares mean, p90, p99, throughput or utilisation{station=NAME} with a limit; ",
        el("code", {}, "and"), " joins several. ", this.load));
    this.element = el("details", {class: "planner", ontoggle: () => { if (this.element.open && this.page.model) this.offer(); }},
      el("summary", {}, "Plan: how many of something does an objective need?"), form, this.answer);
  }

  row(k) {
    const select = el("select", {"aria-label": k ? "also change" : "change", onchange: () => { this.reach(k); this.priced(); }});
    const [from, to] = ["from", "to"].map(end => el("input", {type: "number", class: "exact", min: 0, step: "any", "aria-label": `${end}, ${k ? "second" : "first"} number`}));
    return {select, from, to, parts: [el("label", {}, k ? "and " : "change ", select), el("label", {}, "from ", from), el("label", {}, "to ", to)]};
  }

  // What can be varied: all but the load, whole numbers first. What a reader has chosen stays
  offer() {
    const numbers = this.page.model.numbers.filter(one => !one.load).toSorted((a, b) => b.whole - a.whole);
    this.rows.forEach(({select}, k) => {
      const before = select.value;
      select.replaceChildren(...(k ? [el("option", {value: ""}, "nothing else")] : []), ...numbers.map(one => el("option", {value: one.path}, one.label)));
      select.value = numbers.some(one => one.path === before) ? before : k ? "" : numbers[0]?.path ?? "";
      if (select.value !== before || !this.number(k)) this.reach(k);
    });
    this.button.disabled = numbers.length === 0;
    if (!this.cost.value || !this.known(this.cost.value)) this.priced();
    this.follow();
  }

  // What a slider moves: the load, and the objective as long as nobody wrote one
  follow() {
    if (!this.element.open || !this.page.model) return;
    const load = this.page.model.numbers.find(one => one.load);
    this.load.textContent = load ? `It is planned for the load of the slider: ${quantity(this.value(load), load.unit)}${load.unit ? "" : " users"}.` : "";
    if (!this.own) this.objective.value = this.page.objectives[0]?.text ?? `mean < ${this.usual()}`;
  }

  value(number) { return this.page.settings[number.path] ?? number.value; }
  number(k) { return this.page.model.numbers.find(one => one.path === this.rows[k].select.value); }
  known(cost) { return this.page.model.numbers.some(one => cost.includes(one.path)); }

  // From one to twice what there is, and at least to eight; of what is no whole number from half to twice
  reach(k) {
    const {from, to} = this.rows[k], one = this.number(k);
    for (const box of [from, to]) box.disabled = !one;
    if (!one) { from.value = to.value = ""; return; }
    const now = this.value(one);
    [from.value, to.value] = one.whole ? [1, Math.max(8, 2 * now)] : [now / 2, 2 * now].map(value => Number(value.toPrecision(3)));
  }

  priced() { this.cost.value = this.rows.map(({select}) => select.value).filter(Boolean).join(" + "); }

  // A round time of about twice the present mean
  usual() {
    const ms = 2e3 * (this.page.mean_s || 0.05), size = 10 ** Math.floor(Math.log10(ms));
    return `${Number((Math.ceil(ms / size) * size).toPrecision(2))}ms`;
  }

  vary() {
    const found = {};
    this.rows.forEach(({select, from, to}, k) => {
      const one = this.number(k);
      if (!one) return;
      const [low, high] = [from.valueAsNumber, to.valueAsNumber];
      const steps = one.whole ? Math.min(40, Math.round(high - low)) : 8;
      const values = Array.from({length: Math.max(0, steps) + 1}, (_, i) => low + (high - low) * (steps ? i / steps : 0));
      found[select.value] = [...new Set(values.map(value => one.whole ? Math.round(value) : Number(value.toPrecision(6))))];
    });
    return found;
  }

  async find() {
    const {page} = this, vary = this.vary();
    if (Object.values(vary).flat().some(value => !Number.isFinite(value))) { say("give a first and a last number"); return; }
    const question = {name: page.name, text: page.text, settings: page.settings, vary, objective: this.objective.value, cost: this.cost.value, width: figureWidth(this.answer)};
    this.button.disabled = true;
    this.answer.replaceChildren(el("p", {class: "muted"}, "Planning…"));
    const found = await post("api/plan", question);
    this.button.disabled = false;
    if (!page.current()) return;
    this.answer.replaceChildren(...(found.error ? [errorBox(found.error)] : this.told(found, question)).flat().filter(Boolean));
    this.answer.dataset.plans = String(Number(this.answer.dataset.plans || 0) + 1);
  }

  told(found, question) {
    const [first, ...rest] = found.lines, used = new Set(), line = text => explained(text, used);
    const fold = (title, list) => list.length > 0 && el("details", {}, el("summary", {}, title), el("ul", {}, list.map(text => el("li", {}, line(text)))));
    const charts = found.figures.map(figure => {
      const chart = new Chart("Cost and objective: choose a point, and the sliders show it", datum => this.pick(found, datum));
      chart.draw(figure);
      return chart.element;
    });
    const best = found.front[found.chosen], good = best?.met && best.inside !== false && sure(best);
    const parts = [el("section", {class: good ? "verdict" : "verdict warn", "aria-label": "Plan"}, el("p", {class: "headline"}, line(first)), rest.length > 0 && el("ul", {}, rest.map(text => el("li", {}, line(text))))),
      this.unsettled(question), found.about && el("p", {class: "note"}, found.about),
      charts, this.table(found), fold("One step more or less", found.steps), fold("How it was found", found.notes)];
    return [...parts, listed(used), el("pre", {tabindex: 0}, this.command(question))];
  }

  // What the runs do not tell of the number that is varied
  unsettled({vary}) {
    const {numbers, averaged} = this.page.model, open = numbers.filter(one => one.path in vary && averaged?.[one.path]);
    return open.map(one => el("p", {class: "note"}, `The runs do not tell how many ${one.label} there are now: ${averaged[one.path].map(([value, weight]) => `${plain(value)} (weight ${weight.toFixed(2)})`).join(" or ")}. The share of the draws depends on it. Whoever knows the number gives a model with it to `, el("code", {}, "sojourn fit --model"), "."));
  }

  table(found) {
    this.shown = found.front.map((one, k) => el("button", {type: "button", "aria-pressed": "false", onclick: () => this.show(found, k)}, "show"));
    const heads = ["", ...Object.keys(found.front[0]?.settings ?? {}).map(path => this.page.model.numbers.find(one => one.path === path)?.label ?? path), "cost", "objective", "meets it", found.front[0]?.share_of_draws != null && "of the draws"].filter(head => head !== false);
    const rows = found.front.map((one, k) => el("tr", {class: k === found.chosen ? "chosen" : null}, el("td", {}, this.shown[k]),
      Object.entries(one.settings).map(([path, value]) => el("td", {class: "number"}, quantity(value, this.page.model.numbers.find(n => n.path === path)?.unit))),
      el("td", {class: "number"}, plain(one.cost)), el("td", {}, one.terms.join("; ")), el("td", {class: !one.met ? "bad" : sure(one) ? "good" : null}, !one.met ? "no" : sure(one) ? "yes" : "not for sure", one.inside === false && " (beyond what was measured)"),
      one.share_of_draws != null && el("td", {class: "number"}, percent(one.share_of_draws))));
    return el("div", {class: "table", tabindex: 0, role: "region", "aria-label": "front of the plan"}, el("table", {},
      el("caption", {}, el("span", {}, `${found.front.length} of ${found.configurations} configurations: no other is better in everything`)),
      el("thead", {}, el("tr", {}, heads.map(head => (head ? el("th", {scope: "col"}, head) : el("td"))))), el("tbody", {}, rows)));
  }

  // The point of the front that was clicked
  pick(found, {x, y}) {
    const off = one => Math.abs(one.cost - x) / (Math.abs(x) || 1) + (one.y == null || y == null ? 0 : Math.abs(one.y - y) / (Math.abs(y) || 1));
    const best = found.front.reduce((least, one, k) => (off(one) < off(found.front[least]) ? k : least), 0);
    if (off(found.front[best]) < 0.01) this.show(found, best);
  }

  show(found, k) {
    this.shown.forEach((button, other) => { button.textContent = other === k ? "shown" : "show"; button.setAttribute("aria-pressed", String(other === k)); });
    this.page.put(found.front[k].settings);
    say("the sliders and the curves show this configuration");
  }

  command({name, settings, vary, objective, cost}) {
    const set = Object.entries(settings).filter(([path]) => !(path in vary)).map(([path, value]) => [factorOf(this.page, path), plain6(value)]);
    const load = set.filter(([key]) => LOADS.includes(key)).map(([, value]) => `--load ${value}`);
    const others = set.filter(([key]) => !LOADS.includes(key)).map(([key, value]) => `--vary ${quoted(`${key}=${value}`)}`);
    const varied = Object.entries(vary).map(([path, values]) => `--vary ${quoted(`${path}=${values.map(plain6).join(",")}`)}`);
    return ["sojourn plan", quoted(name), ...varied, ...others, ...load, `--objective ${quoted(objective)}`, `--cost ${quoted(cost)}`].join(" ");
  }
}

const sure = one => (one.share_of_draws ?? 1) >= 0.9;
const LOADS = ["rate_per_s", "users"];
const plain6 = value => String(Number(Number(value).toPrecision(6)));
