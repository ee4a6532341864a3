"""`Network`: a model as arrays. K stations (pools are limits, not stations), C classes, in the order of the model.

Every method takes networks and answers in the same order. A pass is what a closed customer does between two visits to
`outside` (think), or an open one from source to exit; visits and throughputs are per pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.arithmetic import Arithmetic
from sojourn.model.components import Choice, Multicore, SharedCores
from sojourn.model.distribution_registry import ArrivalProcess, Distribution
from sojourn.model.model_data import ModelData
from sojourn.model.routes import Routes

Array = NDArray[np.float64]
OPEN = -1
# computed from these fields, and right in a copy where they are the same
DERIVED = {
    "demands_s": {"visits", "service_s"},
    "scv": {"service"},
    "same_chain": {"chain"},
    "remarkable": {"limits", "at_load", "sharing"},
}


@dataclass(frozen=True)
class Limit:
    """At most `size` customers inside `stations` (indices); from a Pool or a Region."""

    name: str
    size: int
    stations: tuple[int, ...]
    on_full: str = "wait"


@dataclass(frozen=True)
class UtilisationDependentTime:
    """The mean time of one visit of class `cls` at `station` (indices): `formula` of u, the utilisation of the station, over `over`
    visits; `given`: its parameters."""

    station: int
    cls: int
    formula: Arithmetic
    over: float
    given: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Network:
    model: ModelData
    stations: tuple[str, ...]
    classes: tuple[str, ...]
    kind: tuple[str, ...]  # K: queue | delay | load_dependent | fork_join | multicore
    servers: NDArray[np.int64]  # K; 1 where it has no meaning
    discipline: tuple[str, ...]  # K
    capacity: Array  # K, infinite where there is no limit
    on_full: tuple[str, ...]  # K: lose | block
    rates: dict[int, Array]  # load-dependent stations: completions 1/s with 1, 2, … present, the last repeats
    visits: Array  # K x C, per pass of the chain
    service_s: Array  # K x C, mean of one visit; load-dependent: 1/rates[0]
    service: tuple[tuple[Distribution | None, ...], ...]  # K x C
    population: NDArray[np.int64]  # C, OPEN for open classes
    think_s: Array  # C, mean
    think: tuple[Distribution | None, ...]  # C
    rate_per_s: Array  # C, outside arrivals; 0 for closed classes
    arrivals: tuple[ArrivalProcess | None, ...]  # C
    priority: NDArray[np.int64]  # C, 0 is highest
    chain: NDArray[np.int64]  # C: classes that switch into each other share a number
    passes: Array  # C, share of the chain's passes that begin as this class
    routes: Routes  # rows of states never entered are empty
    choices: dict[tuple[int, int], Choice] = field(default_factory=dict)  # (node, class) → state-dependent route
    limits: tuple[Limit, ...] = ()
    dependent_times: tuple[UtilisationDependentTime, ...] = ()  # service times that depend on how busy their station is
    at_load: bool = (
        True  # whether these have the value that they have at this load, and all what background work leaves
    )
    background: Array = field(default_factory=lambda: np.zeros(0))  # K, servers that other work keeps busy in the mean
    sharing: tuple[SharedCores, ...] = ()  # queues whose servers are threads on the same cores
    hosts: dict[int, Multicore] = field(
        default_factory=dict
    )  # multicore stations by their index: a sweep changes them here

    @cached_property
    def demands_s(self) -> Array:
        """K x C, s per pass."""
        return self.visits * self.service_s

    @property
    def route(self) -> Array:
        """((K+1)C, (K+1)C), row node*C + class, node K is outside: MethodRefused where that takes too much memory."""
        return self.routes.table

    @cached_property
    def scv(self) -> Array:
        """K x C, squared coefficient of variation of the service times; 1 where there is none."""
        return np.array([[1.0 if d is None else d.scv for d in row] for row in self.service]).reshape(self.visits.shape)

    @cached_property
    def same_chain(self) -> NDArray[np.bool_]:
        """C x C, whether two classes belong to one chain."""
        return self.chain[:, None] == self.chain[None, :]

    @cached_property
    def remarkable(self) -> bool:
        """Whether there is more than stations, classes and routes: see `solve.registry.features`."""
        timed = any(getattr(s, "server_schedule", ()) or getattr(s, "breakdowns", None) for s in self.model.stations)
        return bool(
            self.limits or self.sharing or self.choices or not self.at_load or "multicore" in self.kind or timed
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}  # what was computed is computed again

    @property
    def blockable(self) -> list[int]:
        """Stations whose servers may be held because the next station is full and blocks."""
        classes, found = len(self.classes), np.zeros(len(self.stations), bool)
        for k in np.flatnonzero(np.isfinite(self.capacity)):
            if self.on_full[k] == "block":
                into = np.unique(self.routes.matrix[:, k * classes : (k + 1) * classes].nonzero()[0] // classes)
                found[into[(into != k) & (into < len(found))]] = True
        return np.flatnonzero(found).tolist()

    def altered(self, **fields: Any) -> Network:
        """A copy with these fields, nothing checked or recomputed: for sweeps, which make thousands in milliseconds."""
        made = object.__new__(Network)
        own = made.__dict__
        own.update(self.__dict__)
        for name in list(own)[len(self.__dataclass_fields__) :]:  # what was computed stands behind the fields
            if name not in DERIVED or DERIVED[name] & fields.keys():
                del own[name]
        own.update(fields)
        return made

    @property
    def closed(self) -> NDArray[np.bool_]:
        return self.population != OPEN

    @property
    def switches(self) -> bool:
        """Whether any class can become another."""
        return len(set(self.chain.tolist())) < len(self.classes)

    def speed(self, station: int, most: int) -> Array:
        """Relative service rate with 1 … `most` present: min(n, servers), n for a delay, rates for load-dependent."""
        n = np.arange(1, most + 1, dtype=float)
        if self.kind[station] == "delay":
            return n
        if station in self.rates:
            rates = self.rates[station]
            return rates[np.minimum(np.arange(most), len(rates) - 1)] / rates[0]
        return np.minimum(n, float(self.servers[station]))
