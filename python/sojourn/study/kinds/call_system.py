"""A system of a user's own, in one class: `CallSystem` measures a function that the class makes.

    class Hashes(CallSystem):
        factors = {"iterations": Factor(default=1000, low=1)}

        @contextmanager
        def start(self, values):
            yield lambda: hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", values["iterations"])

docs/howto/add-a-study.md does it word for word.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import ServiceError, SojournError
from sojourn.lab.backends import Environment, environment
from sojourn.measure.call_load import Call, CallGenerator
from sojourn.measure.execute_run import RunEnvironment, execute, machine
from sojourn.runs.resources import MeasuredResource, add_resources
from sojourn.runs.run_folder import RunFolder
from sojourn.study.kinds.http_system import HttpLoad
from sojourn.study.kinds.study_resources import to_watch
from sojourn.study.kinds.time_values import Seconds
from sojourn.study.system import Factor, Point, System, Value


class CallOptions(BaseModel):
    """`[system]` of such a class: its `kind`, and what a subclass adds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str


class CallLoad(BaseModel):
    """`[load]`: each run's length and level; `threads`: calls at a time in an open loop."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    duration_s: Seconds = Field(default=10.0, alias="for", gt=0, le=3600)
    rate_per_s: float | None = Field(default=None, gt=0, le=1e5)
    users: int | None = Field(default=None, ge=1, le=1000)
    think_s: Seconds = Field(default=0.0, alias="think", ge=0, le=3600)
    threads: int = Field(default=64, ge=1, le=1000)
    seed: int = Field(default=1, ge=0)


class CallSystem(System):
    """Base class of a system in Python. In a subclass, `own` has the factors, and `start` makes the object that is measured.
    `options_type` may be a subclass of CallOptions."""

    options_type: ClassVar[type[BaseModel]] = CallOptions
    load_type: ClassVar[type[BaseModel]] = CallLoad
    alone: ClassVar[bool] = True
    own: ClassVar[Mapping[str, Factor]] = {}

    def __init__(self, options: Any, load: CallLoad, base_folder: Path) -> None:
        self.options, self.load, self.base_folder = options, load, base_folder
        self._levels = HttpLoad(rate_per_s=load.rate_per_s, users=load.users, think_s=load.think_s)

    def start(self, values: Mapping[str, Value]) -> AbstractContextManager[Call]:
        """Starts what is measured with these factors; the function that it yields is called by several threads at once. What
        it started must be gone at the end."""
        raise NotImplementedError(f"{type(self).__name__} needs a method start(values)")

    def watched(self, values: Mapping[str, Value]) -> dict[str, MeasuredResource]:
        """What utilisation and service demand are told of; by default the CPU time of this process."""
        return {"cpu": MeasuredResource(float(len(os.sched_getaffinity(0))), pids=(os.getpid(),))}

    @property
    def factors(self) -> dict[str, Factor]:
        return {**self.own, **self._levels.factors()}

    def settled(self, given: Mapping[str, Any], place: str) -> dict[str, Value]:
        return self._levels.settled(self.factors, given, place)

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return dict(self.watched({name: factor.default for name, factor in self.own.items()}))

    def place(self) -> AbstractContextManager[Environment]:
        return environment("loopback")

    @contextmanager
    def open(self, place: Any) -> Iterator[CallSession]:
        yield CallSession(self)


@dataclass(frozen=True)
class CallSession:
    """Measures points of it."""

    system: CallSystem

    def conditions(self, point: Point) -> dict[str, Any]:
        return {
            "load": self._load(point), "machine": machine(), "conditions": {"system": self.system.options.model_dump()}
        }  # fmt: skip

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        values = point.factors
        level = {name: values.get(name) for name in ("rate_per_s", "users")}
        think_s = float(values.get("think_s", 0.0))
        with self._started(values) as call:
            generate = CallGenerator(
                call, self.system.load.duration_s, think_s=think_s, threads=self.system.load.threads, seed=seed, **level  # type: ignore[arg-type]
            )  # fmt: skip
            watched = self.system.watched(values)
            what = {**point.record(seed), "factors": dict(values)}
            watch = to_watch(watched)
            around = RunEnvironment(
                pids=watch["pids"], cgroups=watch["cgroups"], own_tree=True,
                manifest={"conditions": self.conditions(point)["conditions"]},
            )  # fmt: skip
            folder = execute(out, self._load(point), what=what, around=around, generate=generate)
        add_resources(folder, watched, values)
        return folder

    @contextmanager
    def _started(self, values: Mapping[str, Value]) -> Iterator[Call]:
        """What the user's class starts; its failures are told as its own."""
        place = f"{self.system.options.kind} start"
        try:
            manager = self.system.start(values)
            call = manager.__enter__()
        except SojournError:
            raise
        except Exception as error:
            raise ServiceError(
                f"{type(error).__name__}: {error}", place, "fix it: it must be a context manager"
            ) from error
        failed: tuple[Any, Any, Any] = (None, None, None)
        try:
            if not callable(call):
                raise ServiceError(f"it yields {call!r}", place, "it must yield a function without arguments")
            yield call
        except BaseException as error:
            failed = (type(error), error, error.__traceback__)
            raise
        finally:
            try:
                manager.__exit__(*failed)
            except Exception as error:
                if error is not failed[1]:
                    raise ServiceError(
                        f"{type(error).__name__}: {error}", place, "fix the code after its yield"
                    ) from error

    def _load(self, point: Point) -> dict[str, Any]:
        """As the generators' configurations are, for what reads them."""
        values = point.factors
        lane: dict[str, Any] = {"targets": []}
        if "users" in values:
            lane["closed"] = {"users": values["users"], "think": {"kind": "exponential", "mean": values["think_s"]}}
        else:
            lane["arrivals"] = {"kind": "poisson", "rate_per_s": values["rate_per_s"]}
        return {"lanes": [lane], "duration_s": self.system.load.duration_s}
