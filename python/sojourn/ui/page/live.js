// A run that is being recorded: what each second brought, by server-sent events.
import {el} from "./dom.js";
import {timeline} from "./timeline.js";
import {percent, perSecond, seconds} from "./numbers.js";

const MOST = 600; // seconds that are drawn

export function liveView(main, name) {
  main.lastChild.remove();
  const state = el("p", {class: "status", role: "status"}, "Waiting for the first second…");
  const bar = el("progress", {max: 1, value: 0, "aria-label": "share of the run that is over"});
  const numbers = el("dl", {class: "numbers"});
  const times = el("div"), rates = el("div"), cores = el("div", {class: "cores"});
  main.append(el("h1", {}, name), state, bar, numbers, el("h2", {}, "Response time"), times, el("h2", {}, "Throughput"), rates, el("h2", {}, "Cores"), cores);
  const points = [], busy = new Map();
  const source = new EventSource(`api/live?name=${encodeURIComponent(name)}`);
  source.addEventListener("message", event => {
    const now = JSON.parse(event.data);
    points.push(...now.seconds);
    points.splice(0, Math.max(0, points.length - MOST));
    for (const [core, share] of Object.entries(now.cores)) busy.set(core, share);
    const left = now.duration_s && now.elapsed_s != null ? Math.max(0, now.duration_s - now.elapsed_s) : null;
    state.textContent = now.live ? `being recorded${left == null ? "" : `, about ${Math.round(left)} s left`}` : now.told;
    if (now.duration_s && now.elapsed_s != null) bar.value = Math.min(1, now.elapsed_s / now.duration_s);
    const last = points.at(-1);
    const told = [["throughput, last second", last && perSecond(last.throughput_per_s)], ["p50 so far", seconds(now.sofar.p50_s)], ["p99 so far", seconds(now.sofar.p99_s)], ["requests so far", now.sofar.requests]];
    numbers.replaceChildren(...told.filter(([, value]) => value != null).map(([what, value]) => el("div", {}, el("dt", {}, what), el("dd", {}, value))));
    times.replaceChildren(timeline(points, [["p50", "p50_s"], ["p99", "p99_s"]], seconds, "response time of each second"));
    rates.replaceChildren(timeline(points, [["finished", "throughput_per_s"]], perSecond, "requests that finished in each second"));
    cores.replaceChildren(...[...busy].map(([core, share]) => el("label", {}, `core ${core} `, el("meter", {min: 0, max: 1, value: share, low: 0.7, high: 0.9}), ` ${percent(share)}`)));
    main.dataset.live = String(points.length);
    if (!now.live) {
      source.close();
      main.append(el("p", {}, el("button", {type: "button", onclick: () => location.reload()}, "Show its report")));
    }
  });
  source.addEventListener("open", () => { points.length = 0; busy.clear(); }); // a new connection begins with all seconds
  source.addEventListener("error", () => {
    state.textContent = `the workbench does not answer${source.readyState === EventSource.CLOSED ? ": start sojourn ui again" : "; trying again"}`;
  });
  return () => source.close();
}
