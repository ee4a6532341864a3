"""A study's system in simulated time, with one class of customers, `c`; for every kind of study that has points."""

from __future__ import annotations

from typing import Any

import sojourn as sj
from sojourn.model import Closed, Model
from sojourn.model.nouns import Station
from sojourn.study.points import run_seed


def closed(
    stations: list[Station], clients: int, times_s: dict[str, float], routing: dict[str, dict[str, float]]
) -> Model:
    """Clients that go from station to station for ever; one pass ends at `network`."""
    return Model(
        stations, [Closed("c", clients, reference="network")],
        service_s={name: {"c": value} for name, value in times_s.items()}, routing={"c": routing},
    )  # fmt: skip


class Answers:
    """What a run of `point.seconds` simulated seconds says; `seed` with the point's name decides everything."""

    def __init__(self, model: Model, point: Any, seed: int) -> None:
        m = sj.simulate(model, until_s=point.seconds, seed=run_seed(seed, point.name), quantiles=())
        rows = m.frame.filter(m.frame["class"] == "").to_dicts()
        self.throughput_per_s = m.value("throughput", cls="c")
        self._got = {(row["metric"], row["station"]): row["value"] for row in rows if row["q"] is None}

    def __getitem__(self, key: tuple[str, str]) -> float:
        """A metric at a station."""
        return float(self._got[key])

    def stations(self, metric: str, prefix: str = "") -> list[str]:
        """The stations that have this metric."""
        return [station for what, station in self._got if what == metric and station and station.startswith(prefix)]

    def passing_s(self, station: str) -> float:
        """Time of one pass at a station, by Little's law."""
        return self["queue_length", station] / self.throughput_per_s
