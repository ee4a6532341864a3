"""The random models: a pure function of (seed, index). Of a hundred neighbours each stratum has its quota."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import sojourn as sj
from agreement import limited, networks, stations
from agreement.draws import Draw

STRATA: dict[str, tuple[int, Callable[[Draw], dict[str, Any]]]] = {
    "mmm": (6, stations.mmm),
    "mg1": (7, stations.mg1),
    "gm1": (4, stations.gm1),
    "ggm": (4, stations.ggm),
    "map": (3, stations.mapped),
    "classes": (4, stations.classes),
    "priorities": (5, stations.priorities),
    "finite": (7, stations.finite),
    "delay": (1, stations.delay),
    "fork-join": (2, stations.fork),
    "jackson": (8, networks.jackson),
    "open-classes": (6, networks.open_classes),
    "switching": (4, networks.switching),
    "closed": (9, networks.closed_one),
    "closed-classes": (7, networks.closed_classes),
    "load-dependent": (4, networks.dependent),
    "mixed": (4, networks.mixed),
    "unlike": (3, networks.unlike),
    "pools": (3, limited.pools),
    "regions": (3, limited.regions),
    "blocking": (2, limited.blocking),
    "shortest": (1, limited.shortest),
    "losing": (2, limited.losing),
    "unconnected": (1, limited.unconnected),
}
SLOTS = [name for name, (quota, _) in STRATA.items() for _ in range(quota)]
STRIDE = 37  # has no common factor with the number of slots, so that neighbours are of different strata


@dataclass(frozen=True)
class RandomModel:
    """A model that may be none: `model()` raises what sj.Model raises."""

    seed: int
    index: int
    stratum: str
    parts: dict[str, Any]

    def model(self) -> sj.Model:
        return sj.Model(**self.parts, name=f"{self.stratum} {self.seed}/{self.index}")


def draw(seed: int, index: int) -> RandomModel:
    """Model number `index`, 0 or more, of `seed`, 0 or more."""
    stratum = SLOTS[index * STRIDE % len(SLOTS)]
    rng = np.random.default_rng([seed, index])
    return RandomModel(seed, index, stratum, STRATA[stratum][1](Draw(rng)))
