"""Strata in which numbers are limited or routes depend on the state, and the models that must be refused."""

from __future__ import annotations

from typing import Any

import sojourn as sj
from agreement.draws import PHASE_TYPE, Draw
from agreement.stations import FAIR, Parts


def _customers(d: Draw, names: list[str], most: float, open_: bool) -> list[Any]:
    """Closed classes of a few, or open ones that together have a load of what `most` (1/s) is the limit of."""
    if not open_:
        return [sj.Closed(c, d.whole(1, 6), d.one((0.0, 0.5, 3.0))) for c in names]
    load = d.one((d.share(0.05, 0.7), d.share(0.05, 0.7), 0.97, 1.3))
    return [sj.Open(c, load * most / len(names)) for c in names]


def _two(d: Draw) -> tuple[list[Any], list[str], Parts, float]:
    """Two or three stations, one or two classes with a mean a station, and the rate that the slowest can do."""
    count = d.whole(2, 3)
    stations: list[Any] = [sj.Queue("abc"[i], d.one((1, 1, 2, 3)), d.one(FAIR)) for i in range(count)]
    names = ["u", "v"][: d.one((1, 1, 2))]
    means = {s.name: d.number(0.05, 1) for s in stations}
    if d.chance(0.3):
        stations[-1] = sj.Delay(stations[-1].name)
    kinds = ("exponential",) if d.chance(0.7) else PHASE_TYPE
    times = {s.name: {c: d.time(means[s.name], kinds) for c in names} for s in stations}
    return stations, names, times, min(getattr(s, "servers", 50) / means[s.name] for s in stations)


def pools(d: Draw) -> Parts:
    stations, names, times, most = _two(d)
    over = ("a", "b") if d.chance(0.6) else ("b",)
    size, spent = d.whole(1, 6), sum(_mean(times[s][names[0]]) for s in over)
    customers = _customers(d, names, min(most, 0.8 * size / spent), d.chance(0.4))
    found = [*stations, sj.Pool("tokens", size, over)]
    if d.chance(0.15):
        found.append(sj.Pool("more", d.whole(1, 4), ("a",)))
    return {"stations": found, "classes": customers, "service_s": times}


def _mean(time: Any) -> float:
    return time if isinstance(time, float) else float(time.first)


def regions(d: Draw) -> Parts:
    stations, names, times, most = _two(d)
    lose, inside = d.chance(0.5), ("a", "b") if d.chance(0.6) else ("b",)
    size, spent = d.whole(1, 8), sum(_mean(times[s][names[0]]) for s in inside)
    customers = _customers(d, names, most if lose else min(most, 0.8 * size / spent), lose or d.chance(0.5))
    region = sj.Region("gate", size, inside, "lose" if lose else "wait")
    return {"stations": stations, "classes": customers, "service_s": times, "regions": [region]}


def blocking(d: Draw) -> Parts:
    """Queues in a row, those behind with little room; or in a circle of closed customers."""
    count, open_ = d.whole(2, 3), d.chance(0.6)
    first = None if open_ and d.chance(0.4) else d.whole(3, 15)
    rooms = [first, *(d.whole(1, 5) for _ in range(count - 1))]
    servers = [1 if (room or 9) < 2 else d.whole(1, 2) for room in rooms]
    order = d.one(("fcfs", "fcfs", "siro"))
    stations: list[Any] = [
        sj.Queue("abc"[i], m, order, room, "lose" if i == 0 else "block")
        for i, (m, room) in enumerate(zip(servers, rooms, strict=True))
    ]
    if not open_:
        stations[0] = sj.Queue("a", servers[0], order)
    names = ["u", "v"][: d.one((1, 1, 2))]
    kinds = ("exponential",) if d.chance(0.7) else ("exponential", "erlang")
    means = {s.name: d.number(0.1, 1) for s in stations}
    times = {s.name: {c: d.time(means[s.name], kinds) for c in names} for s in stations}
    most = min(m / means[s.name] for m, s in zip(servers, stations, strict=True))
    factor = 0.6 if first is None else 1.0
    return {"stations": stations, "classes": _customers(d, names, factor * most, open_), "service_s": times}


def shortest(d: Draw) -> Parts:
    """Each joins the shortest of two or three queues; open with little room, or closed."""
    count = d.whole(2, 3)
    room = None if d.chance(0.4) else d.whole(2, 8)
    stations = [sj.Queue("abc"[i], d.whole(1, 2), d.one(("fcfs", "ps")), room) for i in range(count)]
    times = {s.name: {"u": d.number(0.3, 1)} for s in stations}
    to = tuple(s.name for s in stations)
    most = sum(s.servers / times[s.name]["u"] for s in stations)
    if d.chance(0.3):
        customer: Any = sj.Closed("u", d.whole(1, min(8, count * (room or 8))), d.one((0.2, 2.0)))
        rows: Parts = {"think": sj.Choice("jsq", to), **{name: {"think": 1.0} for name in to}}
    else:
        customer, rows = sj.Open("u", d.share(0.05, 0.75) * most), {"source": sj.Choice("jsq", to)}
    return {"stations": stations, "classes": [customer], "service_s": times, "routing": {"u": rows}}


def losing(d: Draw) -> Parts:
    """Networks that lose: a full station on the way, closed customers beside it."""
    stations: list[Any] = [sj.Queue("a", d.whole(1, 2)), sj.Queue("b", 1, d.one(FAIR), d.whole(1, 6))]
    if d.chance(0.3):
        stations[0] = sj.Queue("a", 1, capacity=d.whole(1, 10))
    times = {s.name: {"u": d.number(0.1, 1)} for s in stations}
    most = min(s.servers / times[s.name]["u"] for s in stations[:1])
    if d.chance(0.2):
        customer: Any = sj.Closed("u", d.whole(0, 8), d.one((0.5, 2.0)))
    else:
        customer = sj.Open("u", d.share(0.05, 0.9) * most)
    return {"stations": stations, "classes": [customer], "service_s": times}


def unconnected(d: Draw) -> Parts:
    """A closed class whose route is in two parts that do not lead to each other, or that has no way out."""
    stations = [sj.Queue(x, d.whole(1, 3)) for x in "abcd"]
    times = {s.name: {"u": d.number(0.01, 1)} for s in stations}
    rows = {"a": {"b": 1.0}, "b": {"a": 1.0}, "c": {"d": 1.0}, "d": {"c": 1.0}}
    if d.chance(0.5):
        rows["a"] = {"b": 0.5, "c": 0.5}
    return {"stations": stations, "classes": [sj.Closed("u", d.whole(1, 20), d.one((0.0, 1.0)))],
            "service_s": times, "routing": {"u": rows}}  # fmt: skip
