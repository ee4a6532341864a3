"use strict";
// Draws the figures of a report with uPlot: it gives axes, crosshair and zoom; series are drawn here (`paint`), since
// measured points and model curves of one figure have different x, and bars and bands belong to their own series.
(() => {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("report-data").textContent);
  const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, Arial, "Liberation Sans", sans-serif';
  const REACH_PX = 18; // a measured point nearer than this to the crosshair gives its value
  const charts = [];
  const css = name => getComputedStyle(root).getPropertyValue(name).trim();
  const node = (tag, cls, text) => {
    const el = document.createElement(tag);
    if (cls) el.className = cls;
    if (text != null) el.textContent = text;
    return el;
  };
  const number = v => {
    const text = v === 0 || (Math.abs(v) >= 1e-4 && Math.abs(v) < 1e6)
      ? String(Number(v.toPrecision(4))) : v.toExponential(3);
    return text.replaceAll("-", "−");
  };
  /** A value and the ends of its interval with equally many decimals; null is "". */
  const alike = values => {
    const top = Math.max(...values.map(v => Math.abs(v ?? 0)));
    const places = top > 0 ? 2 - Math.floor(Math.log10(top)) : 2;
    const plain = places >= -3 && places <= 6;
    return values.map(v => (v == null ? "" : plain ? v.toFixed(Math.max(0, places)).replaceAll("-", "−") : number(v)));
  };

  // ---- data ------------------------------------------------------------------------------------------------
  const able = (v, log) => v != null && (!log || v > 0);
  /** Stretches of indices where x and all columns can be shown. */
  function runs(f, s, columns) {
    const out = [[]];
    s.x.forEach((x, i) => {
      if (able(x, f.x_log) && columns.every(c => able(c[i], f.y_log))) out.at(-1).push(i);
      else if (out.at(-1).length) out.push([]);
    });
    return out.filter(r => r.length);
  }
  /** Limits with a margin; `zero`: from 0 where nothing is negative. */
  function limits(values, log, zero) {
    if (!values.length) return log ? [1, 10] : [0, 1];
    let lo = Math.min(...values), hi = Math.max(...values);
    if (log) {
      const margin = hi > lo ? (hi / lo) ** 0.04 : 2;
      return [lo / margin, hi * margin];
    }
    if (zero) { lo = Math.min(lo, 0); hi = Math.max(hi, 0); }
    const margin = 0.04 * (hi - lo) || Math.abs(hi) * 0.1 || 1;
    return [zero && lo === 0 ? 0 : lo - margin, hi + margin];
  }
  /** Linear interpolation of column `c` at x, or null in a gap and outside. */
  function between(s, c, x) {
    for (let i = 0; i < s.x.length; i++) {
      if (s.x[i] === x && c[i] != null) return c[i];
      const a = s.x[i], b = s.x[i + 1];
      if (a == null || b == null || a === b || (x - a) * (x - b) >= 0 || c[i] == null || c[i + 1] == null) continue;
      return c[i] + (c[i + 1] - c[i]) * (x - a) / (b - a);
    }
    return null;
  }

  // ---- drawing ---------------------------------------------------------------------------------------------
  const CORNERS = {
    square: [[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]],
    diamond: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
    triangle: [[0, -1.25], [1.2, .9], [-1.2, .9]],
  };
  function marker(ctx, kind, x, y, r) {
    ctx.beginPath();
    if (kind in CORNERS) CORNERS[kind].forEach(([a, b]) => ctx.lineTo(x + r * a, y + r * b));
    else ctx.arc(x, y, r, 0, 2 * Math.PI);
    ctx.closePath();
    ctx.fill();
  }
  function paint(u, f, shown) {
    const ctx = u.ctx, k = devicePixelRatio, { left, top, width, height } = u.bbox;
    const px = v => u.valToPos(v, "x", true), py = v => u.valToPos(v, "y", true);
    const each = (test, draw) => f.series.forEach((s, i) => {
      if (!shown[i] || !test(s)) return;
      ctx.strokeStyle = ctx.fillStyle = css(`--s${s.colour}`);
      draw(s);
    });
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    each(s => s.style !== "points" && s.low, s => {
      ctx.globalAlpha = 0.16;
      for (const run of runs(f, s, [s.low, s.high])) {
        ctx.beginPath();
        run.forEach(i => ctx.lineTo(px(s.x[i]), py(s.high[i])));
        run.slice().reverse().forEach(i => ctx.lineTo(px(s.x[i]), py(s.low[i])));
        ctx.fill();
      }
      ctx.globalAlpha = 1;
    });
    each(s => s.style === "line" || s.style === "dashed", s => {
      ctx.lineWidth = 2 * k;
      ctx.lineJoin = "round";
      ctx.setLineDash(s.style === "dashed" ? [6 * k, 4 * k] : []);
      for (const run of runs(f, s, [s.y])) {
        if (run.length === 1) marker(ctx, "circle", px(s.x[run[0]]), py(s.y[run[0]]), 2 * k);
        ctx.beginPath();
        run.forEach(i => ctx.lineTo(px(s.x[i]), py(s.y[i])));
        ctx.stroke();
      }
      ctx.setLineDash([]);
    });
    each(s => s.style === "points", s => {
      ctx.lineWidth = 1.5 * k;
      for (const i of s.low ? runs(f, s, [s.low, s.high]).flat() : []) {
        const x = px(s.x[i]), lo = py(s.low[i]), hi = py(s.high[i]);
        ctx.beginPath();
        ctx.moveTo(x, lo); ctx.lineTo(x, hi);
        for (const end of [lo, hi]) { ctx.moveTo(x - 4 * k, end); ctx.lineTo(x + 4 * k, end); }
        ctx.stroke();
      }
      for (const i of runs(f, s, [s.y]).flat()) marker(ctx, s.marker, px(s.x[i]), py(s.y[i]), 4 * k);
    });
    marks(u, f, px);
    ctx.restore();
  }
  /** Labelled vertical lines; labels stand on rows of their own and on the side where there is room. */
  function marks(u, f, px) {
    const ctx = u.ctx, k = devicePixelRatio, { left, top, width, height } = u.bbox;
    ctx.lineWidth = k;
    ctx.font = FONT.replace("12px", `${12 * k}px`);
    ctx.textBaseline = "top";
    f.vlines.filter(v => able(v[0], f.x_log)).forEach(([at, label], row) => {
      const x = px(at), late = x + ctx.measureText(label).width + 8 * k > left + width, y = top + (4 + 16 * row) * k;
      ctx.strokeStyle = ctx.fillStyle = css("--muted");
      ctx.setLineDash([2 * k, 3 * k]);
      ctx.beginPath();
      ctx.moveTo(x, top); ctx.lineTo(x, top + height);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.textAlign = late ? "right" : "left";
      ctx.strokeStyle = css("--ground"); // a halo, where the label lies over a curve
      ctx.lineWidth = 4 * k;
      ctx.strokeText(label, x + (late ? -5 : 5) * k, y);
      ctx.lineWidth = k;
      ctx.fillText(label, x + (late ? -5 : 5) * k, y);
    });
  }
  /** The sample of a series in the legend. */
  function swatch(s) {
    const make = (tag, attributes) => {
      const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
      for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value);
      return el;
    };
    const svg = make("svg", { viewBox: "0 0 30 14", "aria-hidden": "true" });
    svg.style.color = `var(--s${s.colour})`;
    const band = { x: 1, y: 1, width: 28, height: 12, fill: "currentColor", "fill-opacity": 0.2 };
    const line = { d: "M1 7H29", stroke: "currentColor", "stroke-width": 2 };
    if (s.style === "points") {
      if (s.low) svg.append(make("path", { d: "M15 0V14M12 0H18M12 14H18", stroke: "currentColor", fill: "none" }));
      const corners = CORNERS[s.marker];
      svg.append(corners
        ? make("polygon", { points: corners.map(([a, b]) => `${15 + 4 * a},${7 + 4 * b}`).join(" "), fill: "currentColor" })
        : make("circle", { cx: 15, cy: 7, r: 4, fill: "currentColor" }));
      return svg;
    }
    if (s.low) svg.append(make("rect", band));
    if (s.style === "dashed") line["stroke-dasharray"] = "6 4";
    if (s.style !== "band") svg.append(make("path", line));
    return svg;
  }

  // ---- axes ------------------------------------------------------------------------------------------------
  function logSplits(lo, hi) {
    const first = Math.floor(Math.log10(lo)), last = Math.ceil(Math.log10(hi)), out = [];
    for (let e = first; e <= last; e++)
      for (const m of last - first <= 3 ? [1, 2, 5] : [1]) out.push(Number(`${m}e${e}`));
    return out.filter(v => v >= lo && v <= hi);
  }
  function axis(log, more) {
    return {
      font: FONT, stroke: () => css("--muted"), ticks: { show: false },
      values: (u, splits) => splits.map(v => (v == null ? "" : number(Number(v.toPrecision(10))))),
      ...(log ? { splits: (u, i, lo, hi) => logSplits(lo, hi), filter: (u, splits) => splits } : {}),
      ...more,
    };
  }

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
    let view = limits(xs, f.x_log);

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
      return (view = zoomed && lo < hi ? [lo, hi] : limits(xs, f.x_log));
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
        axis(f.x_log, { size: 26, gap: 6, space: 56, grid: { show: false }, border: { show: true, width: 1, stroke: () => css("--muted") } }),
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
      if (s.style !== "points") {
        const y = between(s, s.y, x), low = s.low && between(s, s.low, x), high = s.high && between(s, s.high, x);
        return y == null && low == null ? null : { x, y, low, high };
      }
      let best = null, reach = REACH_PX;
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
      below.textContent = inside ? `${f.x_label} = ${number(x)}` : f.x_label;
      f.series.forEach((s, i) => {
        const r = inside && shown[i] ? reading(s, x, left) : null, { value, dot } = entries[i];
        value.textContent = r == null ? "" : (s.style === "points" ? `at ${number(r.x)}: ` : "") + words(r);
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
      said.textContent = step < 0 ? "" : [`${f.x_label} ${number(xs[step])}`,
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
        const row = node("tr"), cells = [x, s.y[i], s.low?.[i], s.high?.[i]];
        row.append(node("th", "", s.name), ...cells.map(v => node("td", "number", v == null ? "–" : number(v))));
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
