"""Strata of one station: queues of all disciplines and times, finite rooms, delays, priorities, fork and join."""

from __future__ import annotations

from typing import Any

import sojourn as sj
from agreement.draws import GENERAL, MILD, PHASE_TYPE, Draw, markovian

Parts = dict[str, Any]  # the arguments of sj.Model
FAIR = ("fcfs", "ps", "lcfs_pr", "siro")


def one(station: Any, classes: list[Any], times: dict[str, Any]) -> Parts:
    return {"stations": [station], "classes": classes, "service_s": {station.name: times}}


def arrivals(name: str, process: Any, rate: float) -> sj.Open:
    """Poisson where the process is a number."""
    return sj.Open(name, rate) if isinstance(process, float) else sj.Open(name, arrivals=process)


def mmm(d: Draw) -> Parts:
    m, mean = d.servers(), d.number(1e-6, 1e3)
    rate = d.load(0.5) * m / mean if not d.chance(0.03) else 0.0
    return one(sj.Queue("s", m, d.one(("fcfs", "fcfs", *FAIR))), [sj.Open("a", rate)], {"a": mean})


def mg1(d: Draw) -> Parts:
    mean = d.number(1e-3, 100)
    return one(sj.Queue("s", 1, d.one(("fcfs", "fcfs", *FAIR))), [sj.Open("a", d.load() / mean)],
               {"a": d.time(mean, GENERAL)})  # fmt: skip


def gm1(d: Draw) -> Parts:
    mean = d.number(1e-3, 100)
    gaps = d.time(mean / d.load(), GENERAL)
    return one(sj.Queue("s"), [arrivals("a", gaps, 1 / gaps if isinstance(gaps, float) else 0)], {"a": mean})


def ggm(d: Draw) -> Parts:
    m, mean = d.one((1, 1, 2, 4, 30)), d.number(1e-3, 100)
    gaps = d.time(mean / m / d.load(), MILD)
    return one(sj.Queue("s", m, d.one(("fcfs", "fcfs", "siro", "ps"))),
               [arrivals("a", gaps, 1 / gaps if isinstance(gaps, float) else 0)], {"a": d.time(mean, MILD)})  # fmt: skip


def mapped(d: Draw) -> Parts:
    m, mean = d.one((1, 1, 1, 2)), d.number(1e-3, 100)
    room = None if m == 1 or d.chance(0.5) else m + d.whole(0, 20)
    load = d.load() if m == 1 else d.share(0.05, 0.8)
    return one(sj.Queue("s", m, capacity=room), [sj.Open("a", arrivals=markovian(d, load * m / mean))],
               {"a": d.time(mean, PHASE_TYPE)})  # fmt: skip


def _classes(d: Draw, m: int, load: float, mean: float, same: bool, kinds: tuple[str, ...]) -> tuple[list[Any], Parts]:
    """Two or three classes; their loads, and their times, all with one mean or each with its own."""
    parts = d.shares(d.whole(2, 3))
    means = [mean if same else d.number(mean / 10, mean * 10) for _ in parts]
    idle = d.chance(0.05)  # nobody of the last class comes
    rates = [p * load * m / x for p, x in zip(parts, means, strict=True)]
    rates[-1] *= not idle
    classes = [sj.Open(f"c{i}", x, priority=d.whole(0, 2)) for i, x in enumerate(rates)]
    return classes, {c.name: d.time(x, kinds) for c, x in zip(classes, means, strict=True)}


def classes(d: Draw) -> Parts:
    m, discipline = d.one((1, 1, 1, 2, 4)), d.one(FAIR)
    kinds = GENERAL if m == 1 or discipline == "ps" else ("exponential",)
    found, times = _classes(d, m, d.load(), d.number(1e-2, 10), m > 1 and discipline != "ps", kinds)
    return one(sj.Queue("s", m, discipline), found, times)


def priorities(d: Draw) -> Parts:
    m = d.one((1, 1, 2, 5))
    same = m > 1 and d.chance(0.7)
    found, times = _classes(d, m, d.load(0.25), d.number(1e-2, 10), same, GENERAL if m == 1 else ("exponential",))
    return one(sj.Queue("s", m, d.one(("priority", "priority_preemptive"))), found, times)


def finite(d: Draw) -> Parts:
    """Room for K: Erlang's loss system, few places, and 1e5 of them."""
    m, mean = d.servers(), d.number(1e-3, 100)
    room = m + int(d.one((0, 0, 1, 3, 10, 100, 100_000)))
    rate = d.one((d.share(), d.share(0.9, 1.1), 1.0, 3.0, 1e-6)) * m / mean
    kinds = GENERAL if room == m else ("exponential",) if d.chance(0.7) or m > 3 or room > 100 else PHASE_TYPE
    if d.chance(0.75):
        station = sj.Queue("s", m, d.one(("fcfs", "fcfs", *FAIR)), room)
        return one(station, [sj.Open("a", rate)], {"a": d.time(mean, kinds)})
    small = min(m, 4)
    found, times = _classes(d, small, rate * mean / m, mean, d.chance(0.5), ("exponential",))
    discipline = d.one((*FAIR, "priority", "priority_preemptive"))
    return one(sj.Queue("s", small, discipline, small + d.whole(0, 6)), found, times)


def delay(d: Draw) -> Parts:
    found, times = _classes(d, 1, d.one((1e-9, 0.3, 5.0, 1e4)), d.number(1e-3, 100), d.chance(0.5), GENERAL)
    keep = d.whole(1, len(found))
    return one(sj.Delay("s"), found[:keep], {c.name: times[c.name] for c in found[:keep]})


def fork(d: Draw) -> Parts:
    mean, n = d.number(1e-3, 100), d.one((1, 2, 2, 3, 5, 20))
    return one(sj.ForkJoin("s", n), [sj.Open("a", d.load() / mean)], {"a": mean})
