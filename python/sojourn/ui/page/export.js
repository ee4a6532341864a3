// A model as a file, a command and lines of Python that give what the page shows.
import {post} from "./api.js";
import {commandOf, pythonOf, solveOf} from "./copied.js";
import {el, say} from "./dom.js";

export class Export {
  constructor(page) {
    this.page = page;
    const button = (label, act) => el("button", {type: "button", onclick: event => act(event.target)}, label);
    this.fit = button("Download the fit", () => this.take(this.file(), page.text, this.ofFit()));
    this.text = el("pre", {class: "copied", hidden: true, tabindex: 0});
    this.about = el("p", {class: "note", "aria-live": "polite"});
    this.element = el("div", {}, el("p", {class: "tools"}, button("Download TOML", () => this.download()), this.fit,
      page.folder.write && button("Save as TOML", () => this.save()),
      button("Copy as command", one => this.copy(one, commandOf(page))), button("Copy as Python", one => this.copy(one, pythonOf(page)))), this.text, this.about);
    this.follow();
  }

  // The fit is a file of its own only where the other has other numbers
  follow() { this.fit.hidden = !(this.page.model?.fitted && this.page.changed().length); }

  file() { return this.page.name.split("/").pop(); }
  moved() { return this.page.model.numbers.filter(one => one.path in this.page.settings); }

  told(text, about) {
    this.text.textContent = text;
    this.text.hidden = !text;
    this.about.textContent = about;
  }

  ofFit() {
    const kept = this.page.changed();
    return `holds the fit as it was measured, with its intervals; ${kept.length ? `what was changed (${kept.join(", ")})` : "the load"} stands in the command`;
  }

  async copy(button, text) {
    const label = (button.dataset.label ??= button.textContent);
    this.told(text, `It needs ${this.file()}, which ${this.page.model.fitted ? this.ofFit() : "is in the folder"}.`);
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = label; }, 1500);
      say(`${label}: copied`);
    } catch { say("select the text to copy it"); }
  }

  // The model with the numbers of the sliders, as a file
  async made() {
    const {name, text, settings} = this.page;
    return Object.keys(settings).length ? await post("api/changed", {name, text, settings}) : {text};
  }

  take(name, text, about) {
    const url = URL.createObjectURL(new Blob([text], {type: "application/toml"}));
    el("a", {href: url, download: name}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    this.told(name === this.file() ? commandOf(this.page) : solveOf(name), `Downloaded as ${name}: it ${about}. The command above works with this file.`);
    say(`downloaded as ${name}`);
  }

  // A fit whose load alone was moved stays a fit
  async download() {
    const {page} = this, moved = this.moved();
    if (page.model.fitted && page.changed().length === 0) { this.take(this.file(), page.text, this.ofFit()); return; }
    if (moved.length === 0) { this.take(this.file(), page.text, "holds the numbers of the file"); return; }
    const found = await this.made();
    if (found.error) { this.told("", `no file: ${found.error.place}: ${found.error.value}; ${found.error.remedy}`); return; }
    const holds = moved.map(one => page.shown(one)).join(", ");
    this.take(this.file().replace(/\.toml$/, "-changed.toml"), found.text, `holds ${holds}${page.model.fitted ? ", and no intervals" : ""}`);
  }

  async save() {
    const given = prompt("Save as a new file of the folder:", this.page.name.replace(/\.toml$/, "-2.toml"));
    if (!given) return;
    const made = await this.made();
    const found = made.error ? made : await post("api/save", {name: given, text: made.text});
    this.told("", found.error ? `not saved: ${found.error.place}: ${found.error.value}; ${found.error.remedy}` : `saved as ${found.name}`);
    if (!found.error) this.page.folder.models.push(found.name);
  }
}
