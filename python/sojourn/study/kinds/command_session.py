"""A user's own program while it runs: started by a supervisor, watched, ended; and the runs on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import Busy, LabError, ServiceError
from sojourn.lab.backends import LoopbackBackend, NamespaceBackend
from sojourn.lab.cleanup_registry import MARK
from sojourn.lab.cpu_topology import CorePlacement
from sojourn.lab.process_tree import GONE_S
from sojourn.lab.readiness import address_of, holder, problem
from sojourn.lab.worker_process import WorkerProcess
from sojourn.measure.execute_run import RunEnvironment, execute, machine
from sojourn.runs.resources import MeasuredResource, add_resources
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_series import contents
from sojourn.runs.watched_resources import group_name
from sojourn.study.kinds.command_options import CommandOptions, StartCommand
from sojourn.study.kinds.http_system import HttpLoad
from sojourn.study.kinds.study_resources import to_watch
from sojourn.study.system import Point

LOG = "service.log"
MARGIN_S = 10.0
PLACE = "[system] command"


class CommandService:
    """The program, ready to be loaded. What it prints goes to `log`, and into the run folder `run` when it has ended."""

    def __init__(
        self,
        options: CommandOptions,
        launch: StartCommand,
        run: Path,
        token: str,
        group: Path | None,
        network: str | None,
    ) -> None:
        """Starts it, and waits until it is ready.

        Raises:
            Busy: somebody else is at its port. ServiceError: it ends at once, is never ready, leaves its processes behind.
        """
        self._run, self._log = run, run.with_name(f".{run.name}.log")
        self._end_s = options.grace_s + GONE_S + MARGIN_S
        self._summary: dict[str, Any] | None = None
        _free(launch)
        run.parent.mkdir(parents=True, exist_ok=True)
        config = {
            "argv": launch.argv, "environment": {**launch.environment, MARK: token}, "secrets": launch.secrets,
            "folder": str(launch.folder), "cores": launch.cores, "groups": [str(group)] if group else [],
            "ready": launch.ready, "ready_s": options.ready_s, "stop_signal": f"SIG{options.stop_signal}",
            "grace_s": options.grace_s, "log": str(self._log), "log_bytes": options.output_bytes,
        }  # fmt: skip
        try:
            self._worker = WorkerProcess("command", {"network": network, "command": config})
            self.started = self._worker.ready(options.ready_s + self._end_s, grace_s=self._end_s)
        except BaseException as error:
            self._log.unlink(missing_ok=True)
            if isinstance(error, ServiceError | LabError):
                raise ServiceError(error.value, PLACE, error.remedy) from None
            raise

    @property
    def pids(self) -> dict[str, int]:
        return {"service": self.started["pid"], **self.started["processes"]}

    def stop(self) -> dict[str, Any]:
        """Ends it with all its processes; what became of it (lab/supervisor.py)."""
        if self._summary is None:
            done = self._worker.stop(self._end_s) or {}
            self._summary = done.get("summary") or {
                "how": "was lost with its supervisor",
                "died_s": None,
                "last_lines": "",
            }
            if self._log.exists() and self._run.is_dir():
                self._log.replace(self._run / LOG)
            self._log.unlink(missing_ok=True)
        return self._summary


def _free(launch: StartCommand) -> None:
    """Busy where somebody already accepts at its port or socket: that would be measured instead."""
    if "unix" in launch.ready:
        if not problem(launch.ready):
            raise Busy(
                f"the socket {launch.ready['unix']} is in use",
                PLACE,
                "stop the process that listens there, or give the service another socket",
            )
        return
    for address in {address_of(launch.ready), address_of({"url": launch.url})}:
        if who := holder(*address):
            raise Busy(f"port {address[1]} is in use by {who}", PLACE, "stop it, or give the service another port")


@dataclass(frozen=True)
class CommandSession:
    """Runs points, each on a program started for it."""

    options: CommandOptions
    load: HttpLoad
    folder: Path
    launch: Callable[[Mapping[str, Any], str], StartCommand]
    place: LoopbackBackend | NamespaceBackend
    token: str
    group: Path | None
    declared: Mapping[str, MeasuredResource]
    placement: CorePlacement | None = None  # of hosts of its own

    def conditions(self, point: Point) -> dict[str, Any]:
        load = self._load(self._launch(point), point, 0)
        conditions = {"system": self.options.said(), "bodies": contents(load)}
        return {"load": load, "machine": machine(), "conditions": conditions}

    def run(self, point: Point, out: Path, seed: int) -> RunFolder:
        launch = self._launch(point)
        load = self._load(launch, point, seed)
        service = CommandService(self.options, launch, out, self.token, self.group, self.place.server_network)
        try:
            resources = {"cpu": self._cpu(service, launch), **self.declared}
            watch = to_watch({name: one for name, one in resources.items() if name != "cpu"})
            groups = (*watch["cgroups"], *filter(None, [resources["cpu"].cgroup]))
            around = RunEnvironment(
                self.place.client_network, self.place.server_network, watch["pids"], cgroups=groups,
                manifest=self._manifest(launch, point), own_tree=True,
            )  # fmt: skip
            what = point.record(seed)
            every_s = self.load.every_s
            folder = execute(out, load, what=what, around=around, service=service, interval_s=every_s)
        except BaseException as error:
            _died(service.stop(), error)
            raise
        _judge(folder, service)
        add_resources(folder, resources, point.factors)
        return folder

    def _cpu(self, service: CommandService, launch: StartCommand) -> MeasuredResource:
        """Its CPU time: of a control group, which also counts what has ended, or of the processes that it began with."""
        capacity = float(len(_used(launch)))
        if self.group is None or not service.started["grouped"]:
            return MeasuredResource(capacity, tuple(service.pids.values()))
        return MeasuredResource(capacity, cgroup=group_name(self.group))

    def _launch(self, point: Point) -> StartCommand:
        return self.launch(point.factors, self.place.addresses(1)[0])

    def _client(self, launch: StartCommand) -> int | None:
        """The core of the client's thread: one that the service does not use, where there is one."""
        if launch.cores is None and self.placement is not None:
            return self.placement.client[0]
        return max(os.sched_getaffinity(0) - set(_used(launch)), default=None)

    def _load(self, launch: StartCommand, point: Point, seed: int) -> dict[str, Any]:
        client = self._client(launch)
        return self.load.generator(launch.url, point.factors, seed, self.folder, client)

    def _manifest(self, launch: StartCommand, point: Point) -> dict[str, Any]:
        used, client = _used(launch), self._client(launch)
        placement: dict[str, Any] = {"server": used, "interrupts": used, "client_shares": False}
        if self.placement is not None:
            steered = list(self.placement.interrupts)
            placement |= {"interrupts": steered, "client_shares": client in steered}
        placement["client"] = [] if client is None else [client]
        argv = launch.argv
        for secret in launch.secrets:
            argv = [text.replace(secret, "***") for text in argv]
        conditions = self.conditions(point)["conditions"]
        return {"lab": self.place.describe(), "placement": placement, "conditions": conditions, "argv": argv}


