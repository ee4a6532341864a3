"""The tiers of one run of the bulletin board: started back to front, each in a control group of its own, counted and ended front first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sojourn.errors import SojournError
from sojourn.lab import CLIENT, CountedGroups, how_ended, last_lines
from sojourn.runs import MeasuredResource, group_name
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.ntier.site_hosts import SiteHosts


@dataclass(frozen=True)
class TierCores:
    """The cores that all tiers have, those of each, and the client's."""

    all: tuple[int, ...]
    tiers: Mapping[str, tuple[int, ...]]
    client: tuple[int, ...]

    @property
    def client_shares(self) -> bool:
        return not set(self.client).isdisjoint(self.all)


class RunningTier(Protocol):
    """A program of a tier."""

    @property
    def return_code(self) -> int | None: ...

    def stop(self) -> dict[str, Any]: ...

    def close(self) -> None: ...


class Replica(RunningTier, Protocol):
    """One of the application."""

    @property
    def pid(self) -> int: ...


class LoggedTier(RunningTier, Protocol):
    """One with several processes, and a file in which it complains."""

    @property
    def pids(self) -> dict[str, int]: ...

    @property
    def log(self) -> Path: ...


class SiteTiers:
    """The processes of one run. `urls`: of the front, one for each web server. `names`: of the tiers, front first; the database is left out
    where there is none."""

    names: ClassVar[tuple[str, str, str]]

    def __init__(self, cores: TierCores, groups: CountedGroups, logs: Path, hosts: SiteHosts | None = None) -> None:
        """To be called by a class that starts them on `hosts` (None: all on loopback); what replicas complain of goes to files in the
        folder `logs`."""
        self.hosts = hosts or SiteHosts()
        self.urls: list[str] = []
        self._cores, self._groups, self._logs = cores, groups, logs
        self._replicas: list[Replica] = []
        self._fronts: list[LoggedTier] = []
        self._database: LoggedTier | None = None
        self._pids: dict[str, dict[str, int]] = {}
        self._stopped: dict[str, Any] | None = None
        self.died: list[str] = []

    def _by_tier(self) -> dict[str, dict[str, int]]:
        """Processes of each tier, with the database's sessions, which stay for the run."""
        front, application, database = self.names
        replicas = {f"{application} {k}": one.pid for k, one in enumerate(self._replicas, 1)}
        web = {
            role if len(self._fronts) == 1 else role.replace(front, f"{front} {k}", 1): pid
            for k, one in enumerate(self._fronts, 1) for role, pid in one.pids.items()
        }  # fmt: skip
        found = {front: web, application: replicas}
        return found | ({database: self._database.pids} if self._database else {})

    @property
    def postgres(self) -> Postgres | None:
        """The database's server, where it is PostgreSQL."""
        return None

    @property
    def pids(self) -> dict[str, int]:
        return {name: pid for tier in self._pids.values() for name, pid in tier.items()}

    @property
    def cgroups(self) -> tuple[str, ...]:
        """Of all tiers and the client, as the collector has them."""
        return tuple(name for part in (*self._pids, CLIENT) for name in self._grouped(part))

    def _grouped(self, part: str) -> tuple[str, ...]:
        paths = [self._groups.path(one) for one in self._parts(part)]
        return tuple(group_name(Path(path)) for path in paths if path)

    def _parts(self, tier: str) -> list[str]:
        """The names of its control groups, one for each server."""
        if tier == self.names[1]:
            return [f"{tier}{k}" for k in range(1, len(self._replicas) + 1)]
        return numbered(tier, len(self._fronts)) if tier == self.names[0] else [tier]

    def _capacity(self, tier: str) -> float:
        """Its cores; where its hosts have a share each, what they have together."""
        if self.hosts.host_cores is not None and tier in self.names[:2]:
            return self.hosts.host_cores * len(self._parts(tier))
        return float(len(self._cores.tiers[tier]))

    def resources(self, generator: int) -> dict[str, MeasuredResource]:
        """CPU time of the client, whose process is `generator`, of each tier, and of what shares the tiers' cores (`cpu`)."""
        found = {CLIENT: self._of(CLIENT, 1.0, [generator])}
        for tier, pids in self._pids.items():
            found[tier] = self._of(tier, self._capacity(tier), list(pids.values()))
        shared = [found[name] for name in found if name != CLIENT or self._cores.client_shares]
        used = tuple(pid for one in shared for pid in one.pids)
        groups = tuple(name for one in shared for name in one.cgroups)
        return {**found, "cpu": MeasuredResource(float(len(self._cores.all)), used, cgroups=groups)}

    def _of(self, part: str, capacity: float, pids: Sequence[int]) -> MeasuredResource:
        groups = self._grouped(part)
        return MeasuredResource(capacity, () if groups else tuple(pids), cgroups=groups)

    def described(self) -> dict[str, Any]:
        """For the manifest: the cores that were chosen, and what counts CPU time."""
        meter = "control groups" if self._groups.made else "processes that ran when the load began"
        groups = {part: group_name(Path(path)) for tier in self.names[:2] for part in self._parts(tier)
                  if (path := self._groups.path(part))}  # fmt: skip
        return {"cores": {**self._cores.tiers, CLIENT: self._cores.client}, "cpu_time_by": meter, "groups": groups,
                "host_cores": self.hosts.host_cores}  # fmt: skip

    def stop(self) -> dict[str, Any]:
        """Ends them, front first; what each counted, and in `died` those that had ended before, which it raises nothing for."""
        if self._stopped is None:
            self.died = list(self._ended())
            front, application, database = self.names
            web = [one.stop() for one in self._fronts]
            found: dict[str, Any] = {front: web[0] if len(web) == 1 else web} if web else {}
            found[application] = [_summary(one) for one in self._replicas]
            found |= {database: self._database.stop()} if self._database else {}
            self._stopped = found | ({"died": self.died} if self.died else {})
        return self._stopped

    def _ended(self) -> Iterator[str]:
        """Which tiers are gone, how, and their last lines."""
        front, application, database = self.names
        tiers = [
            (one.return_code, self._replica_log(k), f"{application} {k}") for k, one in enumerate(self._replicas, 1)
        ]
        web = zip(self._fronts, numbered(front, len(self._fronts)), strict=True)
        tiers[:0] = [(one.return_code, one.log, name) for one, name in web]
        if self._database:
            tiers.append((self._database.return_code, self._database.log, database))
        for code, log, name in tiers:
            if code is not None:
                said = last_lines(log)
                yield f"{name} {how_ended(code)}; {f'its last lines: {said}' if said else 'it printed nothing'}"

    def _replica_log(self, number: int) -> Path:
        return self._logs / f"application {number}.txt"

    def close(self) -> None:
        """Makes sure that they are gone."""
        for one in (*self._fronts, *self._replicas, self._database):
            if one:
                one.close()


def numbered(part: str, number: int) -> list[str]:
    """`nginx`, or of several `nginx1`, `nginx2` …; none of none."""
    return [part][:number] if number < 2 else [f"{part}{k}" for k in range(1, number + 1)]


def _summary(replica: Replica) -> dict[str, Any]:
    """What it counted; nothing where it was gone."""
    with suppress(SojournError):
        return replica.stop()
    return {}
