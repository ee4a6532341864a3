// A model file as text: line numbers beside it, and the line where something is wrong.
import {el} from "./dom.js";

export class Editor {
  constructor(text, changed) {
    this.area = el("textarea", {"aria-label": "model file", spellcheck: "false", wrap: "off", autocapitalize: "off", rows: 18});
    this.area.value = text;
    this.lines = el("div", {class: "lines", "aria-hidden": "true"});
    this.wrong = el("p", {class: "wrong", role: "alert", hidden: true});
    this.element = el("div", {class: "editor"}, el("div", {class: "sheet"}, this.lines, this.area), this.wrong);
    this.error = null;
    let timer = 0;
    this.area.addEventListener("input", () => {
      this.number();
      clearTimeout(timer);
      timer = setTimeout(() => changed(this.text), 150);
    });
    this.area.addEventListener("scroll", () => { this.lines.scrollTop = this.area.scrollTop; });
    this.number();
  }

  get text() { return this.area.value; }
  set text(text) { this.area.value = text; this.mark(null); }

  number() {
    const count = this.area.value.split("\n").length;
    this.lines.replaceChildren(...Array.from({length: Math.min(count, 5000)}, (_, k) => el("span", this.error === k + 1 ? {class: "here"} : {}, String(k + 1))));
    this.lines.scrollTop = this.area.scrollTop;
  }

  // An error of the file, or null
  mark(error) {
    this.error = error?.line ?? null;
    this.area.setAttribute("aria-invalid", String(error != null));
    this.wrong.hidden = error == null;
    if (error != null) {
      const place = error.line ? `line ${error.line}` : error.place;
      this.wrong.replaceChildren(el("strong", {}, place ? `${place}: ` : ""), `${where(error)}${error.value}; ${error.remedy}`);
    }
    this.number();
  }
}

// The key of an error whose line is said already
function where(error) {
  const key = error.line ? String(error.place).replace(/^.*?:\d+:?\s*/, "") : "";
  return key ? `${key}: ` : "";
}
