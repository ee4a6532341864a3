"""The three-tier site in simulated time, as a system of studies; what is true of it: simulated_bulletin.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
from pydantic import BaseModel, Field

from sojourn import __version__
from sojourn.errors import InputError
from sojourn.lab import environment
from sojourn.runs import MeasuredResource, RunFolder, add_resources, metrics_row
from sojourn.simulate import record_run, write_run
from sojourn.study import Factor, LevelLoad, Point, Seconds, System, Value
from sojourn_cases.ntier.simulated_bulletin import (
    CHECKPOINT,
    DISK,
    MIXES,
    NUMBERINGS,
    PLACEMENTS,
    STRATEGIES,
    TIERS,
    SimulatedBulletinOptions,
    host_rows,
    site_model,
)
from sojourn_cases.ntier.tier_demands import BACKGROUND


class SimulatedBulletinLoad(LevelLoad):
    """`[load]`: `ramp_up` is simulated too and does not count."""

    mix: str = MIXES[0]
    ramp_up_s: Seconds = Field(default=2.0, alias="ramp_up", ge=0, le=3600)


class SimulatedBulletin(System):
    """A simulation of the site of `bulletin`, in simulated time."""

    options_type: ClassVar[type[BaseModel]] = SimulatedBulletinOptions
    load_type: ClassVar[type[BaseModel]] = SimulatedBulletinLoad
    alone: ClassVar[bool] = False

    def __init__(self, options: SimulatedBulletinOptions, load: SimulatedBulletinLoad, folder: Path) -> None:
        self.options, self.load = options, load

    @property
    def factors(self) -> dict[str, Factor]:
        most = 2 * self.options.package_cores
        own = {
            "cores": Factor(default=most, low=1, high=most),
            "numbering": Factor(default=NUMBERINGS[0], values=NUMBERINGS),
            "placement": Factor(default=PLACEMENTS[0], values=PLACEMENTS),
            "strategy": Factor(default=STRATEGIES[1], values=STRATEGIES),
            "mix": Factor(default=self.load.mix, values=MIXES),
            "mix_seed": Factor(default=0, low=0),
            "page_work_s": Factor(default=0.0, low=0.0, high=1.0),
            "client_cores": Factor(default=2, low=1, high=64),
            "run_s": Factor(default=self.load.duration_s, low=0.5, high=3600.0),
        }
        return {**own, **self.load.factors()}

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        found = self.load.settled(self.factors, given, place)
        if "users" not in found:
            raise InputError(f"rate_per_s = {found['rate_per_s']}", place, "set users: sessions are a closed loop")
        self.options.cores_of(found)
        return found | {"machine_cores": 2 * self.options.package_cores + int(found["client_cores"])}

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return dict.fromkeys(("client", *TIERS, "cpu", "disk"))

    def place(self) -> AbstractContextManager[Any]:
        return environment("virtual")

    @contextmanager
    def open(self, place: Any = None) -> Iterator[SimulatedSession]:
        yield SimulatedSession(self)

    def known(self, factors: Mapping[str, Value]) -> dict[str, float]:
        """What is true of a run that is saturated (study/known_values.py)."""
        return self.options.known(factors)


@dataclass(frozen=True)
class SimulatedSession:
    """Simulates points of it."""

    system: SimulatedBulletin

    def conditions(self, point: Point) -> dict[str, Any]:
        factors = point.factors
        think = {"kind": "exponential" if factors["think_s"] else "deterministic", "mean": factors["think_s"]}
        said = {"system": self.system.options.model_dump(), "for": self.system.load.duration_s}
        return {
            "load": {"lanes": [{"closed": {"users": factors["users"], "think": think}}]},
            "machine": {"kernel": "simulated", "sojourn": __version__}, "conditions": said,
        }  # fmt: skip

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        load, factors = self.system.load, point.factors
        model, until_s = site_model(self.system.options, factors), load.ramp_up_s + float(factors["run_s"])
        seen = record_run(model, until_s, seed, load.every_s)
        chosen = self.system.options.cores_of(factors)
        names = [cls.name for cls in model.classes if cls.name != CHECKPOINT]
        pages = seen.requests.filter(pl.col("class") < len(names))
        folder = write_run(
            out, requests=pages, host=host_rows(self.system.options, factors, model, seen),
            manifest={
                **point.record(seed), **self.conditions(point), "classes": names,
                "warm_up_s": load.ramp_up_s, "duration_s": until_s,
                "placement": {"server": list(chosen), "interrupts": [], "client": [], "client_shares": False, "observer": -1},
            },
        )  # fmt: skip
        n, client = float(len(chosen)), float(factors["client_cores"])
        found = {
            "client": MeasuredResource(client, station="client"),
            **{tier: MeasuredResource(n, station=tier) for tier in TIERS},
        }
        found["cpu"] = MeasuredResource(n, cores=chosen)
        if "disk" in model.network.stations:
            found["disk"] = MeasuredResource(1.0, disk=DISK)
        nothing = metrics_row("utilisation", 0.0, station=BACKGROUND, unit="1")
        add_resources(folder, found, factors, [nothing])
        return folder
