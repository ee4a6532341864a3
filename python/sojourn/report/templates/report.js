// The page of a report: figures that come into view are drawn by Vega, with values under the pointer and the arrow
// keys; tables of their values; the theme.
const root = document.documentElement;
const figures = JSON.parse(document.getElementById("report-data").textContent);
const NARROW_PX = 600; // below it a name beside a curve would cover others
const number = v => (v == null ? "–" : String(Number(v.toPrecision(4))).replace("-", "−"));
const node = (tag, cls, text) => {
  const el = document.createElement(tag);
  if (cls) el.className = cls;
  if (text != null) el.textContent = text;
  return el;
};

// ---- one figure --------------------------------------------------------------------------------------------
/** The specification for a figure `width` px wide: room for labels and legend, or not. */
function fitted(whole, width) {
  const spec = structuredClone(whole), names = spec.data.values.map(s => s.series);
  const longest = 40 + 6.4 * Math.max(0, ...names.map(name => name.length));
  spec.width = width;
  Object.assign(spec.config.legend, { columns: Math.max(1, Math.floor(width / longest)), labelLimit: width - 40 });
  if (width < NARROW_PX) {
    spec.layer = spec.layer.filter(layer => layer.name !== "beside");
    spec.padding.right = 8;
  }
  return spec;
}
/** Draws a figure, and again when its width changes. */
function live(name) {
  const plot = document.querySelector(`#${name} .plot`), said = document.querySelector(`#${name} .unseen`);
  let result = null, width = 0, step = -1, places = [], over = null;
  async function draw() {
    if (plot.clientWidth === width) return;
    width = plot.clientWidth;
    result?.finalize();
    const host = node("div");
    result = await vegaEmbed(host, fitted(figures[name], width), {
      ast: true, actions: false, defaultStyle: false, mode: "vega-lite", renderer: "svg", tooltip: { theme: "page" },
    });
    host.ariaHidden = "true"; // the plot has a name, and the keys read its values
    plot.replaceChildren(host);
    plot.dataset.live = result.view.width();
    const marks = result.view.scenegraph().root.items[0].items.find(mark => mark.name === "near_marks");
    places = (marks?.items ?? []).slice().sort((a, b) => a.x - b.x);
  }
  /** Takes the pointer to where a mouse would be, or away. */
  function point(at) {
    for (const event of ["pointerout", "mouseout"]) over?.dispatchEvent(new PointerEvent(event, { bubbles: true }));
    over = at ? document.elementFromPoint(at.clientX, at.clientY) : null;
    over?.dispatchEvent(new PointerEvent("pointermove", { ...at, bubbles: true }));
  }
  function pointAt({ x, y }) {
    plot.scrollIntoView({ block: "nearest", behavior: "instant" });
    const area = plot.querySelector(".root .background").getBoundingClientRect();
    point({ clientX: area.left + x, clientY: area.top + y });
  }
  plot.addEventListener("click", ({ pointerType, clientX, clientY }) => {
    if (pointerType === "touch") point({ clientX, clientY }); // a tap moves no pointer
  });
  plot.addEventListener("keydown", e => {
    const to = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: places.length - 1, Escape: -1 }[e.key];
    if (to === undefined || !places.length) return;
    e.preventDefault();
    step = Math.max(e.key === "Escape" ? -1 : 0, Math.min(places.length - 1, to));
    if (step < 0) point();
    else pointAt(places[step]);
    const { title, ...told } = places[step]?.datum.told ?? {};
    said.textContent = step < 0 ? "" : [title, ...Object.entries(told).map(pair => pair.join(" "))].join("; ");
  });
  new ResizeObserver(draw).observe(plot);
}
/** The numbers behind a figure as a table, made when asked for. */
function values(details, spec) {
  details.addEventListener("toggle", () => {
    if (!details.open || details.querySelector("table")) return;
    const box = node("div", "table"), table = node("table"), head = node("tr"), { names, x, y } = spec.usermeta;
    box.tabIndex = 0;
    for (const [i, title] of ["Series", x, y, "low", "high"].entries()) head.append(node("th", i ? "number" : "", title));
    table.append(node("thead"), node("tbody"));
    table.tHead.append(head);
    for (const s of spec.data.values.filter(s => s.style !== "alone")) s.x.forEach((at, i) => {
      const row = node("tr"), cells = [names[Math.round(at) - 1] ?? number(at), ...[s.y[i], s.low[i], s.open?.[i] ? null : s.high[i]].map(number)];
      row.append(node("th", "", s.series), ...cells.map(text => node("td", "number", text)));
      table.tBodies[0].append(row);
    });
    box.append(table);
    details.append(box);
  });
}
const near = new IntersectionObserver(entries => entries.filter(e => e.isIntersecting).forEach(e => {
  near.unobserve(e.target);
  live(e.target.id);
}), { rootMargin: "50%" });
for (const [name, spec] of Object.entries(figures)) {
  near.observe(document.getElementById(name));
  values(document.querySelector(`#${name} .data`), spec);
}

// ---- theme: drawings take their colours from the style sheet, on paper always the light ones --------------------
const button = document.querySelector(".theme"), system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
button.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  name();
});
system.addEventListener("change", name);
name();
