// A model: its network, its file, sliders for its numbers, and curves that follow them.
import {begun, keep} from "./address.js";
import {Newest, get, post} from "./api.js";
import {Chart, figureWidth} from "./charts.js";
import {at, el, errorBox, errorPage, link, show} from "./dom.js";
import {Editor} from "./editor.js";
import {Export} from "./export.js";
import {fitsOf, rowsOf, seriesOf, seriesOfFit} from "./fits.js";
import {drawing} from "./network.js";
import {interval, percent, plain, quantity, seconds} from "./numbers.js";
import {Planner} from "./planner.js";

const SETTLED_MS = 250;

export async function modelsPage(folder, _names, current) {
  document.title = "Models · sojourn";
  const of = new Map(); // name of a fit → where the page says which runs it is of
  const about = name => { const place = el("span", {class: "muted"}); of.set(name, place); return place; };
  const list = names => el("ul", {class: "plain"}, names.map(name => el("li", {}, link(at("model", name), name), about(name))));
  show(el("h1", {}, "Models"),
    folder.fitted.length > 0 && [el("h2", {}, "Fitted"), list(folder.fitted)],
    folder.models.length > 0 && [el("h2", {}, "Written"), list(folder.models)],
    folder.fitted.length + folder.models.length === 0 && el("p", {}, "There is no model file in this folder. ", el("code", {}, "sojourn examples shop"), " writes one."));
  for (const {name, series} of current() ? await fitsOf(folder) : []) of.get(name)?.replaceChildren(`: fitted from ${series === "." ? "the runs of this folder" : series}`);
}

export async function modelPage(folder, [name], current) {
  document.title = `${name} · sojourn`;
  show(el("p", {class: "path"}, link("#/models", "Models"), " / ", name), el("p", {class: "muted"}, "Reading…"));
  const file = await get(`api/file?name=${encodeURIComponent(name)}`);
  if (!current()) return;
  if (file.error) { show(errorPage(name, file.error)); return; }
  const page = new ModelPage(folder, name, file.text, current);
  await page.begin();
  return () => page.end();
}

