"""Resources as a study file names them: `[system.resources.NAME]`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sojourn.errors import InputError
from sojourn.runs.resources import MeasuredResource
from sojourn.runs.watched_resources import watched


class ResourceOptions(BaseModel):
    """A resource of this host: `pids`, `cgroup` or `disk`. `capacity` is its number of cores or disks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pids: tuple[int, ...] = ()
    cgroup: str | None = None
    disk: str | None = None
    capacity: float | None = Field(default=None, gt=0)

    def resource(self, name: str) -> MeasuredResource:
        """What it stands for, which must be there.

        Raises:
            InputError: none of the three or several; a process, group or disk that is not there.
        """
        place = f"[system.resources.{name}]"
        if sum((bool(self.pids), self.cgroup is not None, self.disk is not None)) != 1:
            raise InputError(f"resource {name!r}", place, "give one of pids, cgroup and disk")
        try:
            of = watched(
                ",".join(map(str, self.pids)),
                [self.cgroup] if self.cgroup else None,
                [self.disk] if self.disk else None,
            )
        except InputError as error:
            raise InputError(error.value, place, error.remedy) from None
        capacity = self.capacity or (1.0 if self.disk else float(len(os.sched_getaffinity(0))))
        return MeasuredResource(capacity, of.pids, of.cgroups[0] if of.cgroups else None, self.disk)


def declared(options: Mapping[str, ResourceOptions]) -> dict[str, MeasuredResource]:
    """All of them."""
    return {name: one.resource(name) for name, one in options.items()}


def to_watch(resources: Mapping[str, MeasuredResource]) -> dict[str, Any]:
    """Processes by role, and control groups, for the collector."""
    pids = {f"{name} {pid}": pid for name, one in resources.items() for pid in one.pids}
    return {"pids": pids, "cgroups": tuple(one.cgroup for one in resources.values() if one.cgroup is not None)}
