"use strict";
// What is drawn of a figure, as functions of its data and a uPlot: numbers as text, limits and ticks of axes, series,
// marks and legend samples. `report.js` puts them together. Drawn here and not by uPlot, since measured points and
// model curves of one figure have different x, and bars and bands belong to their own series.
const draw = (() => {
  const root = document.documentElement;
  const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, Arial, "Liberation Sans", sans-serif';
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
    each(s => s.style !== "points" && s.style !== "bars" && s.low, s => {
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
    const intervals = (s, shift) => {
      ctx.lineWidth = 1.5 * k;
      for (const i of s.low ? runs(f, s, [s.low, s.high]).flat() : []) {
        const x = px(s.x[i] + shift), lo = py(s.low[i]), hi = py(s.high[i]);
        ctx.beginPath();
        ctx.moveTo(x, lo); ctx.lineTo(x, hi);
        for (const end of [lo, hi]) { ctx.moveTo(x - 4 * k, end); ctx.lineTo(x + 4 * k, end); }
        ctx.stroke();
      }
    };
    each(s => s.style === "bars", s => {
      const [from, to] = s.bar, zero = py(Math.max(u.scales.y.min, Math.min(0, u.scales.y.max)));
      for (const i of runs(f, s, [s.y]).flat()) {
        const x = px(s.x[i] + from), y = py(s.y[i]);
        ctx.fillRect(x, Math.min(y, zero), px(s.x[i] + to) - x, Math.abs(zero - y));
      }
      ctx.strokeStyle = css("--ink");
      intervals(s, (from + to) / 2);
    });
    each(s => s.style === "points", s => {
      intervals(s, 0);
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
    if (s.style === "bars") {
      svg.append(make("rect", { ...band, "fill-opacity": 1 }));
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

  return { able, alike, axis, between, css, limits, node, number, paint, runs, swatch };
})();
