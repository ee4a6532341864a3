"""Strata of several stations of the product-form kind, open, closed and mixed, and some that are nearly of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import sojourn as sj
from agreement.draws import GENERAL, PHASE_TYPE, Draw
from agreement.stations import FAIR, Parts

NAMES = "abcdefghij"


def _route(d: Draw, count: int, outside: str, leave: float) -> tuple[dict[str, dict[str, float]], np.ndarray]:
    """A random route with feedback over all stations, and the visits that it makes, by the traffic equations."""
    p = np.zeros((count, count))
    rows: dict[str, dict[str, float]] = {}
    enter = d.shares(count) if count > 1 else [1.0]
    rows[outside] = {NAMES[i]: x for i, x in enumerate(enter)}
    for i in range(count):
        targets = d.shares(count) if count > 1 else [1.0]
        keep = [round(x * (1 - leave), 4) if d.chance(0.6) else 0.0 for x in targets]
        p[i] = keep
        rows[NAMES[i]] = {NAMES[j]: x for j, x in enumerate(keep) if x > 0}
        if outside == "think":
            rows[NAMES[i]]["think"] = 1 - sum(keep)
    return rows, np.linalg.solve(np.eye(count) - p.T, np.array(enter))


def _loads(d: Draw, count: int, most: float) -> list[float]:
    """One station with `most`, the others with less."""
    found = [most * d.one((0.001, 0.3, 0.7, 1.0)) for _ in range(count)]
    found[d.whole(0, count - 1)] = most
    return found


def jackson(d: Draw) -> Parts:
    """One class, by routes or by demands."""
    count, rate = d.whole(2, 6), d.number(1e-3, 1e3)
    servers = [d.one((1, 1, 2, 5, 60)) for _ in range(count)]
    stations: list[Any] = [sj.Queue(NAMES[i], m, d.one(FAIR)) for i, m in enumerate(servers)]
    if d.chance(0.3):
        stations[-1] = sj.Delay(NAMES[count - 1])
    loads = _loads(d, count, d.load())
    if d.chance(0.5):
        rows, visits = _route(d, count, "source", d.share(0.1, 0.9))
        times = {
            s.name: {"u": d.time(loads[i] * servers[i] / rate / visits[i], _kinds(s))} for i, s in enumerate(stations)
        }
        return {"stations": stations, "classes": [sj.Open("u", rate)], "service_s": times, "routing": {"u": rows}}
    times = {s.name: {"u": loads[i] * servers[i] / rate} for i, s in enumerate(stations)}
    return {"stations": stations, "classes": [sj.Open("u", rate)], "demands_s": times, **_visits(d, stations, ["u"])}


def _kinds(station: Any) -> tuple[str, ...]:
    """Distributions that leave the product form whole."""
    shared = station.kind == "delay" or station.discipline in ("ps", "lcfs_pr")
    return GENERAL if shared else ("exponential",)


def _visits(d: Draw, stations: list[Any], classes: list[str]) -> Parts:
    """Sometimes visits that are not 1; demands are spread over them."""
    if not d.chance(0.4):
        return {}
    return {"visits": {s.name: {c: d.one((0.25, 1.0, 3.0)) for c in classes} for s in stations}}


def _stations(d: Draw, count: int, dependent: bool = False) -> list[Any]:
    found: list[Any] = []
    for i in range(count):
        kind = d.one(("queue", "queue", "queue", "delay", *(["load"] if dependent else [])))
        if kind == "delay":
            found.append(sj.Delay(NAMES[i]))
        elif kind == "load":
            rates = [d.number(0.5, 20) for _ in range(d.whole(1, 6))]
            found.append(sj.LoadDependent(NAMES[i], tuple(sorted(rates) if d.chance(0.8) else rates), d.one(FAIR)))
        else:
            found.append(sj.Queue(NAMES[i], d.one((1, 1, 1, 1, 2, 2, 4, 50, 1000)), d.one(FAIR)))
    if all(s.kind == "delay" for s in found):
        found[0] = sj.Queue(NAMES[0])
    return found


def _demands(d: Draw, stations: list[Any], classes: list[str], low: float, high: float, odd: bool = False) -> Parts:
    """Of product form, unless `odd`: fcfs and siro have one exponential mean for all classes."""
    found: Parts = {}
    for s in stations:
        if s.kind == "load_dependent":
            continue
        same = s.kind == "queue" and s.discipline in ("fcfs", "siro") and not odd
        mean = d.number(low, high) * (s is stations[0] or not d.chance(0.02))
        found[s.name] = {c: mean if same else d.number(low, high) for c in classes}
    return {"demands_s": found}


def open_classes(d: Draw) -> Parts:
    names = ["u", "v", "w"][: d.whole(2, 3)]
    stations, parts = _stations(d, d.whole(1, 5)), d.shares(len(names))
    times = _demands(d, stations, names, 0.01, 1.0, odd=d.chance(0.15))
    rate = d.load() * _most(stations, times, dict(zip(names, parts, strict=True)))
    return {"stations": stations, "classes": [sj.Open(c, p * rate) for c, p in zip(names, parts, strict=True)], **times}


def _most(stations: list[Any], times: Parts, parts: dict[str, float]) -> float:
    """Arrivals of these classes in these parts, 1/s, that the slowest station can do; 1 where none of them needs any."""
    limits = [1.0]
    for s in stations:
        if s.kind == "load_dependent":
            limits.append(s.rates_per_s[-1] / sum(parts.values()))
        elif s.kind == "queue" and (need := sum(p * times["demands_s"][s.name][c] for c, p in parts.items())) > 0:
            limits.append(s.servers / need)
    return min(limits[1:], default=1.0)


def switching(d: Draw) -> Parts:
    """A class that becomes another on its way; open or closed."""
    closed, turn, back = d.chance(0.5), d.share(0.1, 0.9), d.share(0.1, 0.6)
    outside, end = ("think", "think") if closed else ("source", "exit")
    disciplines = [d.one(FAIR) for _ in range(2)]
    stations = [sj.Queue("a", d.whole(1, 2), disciplines[0]), sj.Queue("b", d.whole(1, 3), disciplines[1])]
    rows = {
        "u": {outside: {"a": 1.0}, "a": {"b/v": turn, "b": round(1 - turn, 6)}, "b": {end: 1.0}},
        "v": {"a": {end: 1.0}, "b": {"a": back, f"{end}/u" if closed else end: round(1 - back, 6)}},
    }
    if closed:
        rows["v"]["a"] = {"think/u": 1.0}
    means = {s.name: d.number(0.05, 1) for s in stations}
    times = {s.name: {c: means[s.name] if s.discipline in ("fcfs", "siro") else d.number(0.05, 1) for c in "uv"}
             for s in stations}  # fmt: skip
    if closed:
        customers: list[Any] = [sj.Closed("u", d.whole(1, 8), d.one((0.5, 2.0))), sj.Closed("v", 0, 0.0)]
    else:
        most = max(turn * (1 + back) * max(times["a"].values()), max(times["b"].values())) + max(times["a"].values())
        customers = [sj.Open("u", d.share(0.05, 0.9) / most), sj.Open("v", 0.0)]
    return {"stations": stations, "classes": customers, "service_s": times, "routing": rows}


def closed_one(d: Draw) -> Parts:
    """One class: demands, visits or routes; populations from 0 to 10 000."""
    count, n = d.whole(1, 7), int(d.one((0, 1, 2, 5, 10, 30, 100, 300, 1000, 10_000)))
    think: Any = d.one((0.0, 0.0, d.number(0.01, 100), sj.Deterministic(d.number(0.1, 10))))
    wide = d.chance(0.2)
    stations = _stations(d, count)
    if d.chance(0.3) and count > 1:
        rows, _ = _route(d, count, "think", d.share(0.1, 0.9))
        times = _demands(d, stations, ["u"], 0.01, 1.0)["demands_s"]
        return {"stations": stations, "classes": [sj.Closed("u", n, think)], "service_s": times, "routing": {"u": rows}}
    times = _demands(d, stations, ["u"], *((1e-7, 100.0) if wide else (0.01, 1.0)))
    return {"stations": stations, "classes": [sj.Closed("u", n, think)], **times, **_visits(d, stations, ["u"])}


def closed_classes(d: Draw) -> Parts:
    names = ["u", "v", "w"][: d.whole(2, 3)]
    most = 40 if len(names) == 2 else 12
    wide, odd = d.chance(0.15), d.chance(0.15)
    stations = _stations(d, d.whole(1, 3 if odd else 5), dependent=d.chance(0.2))
    low, high = (1e-7, 100.0) if wide else (0.01, 1.0)
    most = 4 if odd else most
    customers = [sj.Closed(c, d.whole(0, most), d.one((0.0, d.number(0.1, 10)))) for c in names]
    return {"stations": stations, "classes": customers, **_demands(d, stations, names, low, high, odd)}


def dependent(d: Draw) -> Parts:
    """Load-dependent stations, closed or open."""
    stations = _stations(d, d.whole(1, 4), dependent=True)
    if not any(s.kind == "load_dependent" for s in stations):
        stations[0] = sj.LoadDependent(NAMES[0], tuple(d.number(0.5, 20) for _ in range(d.whole(1, 8))))
    times = _demands(d, stations, ["u"], 0.01, 1.0)
    if d.chance(0.6):
        customer: Any = sj.Closed("u", d.one((1, 2, 7, 40, 500)), d.one((0.0, d.number(0.1, 10))))
    else:
        customer = sj.Open("u", d.load() * _most(stations, times, {"u": 1.0}))
    return {"stations": stations, "classes": [customer], **times}


def mixed(d: Draw) -> Parts:
    names = ["u", "o", "p"][: d.whole(2, 3)]
    stations = _stations(d, d.whole(1, 4), dependent=d.chance(0.2))
    times = _demands(d, stations, names, 0.01, 1.0)
    rate = d.load(0.25) * _most(stations, times, dict.fromkeys(names[1:], 1.0))
    closed = sj.Closed("u", d.one((0, 1, 4, 20, 100)), d.one((0.0, d.number(0.1, 10))))
    customers = [closed, *(sj.Open(c, rate) for c in names[1:])]
    return {"stations": stations, "classes": customers, **times}


def unlike(d: Draw) -> Parts:
    """Neither Poisson nor exponential: what only an approximation or a small chain answers."""
    count, n = d.whole(1, 3), d.whole(1, 6)
    stations = [sj.Queue(NAMES[i], d.whole(1, 2), d.one(("fcfs", "fcfs", "siro", "priority"))) for i in range(count)]
    kinds = PHASE_TYPE if d.chance(0.5) else GENERAL
    names = ["u", "v"][: d.whole(1, 2)]
    times = {s.name: {c: d.time(d.number(0.05, 1), kinds) for c in names} for s in stations}
    if d.chance(0.5):
        customers: list[Any] = [sj.Closed(c, n, d.one((0.0, 1.0)), priority=i) for i, c in enumerate(names)]
    else:
        customers = [sj.Open(c, d.share(0.02, 0.8) / count / len(names), priority=i) for i, c in enumerate(names)]
    return {"stations": stations, "classes": customers, "service_s": times}
