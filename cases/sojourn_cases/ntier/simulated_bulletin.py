"""The three-tier site with everything about it known, simulated: 8 cores in two packages, a client with cores of its own, a disk.

A request is worked at by nginx, the application and the database, one after the other, on a core that it holds meanwhile; `workers`
limits those inside. Times are exponential, their means `DEMANDS_S` by interaction, times the stall factor of the cores in use:

    1 + contention (n - 1) + crossing a b        n = a + b cores, a in the one package, b in the other

that is the universal scalability law whose coherency is only between cores of different packages (N. J. Gunther, Guerrilla Capacity
Planning (2007), Chapter 4): caches and a memory bus that a package shares, lines that cross between packages. Stalled cores are busy.
A part of this is misses of the last-level cache, for each of which a core stands still for `miss_s`: `missed` of a request's time alone,
and all of `crossing`, half of it on the cores of either package, alike on each of them.
In the mix with writes a spin lock passes one request each `lock_s`: cores that wait for it are busy too.

What a write waits for, by `strategy`, after three hypervisors of the second source document (section V): `one_core`, one core
handles all of them, each a disk access by itself; `spread`, all cores do, and the disk merges accesses; `batch`, writes stay in
memory, and now and then a checkpoint writes every page that has changed, while whoever ends a write waits; `asynchronous`: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from sojourn.lab import Core, choose_cores
from sojourn.model import Closed, Delay, Erlang, Model, Pool, Queue, Station
from sojourn.simulate import RunRecord, counter_rows, cpu_rows, station_rows

TIERS = ("nginx", "application", "database")
# of each interaction: its share of the mixes browse and readwrite, what its tiers demand of a core, ms, whether it writes
INTERACTIONS: dict[str, tuple[float, float, tuple[float, float, float], bool]] = {
    "home": (0.23, 0.20, (0.3, 0.5, 0.3), False),
    "story": (0.27, 0.18, (0.25, 0.8, 1.0), False),
    "comment": (0.28, 0.20, (0.25, 0.6, 0.9), False),
    "category": (0.12, 0.13, (0.3, 0.6, 1.2), False),
    "search": (0.10, 0.10, (0.4, 1.0, 1.8), False),
    "store comment": (0.0, 0.10, (0.2, 0.7, 0.7), True),
    "store story": (0.0, 0.04, (0.3, 0.7, 0.9), True),
    "moderate": (0.0, 0.05, (0.4, 1.5, 1.2), True),
}
DEMANDS_S = {
    name: {tier: 1e-3 * ms for tier, ms in zip(TIERS, row[2], strict=True)} for name, row in INTERACTIONS.items()
}
MIXES = ("browse", "readwrite")
WRITES = tuple(row[3] for row in INTERACTIONS.values())
NUMBERINGS, PLACEMENTS = ("0-3|4-7", "even|odd"), ("numbered", "same_package", "spread")
STRATEGIES = ("one_core", "spread", "batch", "asynchronous")
SPREAD_OF_MIXES = 0.9  # of the logarithms of the shares
INSTANT_S = 1e-6
CHECKPOINT, PHASES = "checkpoint", 4
DISK = "vda"


class SimulatedBulletinOptions(BaseModel):
    """`[system]` of kind `bulletin-simulated`: what is true of it. Times in s."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["bulletin-simulated"] = "bulletin-simulated"
    package_cores: int = Field(default=4, ge=1, le=64)
    client_s: float = Field(default=1e-4, gt=0)
    workers: int = Field(default=12, ge=1)
    contention: float = Field(default=0.15, ge=0)
    crossing: float = Field(default=0.08, ge=0)
    missed: float = Field(default=0.18, ge=0)  # the document's 22 % then come with its 128 % more misses
    miss_s: float = Field(default=80e-9, gt=0)
    lock_s: float = Field(default=0.87e-3, ge=0)
    one_core_s: float = Field(default=17.5e-3, gt=0)
    spread_s: float = Field(default=8.6e-3, gt=0)
    pause_s: float = Field(default=0.3, gt=0)
    checkpoint_s: float = Field(default=0.25, gt=0)

    def cores_of(self, factors: Mapping[str, Any]) -> tuple[int, ...]:
        """The numbers of the cores that the tiers share. Raises LabError where there is no such placement."""
        each, n = self.package_cores, int(factors["cores"])
        package = (lambda k: k // each) if factors["numbering"] == NUMBERINGS[0] else (lambda k: k % 2)
        all_ = [Core(k, package(k), k, 0, str(package(k))) for k in range(2 * each)]
        if factors["placement"] == PLACEMENTS[0]:
            return tuple(range(n))
        return choose_cores(str(factors["placement"]), n, sorted(all_, key=lambda c: (c.package, c.number)))

    def packages(self, factors: Mapping[str, Any]) -> np.ndarray:
        """0 or 1 for each of `cores_of`."""
        chosen = np.array(self.cores_of(factors))
        return np.asarray(chosen // self.package_cores if factors["numbering"] == NUMBERINGS[0] else chosen % 2)

    def stall_factor(self, factors: Mapping[str, Any]) -> float:
        """What a core takes of these cores over what it takes alone."""
        second = self.packages(factors)
        n, b = second.size, int(second.sum())
        factor = 1 + self.contention * (n - 1) + self.crossing * (n - b) * b
        if factors["mix"] == MIXES[1]:
            factor = max(factor, n * self.lock_s / mean_demand_s(factors))
        return factor

    def misses(self, factors: Mapping[str, Any]) -> np.ndarray:
        """Of the last-level cache on each of `cores_of`, for a second of CPU time that requests would take alone."""
        second = self.packages(factors)
        there = np.where(second == 1, second.sum(), (1 - second).sum())  # cores of its own package
        pairs = there * (second.size - there)
        return np.asarray((self.missed / second.size + self.crossing * pairs / (2 * there)) / self.miss_s)

    def known(self, factors: Mapping[str, Any]) -> dict[str, float]:
        """Of a saturated run: `most`, what can be completed, /s; `throughput`, where no write is waited for and that is reached;
        the busy share of the disk where checkpoints alone use it."""
        found = {"most": self.most_per_s(factors)}
        if factors["mix"] == MIXES[0] or factors["strategy"] == "asynchronous":
            found["throughput"] = found["most"]
        elif factors["strategy"] == "batch":
            found[f"disk:{DISK} busy"] = self.checkpoint_s / (self.pause_s + self.checkpoint_s)
        return found

    def most_per_s(self, factors: Mapping[str, Any]) -> float:
        """What the cores, or the disk that each write waits for, can complete at most; of `batch` while no checkpoint is written."""
        cores = int(factors["cores"]) / (self.stall_factor(factors) * mean_demand_s(factors))
        access_s = {"one_core": self.one_core_s, "spread": self.spread_s}.get(str(factors["strategy"]), 0.0)
        disk = access_s * float(shares(factors) @ np.array(WRITES))
        return min(cores, 1 / disk) if disk else cores


def shares(factors: Mapping[str, Any]) -> np.ndarray:
    """Of each interaction; with `mix_seed` k > 0 those of the mix, each times a lognormal number drawn with that seed."""
    base = np.array([row[MIXES.index(str(factors["mix"]))] for row in INTERACTIONS.values()])
    if seed := int(factors["mix_seed"]):
        base = base * np.random.default_rng(seed).lognormal(0.0, SPREAD_OF_MIXES, base.size)
    return np.asarray(base / base.sum())


def demand_s(page: str, tier: str, factors: Mapping[str, Any]) -> float:
    """CPU time without stalls; `page_work_s` is the application's."""
    return DEMANDS_S[page][tier] + (float(factors["page_work_s"]) if tier == "application" else 0.0)


def mean_demand_s(factors: Mapping[str, Any]) -> float:
    """CPU time of a request of all tiers without stalls."""
    return float(shares(factors) @ [sum(demand_s(page, tier, factors) for tier in TIERS) for page in INTERACTIONS])


def site_model(o: SimulatedBulletinOptions, factors: Mapping[str, Any]) -> Model:
    """The model with these factors; a class an interaction, and one of the checkpoints."""
    strategy = str(factors["strategy"])
    mix = {name: float(share) for name, share in zip(INTERACTIONS, shares(factors), strict=True) if share}
    writes = [name for name in mix if INTERACTIONS[name][3]]
    batch = bool(writes) and strategy == "batch"
    last = ("commit" if batch else "disk",) if writes and strategy != "asynchronous" else ()
    stations: list[Station] = [
        Queue("client", int(factors["client_cores"])), *map(Delay, TIERS), *(Delay(name) if batch else Queue(name) for name in last),
        Pool("workers", o.workers, (*TIERS, *last)), Pool("cores", int(factors["cores"]), TIERS),
    ]  # fmt: skip
    users, think_s = _whole(int(factors["users"]), list(mix.values())), float(factors["think_s"])
    classes = [Closed(name, number, think_s) for name, number in zip(mix, users, strict=True)]
    stall, access_s = o.stall_factor(factors), o.one_core_s if strategy == "one_core" else o.spread_s
    times: dict[str, dict[str, Any]] = {"client": dict.fromkeys(mix, o.client_s)}
    times |= {tier: {name: stall * demand_s(name, tier, factors) for name in mix} for tier in TIERS}
    times |= {name: dict.fromkeys(writes, INSTANT_S if batch else access_s) for name in last}
    routing: dict[str, Any] = {name: _route(mix, last if name in writes else ()) for name in mix}
    if batch:
        stations += [Queue("disk"), Pool("checkpoint lock", 1, ("commit", "disk"))]
        classes.append(Closed(CHECKPOINT, 1, Erlang(o.pause_s, PHASES)))
        times["disk"] = {CHECKPOINT: Erlang(o.checkpoint_s, PHASES)}
        routing[CHECKPOINT] = {"think": {"disk": 1.0}, "disk": {"think": 1.0}}
    return Model(stations, classes, service_s=times, routing=routing)


def _route(mix: Mapping[str, float], last: tuple[str, ...]) -> dict[str, Any]:
    """One request after the other, each of another interaction."""
    way = ["think", "client", *TIERS, *last]
    onward = {f"think/{other}": share for other, share in mix.items()}
    return {one: {then: 1.0} for one, then in pairwise(way)} | {way[-1]: onward}


def _whole(total: int, parts: list[float]) -> list[int]:
    """`total` users by these shares."""
    ends = np.round(np.cumsum(parts) * total).astype(int)
    return np.diff(ends, prepend=0).tolist()


def host_rows(o: SimulatedBulletinOptions, factors: Mapping[str, Any], model: Model, seen: RunRecord) -> pl.DataFrame:
    """What the host's counters say: the tiers share all cores evenly; who waits for the disk is counted to the core that handles it;
    misses of the last-level cache."""
    chosen, strategy = o.cores_of(factors), str(factors["strategy"])
    stations, busy = model.network.stations, seen.sums["busy"].sum(axis=2)
    each = sum(busy[:, stations.index(tier)] for tier in TIERS) / len(chosen)
    disk = busy[:, stations.index("disk")] if "disk" in stations else np.zeros(seen.t_s.size)
    used = np.tile(each[:, None], len(chosen))
    steps = np.minimum(np.diff(disk, prepend=0.0), np.maximum(np.diff(seen.t_s - each, prepend=0.0), 0.0))
    handles = (
        np.arange(len(chosen)) == min(1, len(chosen) - 1) if strategy == "one_core" else np.full(len(chosen), True)
    )
    waits = np.cumsum(steps)[:, None] * handles
    idle = np.maximum(seen.t_s[:, None] - used - waits, 0.0)
    cpu = cpu_rows(seen.t_s, {"user": used, "iowait": waits, "idle": idle})
    numbered = {str(k): str(core) for k, core in enumerate(chosen)}
    parts = [cpu.with_columns(pl.col("key").replace(numbered)), *station_rows(model.network, seen.t_s, seen.sums)]
    alone_s = each * len(chosen) / o.stall_factor(factors)  # what requests would have taken without stalls
    parts += [
        counter_rows(seen.t_s, alone_s * per_s, "perf", str(core), "cache_misses")
        for core, per_s in zip(chosen, o.misses(factors), strict=True)
    ]
    return pl.concat([*parts, counter_rows(seen.t_s, 1e3 * disk, "disks", DISK, "io_ms")]).sort(
        "t_s", maintain_order=True
    )
