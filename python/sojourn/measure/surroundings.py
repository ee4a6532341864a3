"""What surrounds a run on somebody's own service: its processes, the core of the generator, and what is kept of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.errors import InputError
from sojourn.measure.client_core import client_cores
from sojourn.measure.execute_run import RunEnvironment
from sojourn.measure.service_processes import ServiceProcesses
from sojourn.runs.manifest import SERVICE_EXITED
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import WatchedResources, demands


def surroundings(
    service: ServiceProcesses, placement: Mapping[str, Any], conditions: Mapping[str, Any] | None = None, lanes: int = 1
) -> tuple[RunEnvironment, WatchedResources]:
    """Who belongs to the run now, and where its generator of so many lanes is kept; `placement` and `conditions` for its manifest."""
    watched, client = service.now(), client_cores(service.pinned_cores() or service.may_use, lanes)
    manifest: dict[str, Any] = {"placement": {**placement, "client": list(client)}}
    if conditions is not None:
        manifest["conditions"] = dict(conditions)
    around = RunEnvironment(
        pids=watched.roles(), cgroups=watched.cgroups, manifest=manifest, own_tree=True, has_other_parts=True,
        client_cores=client,
    )  # fmt: skip
    return around, watched


def add_demands(folder: RunFolder, service: ServiceProcesses, watched: WatchedResources) -> None:
    """Into the manifest: what a request takes of what is watched, which processes were found, and which of them ended meanwhile.

    Raises:
        InputError: the processes that were named do not serve. Such a run is not kept.
    """
    found = demands(folder, watched)
    gone, whole = service.exited()
    if not gone:
        try:
            service.check(found)
        except InputError:
            folder.discard()
            raise
    elif whole:
        folder.manifest["valid"] = False
        folder.manifest["reasons"] = [f"{SERVICE_EXITED}: {gone}", *folder.manifest["reasons"]]
    else:
        folder.manifest["warnings"] = [f"{gone} exited during the run", *(folder.manifest.get("warnings") or [])]
    if found:
        folder.manifest["demands_s"] = found
    if service.found:
        folder.manifest["found"] = service.told()
    folder.save()
