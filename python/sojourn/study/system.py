"""The protocol of whatever a study runs, and what its points are."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

from sojourn.errors import InputError
from sojourn.file_errors import meant
from sojourn.runs.resources import MeasuredResource
from sojourn.runs.run_folder import RunFolder
from sojourn.table import COLUMNS

Value: TypeAlias = bool | int | float | str
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MOST_NAME = 100
KINDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


class Factor(BaseModel):
    """A factor that can differ between runs. All its values have the type of `default`. Each value is within [low, high], or is one of
    `values`. `others` is a text for the error message; it says how to get any other value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default: StrictBool | StrictInt | StrictFloat | StrictStr
    low: float | None = None
    high: float | None = None
    values: tuple[StrictBool | StrictInt | StrictFloat | StrictStr, ...] = ()
    others: str = ""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: Any) -> Any:
        """`workers = 2` is `workers = { default = 2 }`."""
        return given if isinstance(given, Mapping) else {"default": given}

    def checked(self, name: str, value: Any, place: str) -> Value:
        """`value`, where it is one of this factor's.

        Raises:
            InputError: another type, out of range, none of the listed.
        """
        value = float(value) if isinstance(self.default, float) and type(value) is int else value
        if type(value) is not type(self.default):
            raise InputError(f"{name} = {value!r}", place, f"give {KINDS[type(self.default)]}, as its default is")
        outside = isinstance(value, int | float) and not (
            (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        )
        if outside:
            raise InputError(f"{name} = {value!r}", place, f"give a value in [{self.low}, {self.high}]")
        if self.values and value not in self.values:
            others = f"; {self.others}" if self.others else ""
            raise InputError(f"{name} = {value!r}", place, f"give one of {', '.join(map(str, self.values))}{others}")
        return value


@dataclass(frozen=True)
class Point:
    """One run that a study wants: the section it is for, all factors that are set, which repetition."""

    section: str
    factors: Mapping[str, Value] = field(default_factory=dict)
    repetition: int = 1

    @property
    def name(self) -> str:
        """Names its folder: no two points have the same."""
        words = [self.section, *(f"{key}={_plain(value)}" for key, value in self.factors.items()), str(self.repetition)]
        text = "-".join(words)
        plain = re.sub(r"[^A-Za-z0-9_=.,-]+", "_", text)[:MOST_NAME].strip(".")
        told = all(float(_plain(v)) == v for v in self.factors.values() if isinstance(v, float))
        if plain == text and told and not any(isinstance(value, str) for value in self.factors.values()):
            return plain
        key = json.dumps([self.section, dict(self.factors), self.repetition], sort_keys=True)
        return f"{plain}-{hashlib.sha256(key.encode()).hexdigest()[:6]}"

    def record(self, seed: int) -> dict[str, Any]:
        """What the manifest of its run says of it."""
        return {
            "name": self.name, "section": self.section, "factors": dict(self.factors), "repetition": self.repetition, "seed": seed,
        }  # fmt: skip

    def again(self, repetition: int) -> Point:
        return Point(self.section, self.factors, repetition)

    def __hash__(self) -> int:
        return hash(self.name)


def _plain(value: Value) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


class Session(Protocol):
    """A system that is open: nothing of it is left when it is closed."""

    def conditions(self, point: Point) -> dict[str, Any]:
        """What a run of this point has in its manifest that must be alike when a study is gone on with: `load`, `machine`,
        `conditions` (runs/run_series.py)."""
        ...

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        """Runs the point into the folder `out`, which is made: a judged run folder with Metrics, resources and all factors.

        Raises:
            ServiceError: it cannot be started, or nothing answers. RunFolderError: `out` exists.
        """
        ...


class System(Protocol):
    """What a study runs, to be inherited. `options` come from `[system]`, `load` from `[load]` of its file."""

    options_type: ClassVar[type[BaseModel]]
    load_type: ClassVar[type[BaseModel]]
    alone: ClassVar[bool]  # whether it needs this machine for itself

    def __init__(self, options: Any, load: Any, base_folder: Path) -> None:
        """`base_folder`: what relative paths are relative to.

        Raises:
            InputError: options that make no sense together.
        """
        ...

    @property
    def factors(self) -> dict[str, Factor]:
        """All that points may set."""
        ...

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        """All factors that are at work where these are given: they, checked, and the defaults of the rest.

        Raises:
            InputError: no such factor, a value that it cannot have, or no level of load.
        """
        ...

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        """Names of what utilisation and service demand are told of; what is behind one, None: it is only known in a run."""
        ...

    def place(self) -> AbstractContextManager[Any]:
        """Where it runs: an environment of `lab.environment`."""
        ...

    def open(self, place: Any) -> AbstractContextManager[Session]:
        """Opens it in that place."""
        ...

    def why_not(self, factors: Mapping[str, Value]) -> str:
        """Why a point with these factors cannot be run on this machine; empty where it can."""
        return ""

    @property
    def not_shown(self) -> Sequence[str]:
        """What cannot be shown on this machine at all, and why."""
        return ()

    def known(self, factors: Mapping[str, Value]) -> Mapping[str, float]:
        """Of a simulated system what is true of a point, by name: `NAME busy` of a resource, and the names of `known_values`."""
        return {}


def all_factors(factors: Mapping[str, Factor], given: Mapping[str, Any], place: str) -> dict[str, Value]:
    """Every factor with its value: those that are given, checked, and the defaults of the rest.

    Raises:
        InputError: a name that is no factor, or a value that it cannot have.
    """
    for name in given:
        if name not in factors:
            raise InputError(f"factor {name!r}", place, meant(name, factors))
    return {
        name: factor.checked(name, given[name], place) if name in given else factor.default
        for name, factor in factors.items()
    }


def checked_names(names: Mapping[str, Any], place: str) -> None:
    """InputError for a name that cannot be a placeholder, or is a column of Metrics."""
    for name in names:
        if not NAME.fullmatch(name) or name in COLUMNS or name == "run":
            raise InputError(
                f"factor {name!r}", place, "choose a name that is not a column of Metrics (value, station …)"
            )
