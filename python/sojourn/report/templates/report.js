"use strict";
// The page of a report: figures with uPlot (axes, crosshair, zoom) and `draw`, their legends, keys, tables of values;
// theme and print.
(() => {
  const { able, alike, axis, between, css, limits, node, number, paint, runs, swatch } = draw;
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("report-data").textContent);
  const REACH_PX = 18; // a measured point nearer than this to the crosshair gives its value
  const placed = s => s.style === "points" || s.style === "bars"; // no line: what is nearest counts
  const charts = [];

  // ---- one figure ------------------------------------------------------------------------------------------
  function build(name, f) {
    const host = document.getElementById(name), plot = host.querySelector(".plot");
    const legend = host.querySelector(".legend"), below = host.querySelector(".x-label"), said = host.querySelector(".unseen");
    const shown = f.series.map(() => true);
    let u = null;
    const xs = [...new Set(f.series.flatMap(s => s.x).concat(f.vlines.map(v => v[0])))]
      .filter(x => able(x, f.x_log)).sort((a, b) => a - b);
    const entries = f.series.map((s, i) => entry(s, i));
    values(host.querySelector(".data"), f);
    if (!f.series.some(s => runs(f, s, s.style === "band" ? [s.low, s.high] : [s.y]).length)) {
      plot.append(node("p", "empty", "no data"));
      return;
    }
    const whole = () => (f.places.length ? f.places : limits(xs, f.x_log));
    let view = whole();

    function entry(s, i) {
      const button = node("button"), value = node("span", "value");
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(swatch(s), node("span", "name", s.name), value);
      button.addEventListener("click", () => {
        shown[i] = !shown[i];
        button.setAttribute("aria-pressed", String(shown[i]));
        u?.setScale("x", { min: view[0], max: view[1] }); // y follows what is shown
      });
      const item = node("li");
      item.append(button);
      legend.append(item);
      const dot = node("div", s.style === "points" ? "hover ring" : "hover");
      dot.style.setProperty("--colour", `var(--s${s.colour})`);
      return { value, dot };
    }
    const xRange = (u, lo, hi) => {
      const zoomed = lo > xs[0] || hi < xs.at(-1);
      return (view = zoomed && lo < hi ? [lo, hi] : whole());
    };
    const yRange = () => {
      const seen = [];
      f.series.forEach((s, i) => shown[i] && s.x.forEach((x, j) => {
        if (x == null || x < view[0] || x > view[1]) return;
        for (const c of [s.y, s.low, s.high]) if (c && able(c[j], f.y_log)) seen.push(c[j]);
      }));
      const [lo, hi] = limits(seen, f.y_log, true);
      const [low, high] = [f.y_limits[0] ?? lo, f.y_limits[1] ?? hi];
      return low < high ? [low, high] : [lo, hi];
    };
    const place = x => f.x_names[Math.round(x) - 1] ?? number(x);
    const named = f.x_names.length
      ? { splits: () => f.x_names.map((_, i) => i + 1), values: (u, at) => at.map(place) } : {};
    const size = () => {
      const width = Math.max(200, plot.clientWidth);
      return { width, height: Math.round(Math.min(400, Math.max(250, width * 0.5))) };
    };
    u = new uPlot({
      ...size(),
      legend: { show: false },
      cursor: { points: { show: false } },
      padding: [8, 14, 0, 0],
      scales: {
        x: { time: false, distr: f.x_log ? 3 : 1, range: xRange },
        y: { distr: f.y_log ? 3 : 1, range: yRange },
      },
      axes: [
        axis(f.x_log, { ...named, size: 26, gap: 6, space: 56, grid: { show: false }, border: { show: true, width: 1, stroke: () => css("--muted") } }),
        axis(f.y_log, {
          gap: 6, space: 38, grid: { stroke: () => css("--grid"), width: 1 },
          size: (u, labels) => 14 + 6.7 * Math.max(1, ...(labels ?? []).map(t => t.length)),
        }),
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      hooks: { draw: [u => paint(u, f, shown)], setCursor: [read] },
    }, [xs, xs.map(() => 1)], plot);
    entries.forEach(e => { u.over.append(e.dot); e.dot.hidden = true; });

    /** What series s has at the crosshair: {x, y, low, high} or null. */
    function reading(s, x, left) {
      if (!placed(s)) {
        const y = between(s, s.y, x), low = s.low && between(s, s.low, x), high = s.high && between(s, s.high, x);
        return y == null && low == null ? null : { x, y, low, high };
      }
      let best = null, reach = s.style === "bars" ? Infinity : REACH_PX;
      for (const i of runs(f, s, [s.y]).flat()) {
        const away = Math.abs(u.valToPos(s.x[i], "x") - left);
        if (away < reach) [best, reach] = [i, away];
      }
      return best == null ? null : { x: s.x[best], y: s.y[best], low: s.low?.[best], high: s.high?.[best] };
    }
    const words = r => {
      if (r.low == null || r.high == null) return r.y == null ? "" : number(r.y);
      const [y, low, high] = alike([r.y, r.low, r.high]);
      return `${y} [${low}, ${high}]`.trim();
    };
    function read(u) {
      const { left } = u.cursor, inside = left != null && left >= 0;
      const x = inside ? u.posToVal(left, "x") : null;
      below.textContent = inside ? `${f.x_label} = ${place(x)}` : f.x_label;
      f.series.forEach((s, i) => {
        const r = inside && shown[i] ? reading(s, x, left) : null, { value, dot } = entries[i];
        value.textContent = r == null ? "" : (placed(s) ? `at ${place(r.x)}: ` : "") + words(r);
        dot.hidden = r == null || !able(r.y, f.y_log);
        if (dot.hidden) return;
        dot.style.left = `${u.valToPos(r.x, "x")}px`;
        dot.style.top = `${u.valToPos(r.y, "y")}px`;
      });
    }
    let step = -1;
    plot.addEventListener("keydown", e => {
      const to = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: xs.length - 1, Escape: -1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      step = Math.max(e.key === "Escape" ? -1 : 0, Math.min(xs.length - 1, to));
      u.setCursor(step < 0 ? { left: -10, top: -10 } : { left: u.valToPos(xs[step], "x"), top: 0 });
      said.textContent = step < 0 ? "" : [`${f.x_label} ${place(xs[step])}`,
        ...f.series.map((s, i) => entries[i].value.textContent && `${s.name}: ${entries[i].value.textContent}`)]
        .filter(Boolean).join("; ");
    });
    u.over.addEventListener("pointermove", e => {
      if (e.pointerType !== "touch") return; // the mouse is uPlot's own
      const box = u.over.getBoundingClientRect();
      u.setCursor({ left: e.clientX - box.left, top: e.clientY - box.top });
    });
    new ResizeObserver(() => {
      const next = size();
      if (next.width !== u.width) u.setSize(next);
    }).observe(plot);
    charts.push({ redraw: () => u.redraw(false, true) });
  }
  /** The numbers behind a figure as a table, made when asked for. */
  function values(details, f) {
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      const box = node("div", "table"), table = node("table"), head = node("tr");
      box.tabIndex = 0;
      for (const [i, title] of ["Series", f.x_label, "value", "low", "high"].entries())
        head.append(node("th", i ? "number" : "", title));
      table.append(node("thead"), node("tbody"));
      table.tHead.append(head);
      for (const s of f.series) s.x.forEach((x, i) => {
        const row = node("tr"), cells = [s.y[i], s.low?.[i], s.high?.[i]];
        const texts = [f.x_names[x - 1] ?? (x == null ? "–" : number(x)), ...cells.map(v => (v == null ? "–" : number(v)))];
        row.append(node("th", "", s.name), ...texts.map(text => node("td", "number", text)));
        table.tBodies[0].append(row);
      });
      box.append(table);
      details.append(box);
    });
  }

  // ---- theme and print -------------------------------------------------------------------------------------
  const redraw = () => charts.forEach(c => c.redraw());
  const button = document.querySelector(".theme"), system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
    redraw();
  });
  system.addEventListener("change", () => { name(); redraw(); });
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; redraw(); });
  addEventListener("afterprint", () => {
    if (before === undefined) delete root.dataset.theme; else root.dataset.theme = before;
    redraw();
  });
  name();
  for (const [id, figure] of Object.entries(figures)) build(id, figure);
})();
