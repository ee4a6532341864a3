"""Small models as textbooks print them: rows of service times and visits."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.model import Closed, Delay, Model, Open, Queue
from sojourn.model.components import Station
from sojourn.table import Metrics

DELAY = 0


def one_class(
    service_s: Sequence[float], visits: Sequence[float], servers: Sequence[int], population: int, think_s: float = 0.0
) -> Model:
    """Stations s1, s2, …; 0 servers mean a delay."""
    names = [f"s{k + 1}" for k in range(len(service_s))]
    stations = [Delay(n) if m == DELAY else Queue(n, servers=m) for n, m in zip(names, servers, strict=True)]
    return Model(
        stations=stations,
        classes=[Closed("c1", population, think_s=think_s)],
        service_s={n: {"c1": s} for n, s in zip(names, service_s, strict=True)},
        visits={n: {"c1": v} for n, v in zip(names, visits, strict=True)},
    )


def several(
    service_s: Sequence[Sequence[float]], visits: Sequence[Sequence[float]], classes: Sequence[Closed | Open],
    stations: Sequence[Station],
) -> Model:  # fmt: skip
    """A row a class, as the books print them."""
    times: dict[str, dict[str, float]] = {s.name: {} for s in stations}
    counts: dict[str, dict[str, float]] = {s.name: {} for s in stations}
    for j, c in enumerate(classes):
        for k, s in enumerate(stations):
            if visits[j][k] > 0:
                times[s.name][c.name], counts[s.name][c.name] = service_s[j][k], visits[j][k]
    return Model(stations=stations, classes=classes, service_s=times, visits=counts)


def ps(*names: str) -> list[Station]:
    return [Queue(name, discipline="ps") for name in names]


def stations_of(m: Metrics, metric: str, count: int, cls: str = "c1") -> list[float]:
    return [m.value(metric, f"s{k + 1}", cls) for k in range(count)]


EXACT = ("mva", "mva-multiclass", "convolution")
