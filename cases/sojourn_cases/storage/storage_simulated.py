"""Storage paths in simulated time, as a system of studies; what is true of them: simulated_storage.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from sojourn import __version__
from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.lab import environment
from sojourn.runs import MeasuredResource, RunFolder, add_resources
from sojourn.simulate import write_run
from sojourn.study import Factor, Point, Seconds, System, Value, all_factors
from sojourn_cases.storage.costs.storage_run_list import FACTORS
from sojourn_cases.storage.simulated_storage import FAULTS, SimulatedStorageOptions, simulate_storage
from sojourn_cases.storage.storage_factors import storage_factors

NONE = "none"


class SimulatedStorageSystemOptions(SimulatedStorageOptions):
    """`[system]` of kind `storage-simulated`."""

    kind: str = "storage-simulated"
    fault: str = NONE


class SimulatedStorageLoad(BaseModel):
    """`[load]`: simulated seconds of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds = Field(default=1.4, alias="for", gt=0, le=3600)
    seed: int = Field(default=1, ge=0)


class SimulatedStorage(System):
    """Two simulated paths to storage. Their CPU time per I/O is known."""

    options_type: ClassVar[type[BaseModel]] = SimulatedStorageSystemOptions
    load_type: ClassVar[type[BaseModel]] = SimulatedStorageLoad
    alone: ClassVar[bool] = False

    def __init__(self, options: SimulatedStorageSystemOptions, load: SimulatedStorageLoad, folder: Path) -> None:
        if options.fault not in (NONE, *FAULTS):
            raise InputError(f"fault = {options.fault!r}", "[system]", meant(options.fault, (NONE, *FAULTS)))
        self.options, self.load = options, load

    @property
    def factors(self) -> dict[str, Factor]:
        return storage_factors(self.options.paths)

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        return all_factors(self.factors, given, place)

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"cpu": None}

    def place(self) -> AbstractContextManager[Any]:
        return environment("virtual")

    @contextmanager
    def open(self, place: Any = None) -> Iterator[SimulatedStorageSession]:
        yield SimulatedStorageSession(self)


@dataclass(frozen=True)
class SimulatedStorageSession:
    """Simulates points of it."""

    system: SimulatedStorage

    def conditions(self, point: Point) -> dict[str, Any]:
        said = {"system": self.system.options.model_dump(), "for": self.system.load.duration_s}
        return {
            "load": {"lanes": [{}], "iops": point.factors["iops"]},
            "machine": {"kernel": "simulated", "sojourn": __version__},
            "conditions": said,
        }

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        options, factors = self.system.options, point.factors
        window = self.system.load.duration_s
        row = pl.DataFrame([{"run": seed, **{name: factors[name] for name in FACTORS}}])
        fault = None if options.fault == NONE else options.fault
        truth = SimulatedStorageOptions(
            **options.model_dump(include=set(SimulatedStorageOptions.model_fields)) | {"window_s": window}
        )
        seen = simulate_storage(row, truth, seed, fault).row(0, named=True)
        random, count = np.random.default_rng([seed, 1]), int(seen["completed"])
        due = np.sort(random.uniform(0, window, count))
        done = due + seen["latency_s"] * (0.5 + random.exponential(0.5, count))
        folder = write_run(
            out, requests={"intended_s": due, "sent_s": due, "done_s": done},
            manifest={**point.record(seed), **self.conditions(point), "duration_s": window, "warm_up_s": 0.0,
                      "storage": {name: value for name, value in seen.items() if name not in ("run", *FACTORS)}},
        )  # fmt: skip
        if factors["iops"] == 0:  # what the machine uses by itself: no request is what was asked for
            folder.manifest |= {"valid": True, "reasons": []}
        add_resources(folder, {}, factors)
        return folder
