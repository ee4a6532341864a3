// Elements from text and numbers. Nothing here, nor anywhere in these modules, makes HTML of a text.
const SVG = "http://www.w3.org/2000/svg";
// what turns the order of letters round, or is no letter at all: a name of a folder may hold it
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

export const clean = text => String(text).replace(HIDDEN, "\ufffd");

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : clean(value));
  }
  for (const child of children.flat(3)) {
    if (child == null || child === false) continue;
    element.append(child instanceof Node ? child : clean(child));
  }
  return element;
}

export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export function show(...children) {
  const main = document.getElementById("main");
  main.replaceChildren(...children.flat(3).filter(Boolean));
  return main;
}

export function say(text) {
  document.getElementById("said").textContent = clean(text);
}

export const spans = list => list.map(([kind, text]) => (kind ? el(kind, {}, text) : text));

export function errorBox(error) {
  return el("div", {class: "error", role: "alert"},
    el("p", {}, el("strong", {}, error.value || "error")),
    error.place && el("p", {}, el("code", {}, error.place)),
    error.remedy && el("p", {}, error.remedy));
}

// A page that has nothing else to show
export const errorPage = (title, error) => [el("h1", {}, title), errorBox(error)];

export function link(to, ...children) {
  return el("a", {href: to}, ...children);
}

// A name in the part of a URL behind #
export const at = (page, ...names) => `#/${page}/${names.map(encodeName).join("/")}`;
export const encodeName = name => {
  try { return encodeURIComponent(name); } catch { return encodeURIComponent(clean(name)); } // a lone surrogate
};