def _used(launch: StartCommand) -> list[int]:
    return launch.cores or sorted(os.sched_getaffinity(0))


def _judge(folder: RunFolder, service: CommandService) -> None:
    """A run whose service ended meanwhile is not valid, and says so first; processes left behind are a warning."""
    found = service.stop()
    if "how" in found:
        folder.manifest["reasons"].insert(0, _told(found, folder))
        folder.manifest["valid"] = False
    if found.get("left"):
        names = ", ".join(found["left"])
        said = f"the program left {len(found['left'])} processes behind when it was asked to stop ({names}); they were ended"
        folder.manifest["warnings"] = [said, *folder.manifest.get("warnings", ())]
    folder.save()


def _told(found: dict[str, Any], folder: RunFolder | None = None) -> str:
    began_s = ((folder.manifest.get("generator") if folder else None) or {}).get("start_s")
    after = f" {max(found['died_s'] - began_s, 0.0):.1f} s after the load began" if found["died_s"] and began_s else ""
    lines = f"; its last lines: {found['last_lines']}" if found["last_lines"] else "; it printed nothing"
    return f"the service {found['how']}{after}{lines}"


def _died(found: dict[str, Any], error: BaseException) -> None:
    """ServiceError instead of `error`, where that came of the service's end."""
    if "how" in found and isinstance(error, ServiceError):
        raise ServiceError(_told(found), PLACE, "fix what the message says") from error