class ModelPage {
  constructor(folder, name, text, current) {
    const {settings, x} = begun(name);
    Object.assign(this, {folder, name, current, settings, model: null, x: x ?? "", points: [], objectives: [], sliders: new Map()});
    this.text = text;
    this.editor = new Editor(text, changed => this.edited(changed));
    this.network = el("div", {class: "drawn"});
    this.controls = el("div", {class: "sliders"});
    this.now = el("dl", {class: "numbers", "aria-live": "polite"});
    this.note = el("p", {class: "note"});
    this.about = el("p", {class: "note"}); // the intervals
    this.left = el("span", {class: "muted"}); // runs that are not drawn
    this.axis = el("select", {"aria-label": "x axis", onchange: () => { this.x = this.axis.value; this.ask(); }});
    this.behind = el("select", {"aria-label": "measured points", onchange: () => this.measured()});
    this.charts = new Map();
    this.figures = el("div", {class: "figures"});
    this.trouble = el("div");
    this.planner = new Planner(this);
    this.export = new Export(this);
    this.solver = new Newest(question => post("api/curves", question), (found, question, more) => this.curves(found, more));
    this.bander = new Newest(question => post("api/band", question), (found, question) => this.band(found, question));
    this.resized = () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.ask(), 200); };
    addEventListener("resize", this.resized);
  }

  end() { removeEventListener("resize", this.resized); clearTimeout(this.settling); clearTimeout(this.timer); }

  async begin() {
    const button = (label, act) => el("button", {type: "button", onclick: event => act(event.target)}, label);
    show(el("p", {class: "path"}, link("#/models", "Models"), " / ", this.name), this.title = el("h1", {}, this.name), this.other = el("p", {class: "changed", role: "status"}), this.trouble,
      el("div", {class: "model"},
        el("section", {class: "left", "aria-label": "Network and numbers"}, this.network, el("h2", {}, "Numbers"), this.controls,
          el("p", {class: "tools"}, button("Reset", () => this.reset())),
          el("h2", {}, "Export"), this.export.element),
        el("section", {class: "right", "aria-label": "Curves"}, this.now, this.about,
          el("p", {class: "tools"}, el("label", {}, "x axis ", this.axis), el("label", {}, "measured ", this.behind), this.left), this.figures, this.note)),
      this.planner.element,
      el("details", {class: "file", open: true}, el("summary", {}, "Model file"), this.editor.element));
    await this.describe();
    if (!this.current() || !this.model) return;
    await this.offer();
    await this.measured();
  }

  async describe() {
    const found = await post("api/model", {name: this.name, text: this.text});
    if (!this.current()) return;
    this.editor.mark(found.error ?? null);
    this.trouble.replaceChildren();
    if (found.error) {
      this.figures.classList.add("stale");
      if (!this.model) this.trouble.replaceChildren(errorBox(found.error));
      return;
    }
    this.figures.classList.remove("stale");
    this.model = found;
    this.title.textContent = found.name || this.name;
    this.most = found.most ?? null;
    this.settings = Object.fromEntries(Object.entries(this.settings).filter(([path]) => found.numbers.some(n => n.path === path)));
    this.base = found.start != null ? {[found.x]: found.start} : {};
    this.settings = {...this.base, ...this.settings};
    if (!found.numbers.some(n => n.path === this.x)) this.x = found.x;
    this.axis.replaceChildren(...found.numbers.map(n => el("option", {value: n.path}, n.label)));
    this.axis.value = this.x;
    this.network.replaceChildren(drawing(found.drawing));
    this.controls.replaceChildren(...found.numbers.map(n => this.slider(n)));
    if (this.planner.element.open) this.planner.offer();
  }

  slider(number) {
    const id = `n-${number.path}`;
    const value = () => this.settings[number.path] ?? number.value;
    const log = !number.whole && number.low > 0;
    const [low, high] = log ? [Math.log(number.low), Math.log(number.high)] : [number.low, Math.max(number.high, 1.5 * value())];
    const range = el("input", {type: "range", id, min: low, max: high, step: number.whole ? 1 : (high - low) / 200, "data-path": number.path});
    const box = el("input", {type: "number", class: "exact", min: 0, step: number.whole ? 1 : "any", "aria-label": `${number.label}, exact`});
    const told = el("output", {for: id});
    const seen = this.model.intervals[number.path];
    const put = (given, from) => {
      if (from !== range) range.value = log ? Math.log(given) : given;
      if (from !== box) box.value = Number(Number(given).toPrecision(4));
      told.textContent = quantity(given, number.unit);
      range.setAttribute("aria-valuetext", `${quantity(given, number.unit)}`);
    };
    const moved = (given, from) => {
      if (!Number.isFinite(given) || given < 0) return;
      const now = number.whole ? Math.max(1, Math.round(given)) : given;
      if (now === number.value && !(number.path in this.base) && !this.model.averaged?.[number.path]) delete this.settings[number.path];
      else this.settings[number.path] = now;
      put(now, from);
      this.ask();
    };
    range.addEventListener("input", () => moved(log ? Math.exp(range.valueAsNumber) : range.valueAsNumber, range));
    box.addEventListener("change", () => moved(box.valueAsNumber, box));
    put(value(), null);
    this.sliders.set(number.path, put);
    return el("div", {class: "slider"}, el("label", {for: id}, number.label), told, range, box,
      this.averaged(number), seen && el("small", {}, `fitted: ${quantity(seen[0], number.unit)} … ${quantity(seen[1], number.unit)}`));
  }

  // What a slider says that nobody moved, where the models that are averaged have different numbers
  averaged({path}) {
    const values = this.model.averaged?.[path];
    return values && el("small", {}, `the averaged models have ${values.map(([value, weight]) => `${plain(value)} (weight ${weight.toFixed(2)})`).join(" and ")}; a number that you set is that of all`);
  }

  // Numbers that are others than those of the file, in words; the load is none
  changed() { return (this.model?.numbers ?? []).filter(one => !one.load && one.path in this.settings).map(one => this.shown(one)); }
  shown(one) { return `${one.label} ${quantity(this.settings[one.path] ?? one.value, one.unit)}`; }

  reset() {
    this.settings = {...this.base};
    for (const number of this.model?.numbers ?? []) this.sliders.get(number.path)?.(this.settings[number.path] ?? number.value, null);
    this.ask();
  }

  async edited(text) {
    this.text = text;
    await this.describe();
    if (this.editor.error === null && this.model) this.ask();
  }

  question() {
    return {name: this.name, text: this.text, settings: this.settings, x: this.x, width: figureWidth(this.figures), measured: this.points, most: this.most, objectives: this.objectives};
  }

  ask() {
    if (!this.model) return;
    this.planner.follow();
    this.export.follow();
    const changed = this.changed(), moved = Object.entries(this.settings).filter(([path, value]) => value !== this.base[path]);
    this.other.textContent = changed.length ? `changed: ${changed.join(", ")}` : "";
    this.figures.classList.toggle("changed", changed.length > 0);
    keep(this.name, Object.fromEntries(moved), this.x === this.model.x ? null : this.x);
    this.asked = performance.now();
    this.solver.put(this.question());
    clearTimeout(this.settling);
    if (this.model.fitted) this.settling = setTimeout(() => { this.figures.dataset.waiting = "band"; this.bander.put(this.question()); }, SETTLED_MS);
  }

  async curves(found, more) {
    if (!this.current()) return;
    this.trouble.replaceChildren(...(found.error ? [errorBox(found.error)] : []));
    if (found.error) { this.figures.classList.add("stale"); return; }
    this.figures.classList.remove("stale");
    this.figures.dataset.solved_ms = String(Math.round(performance.now() - this.asked));
    await this.draw(found, more, this.model.fitted);
  }

  // The band of where the sliders came to rest; one of another place says nothing
  async band(found, question) {
    if (!this.bander.waiting) delete this.figures.dataset.waiting;
    if (!this.current() || found.error || JSON.stringify(question.settings) !== JSON.stringify(this.settings) || question.text !== this.text) return;
    await this.draw(found, false, false);
    this.figures.dataset.band = String(Number(this.figures.dataset.band || 0) + 1);
  }

  // early: intervals follow
  async draw(found, more, early) {
    this.told(found, early);
    for (const figure of found.figures) {
      if (!this.charts.has(figure.id)) {
        const chart = new Chart(figure.title);
        this.charts.set(figure.id, chart);
        this.figures.append(chart.element);
      }
    }
    const [first, ...rest] = found.figures;
    if (first) await this.charts.get(first.id).draw(first);
    this.figures.dataset.answer_ms = String(Math.round(performance.now() - this.asked));
    if (more || this.solver.waiting !== null) return; // the slider is elsewhere by now
    for (const figure of rest) await this.charts.get(figure.id).draw(figure);
    this.figures.dataset.settled = String(Number(this.figures.dataset.settled || 0) + 1);
  }

  told(found, early) {
    const names = {response_time: "mean response time", throughput: "throughput", saturation_rate: "saturates at"};
    const rows = found.now.filter(row => row.value != null || row.metric === "response_time");
    const text = row => (row.metric.startsWith("utilisation") ? percent(row.value) : row.value == null ? row.status.replaceAll("_", " ") : interval(row));
    this.now.replaceChildren(...rows.map(row => el("div", {}, el("dt", {}, [names[row.metric] ?? row.metric, row.class && ` of ${row.class}`]),
      el("dd", {class: early ? "early" : null}, early ? `about ${text(row)}` : text(row)))));
    this.about.textContent = early ? "The intervals follow." : found.length_s ? `Intervals are for a new run of ${seconds(found.length_s)}.` : "";
    this.mean_s = found.now.find(row => row.metric === "response_time")?.value ?? null;
    this.note.textContent = `${found.method}. ${found.message}`;
    const busy = Object.fromEntries(found.busy ?? []);
    this.network.replaceChildren(drawing(this.model.drawing, busy));
  }

  // Numbers that something else than a slider gives
  put(settings) {
    Object.assign(this.settings, settings);
    for (const [path, value] of Object.entries(settings)) this.sliders.get(path)?.(value, null);
    this.ask();
  }

  // Series of runs of the folder, to be put behind the curves
  async offer() {
    const series = [...new Set(this.folder.runs.map(seriesOf))];
    this.behind.replaceChildren(el("option", {value: ""}, "none"), ...series.map(name => el("option", {value: name}, name === "." ? "this folder" : name)));
    this.behind.value = this.model.fitted && series.length > 0 ? (await seriesOfFit(this.name, this.loads(), this.folder)).series : "";
  }

  loads() { return this.model.configurations.map(one => one.users ?? one.rate_per_s).filter(Number.isFinite); }

  async measured() {
    const names = this.behind.value ? this.folder.runs.filter(name => seriesOf(name) === this.behind.value).slice(0, 200) : [];
    const users = this.x.endsWith(".population");
    const all = (await rowsOf(names)).filter(row => row && !row.error), rows = all.filter(row => row.valid && row.load != null && row.users === users);
    if (!this.current()) return;
    const keys = ["load", "response_s", "response_s_low", "response_s_high", "throughput_per_s", "throughput_per_s_low", "throughput_per_s_high", "p50_s", "p90_s", "p99_s"];
    const bad = all.filter(row => !row.valid && !row.live);
    this.left.replaceChildren(...(bad.length ? [`${bad.length} of ${all.length} runs not valid, ${this.unused(bad) ? "not used" : "not drawn"}: `, ...bad.slice(0, 3).map(row => [link(at("run", row.name), row.name.split("/").pop()), " "]).flat()] : []));
    this.points = rows.map(row => Object.fromEntries(keys.map(key => [key, row[key] ?? null])));
    const judged = rows.flatMap(row => row.objectives ?? []);
    this.objectives = [...new Map(judged.map(one => [one.text, one])).values()].slice(0, 4);
    this.most = this.model.most ?? (Math.max(0, ...rows.map(row => row.load)) || null);
    this.ask();
  }

  // Whether the fit says that it left them out
  unused(rows) { return this.model.fitted && rows.every(row => this.model.told.includes(`left out: ${row.name.split("/").pop()}`)); }
}
