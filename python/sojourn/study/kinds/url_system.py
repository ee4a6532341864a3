"""A service that somebody else runs, under a load on its URL. Factors, beside the load, go into the URL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from sojourn.lab.backends import LoopbackBackend, NamespaceBackend
from sojourn.measure.execute_run import RunEnvironment, execute, machine
from sojourn.runs.resources import MeasuredResource, add_resources
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_series import contents
from sojourn.study.kinds.http_system import HttpLoad, HttpSystem
from sojourn.study.kinds.placeholders import filled
from sojourn.study.kinds.study_resources import ResourceOptions, declared, to_watch
from sojourn.study.system import Factor, Point


class UrlOptions(BaseModel):
    """`[system]` of kind `url`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = "url"
    url: str
    factors: dict[str, Factor] = Field(default_factory=dict)
    resources: dict[str, ResourceOptions] = Field(default_factory=dict)


class UrlSystem(HttpSystem):
    """A service at a URL. The study neither starts nor ends it."""

    options_type: ClassVar[type[BaseModel]] = UrlOptions

    def __init__(self, options: UrlOptions, load: HttpLoad, base_folder: Path) -> None:
        super().__init__(options.factors, {"[system] url": options.url}, load, base_folder)
        self.options = options

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return dict(declared(self.options.resources))

    @contextmanager
    def open(self, place: LoopbackBackend | NamespaceBackend) -> Iterator[UrlSession]:
        yield UrlSession(self, place, declared(self.options.resources))


@dataclass(frozen=True)
class UrlSession:
    """Runs points on it."""

    system: UrlSystem
    place: LoopbackBackend | NamespaceBackend
    resources: dict[str, MeasuredResource]

    def conditions(self, point: Point) -> dict[str, Any]:
        load = self._load(point, 0)
        conditions = {"system": self.system.options.model_dump(), "bodies": contents(load)}
        return {"load": load, "machine": machine(), "conditions": conditions}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        watch = to_watch(self.resources)
        around = RunEnvironment(
            self.place.client_network, self.place.server_network, watch["pids"], cgroups=watch["cgroups"],
            manifest={"lab": self.place.describe(), "conditions": self.conditions(point)["conditions"]}, own_tree=True,
            has_other_parts=True,
        )  # fmt: skip
        what = point.record(seed)
        every_s = self.system.load.every_s
        folder = execute(out, self._load(point, seed), what=what, around=around, interval_s=every_s)
        add_resources(folder, self.resources, point.factors)
        return folder

    def _load(self, point: Point, seed: int) -> dict[str, Any]:
        url = filled(self.system.options.url, point.factors, "[system] url")
        return self.system.load.generator(url, point.factors, seed, self.system.base_folder)
