"""The tiers of one run of the bulletin board: started back to front, each in a control group of its own, counted and ended front first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import SojournError
from sojourn.lab import CLIENT, CountedGroups, how_ended, last_lines, pin
from sojourn.runs import MeasuredResource, group_name
from sojourn.study import Value
from sojourn_cases.common.memcached import free_port
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.ntier.bulletin_board_options import BulletinSystemOptions
from sojourn_cases.ntier.bulletin_cluster import BulletinCluster, BulletinDatabase
from sojourn_cases.ntier.bulletin_server import BulletinOptions, BulletinService
from sojourn_cases.ntier.nginx import Nginx

NGINX, APPLICATION, DATABASE = "nginx", "application", "database"
ANY_PORT = "127.0.0.1:0"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class TierCores:
    """The cores that all tiers have, those of each, and the client's."""

    all: tuple[int, ...]
    tiers: Mapping[str, tuple[int, ...]]
    client: tuple[int, ...]

    @property
    def client_shares(self) -> bool:
        return not set(self.client).isdisjoint(self.all)


class SiteTiers:
    """The processes of one run. `url`: nginx."""

    def __init__(
        self,
        options: BulletinSystemOptions,
        factors: Mapping[str, Value],
        cores: TierCores,
        groups: CountedGroups,
        cluster: BulletinCluster | None,
        logs: Path,
    ) -> None:
        """Starts them on their `cores`; what replicas complain of goes to files in the folder `logs`.

        Raises:
            ServiceError: one does not start; the reason is its own.
        """
        self._cores, self._groups, self._logs = cores, groups, logs
        self._replicas: list[BulletinService] = []
        self._nginx: Nginx | None = None
        self._database: BulletinDatabase | None = None
        self._stopped: dict[str, Any] | None = None
        self.died: list[str] = []
        try:
            self._start(options, factors, cluster)
        except BaseException:
            self.close()
            raise

    def _start(
        self, options: BulletinSystemOptions, factors: Mapping[str, Value], cluster: BulletinCluster | None
    ) -> None:
        replicas = int(factors["replicas"])
        if cluster:
            self._database = BulletinDatabase(
                cluster, sessions=replicas * int(factors["pool"]), settings=options.server_settings(factors),
                cores=self._cores.tiers[DATABASE], cgroup=self._groups.path(DATABASE),
            )  # fmt: skip
        own = BulletinOptions(
            listen=ANY_PORT, scale=options.scale, seed=options.data_seed, workers=int(factors["workers"]),
            page_work_s=float(factors["page_work_s"]), database=self._database.url if self._database else None,
            pool=int(factors.get("pool", 1)),
        )  # fmt: skip
        for k in range(1, replicas + 1):
            log, group = self._logs / f"application {k}.txt", self._groups.path(f"application{k}")
            self._replicas.append(BulletinService(own, log=log, cgroup=group))
        pin([one.pid for one in self._replicas], self._cores.tiers[APPLICATION])
        if self._database:
            self._database.begin()
        self._nginx = Nginx(
            f"{HOST}:{free_port(HOST)}", [one.address for one in self._replicas], workers=int(factors["nginx_workers"]),
            cores=self._cores.tiers[NGINX], cgroup=self._groups.path(NGINX),
        )  # fmt: skip
        self.url = self._nginx.url
        self._pids = self._by_tier()

    def _by_tier(self) -> dict[str, dict[str, int]]:
        """Processes of each tier, with the database's sessions, which stay for the run."""
        assert self._nginx is not None
        replicas = {f"application {k}": one.pid for k, one in enumerate(self._replicas, 1)}
        found = {NGINX: self._nginx.pids, APPLICATION: replicas}
        return found | ({DATABASE: self._database.pids} if self._database else {})

    @property
    def postgres(self) -> Postgres | None:
        """The database's server, where there is one."""
        return self._database.postgres if self._database else None

    @property
    def pids(self) -> dict[str, int]:
        return {name: pid for tier in self._pids.values() for name, pid in tier.items()}

    @property
    def cgroups(self) -> tuple[str, ...]:
        """Of all tiers and the client, as the collector has them."""
        return tuple(name for part in (*self._pids, CLIENT) for name in self._grouped(part))

    def _grouped(self, part: str) -> tuple[str, ...]:
        parts = [f"{part}{k}" for k in range(1, len(self._replicas) + 1)] if part == APPLICATION else [part]
        paths = [self._groups.path(one) for one in parts]
        return tuple(group_name(Path(path)) for path in paths if path)

    def resources(self, generator: int) -> dict[str, MeasuredResource]:
        """CPU time of the client, whose process is `generator`, of each tier, and of what shares the tiers' cores (`cpu`)."""
        found = {CLIENT: self._of(CLIENT, 1.0, [generator])}
        for tier, pids in self._pids.items():
            found[tier] = self._of(tier, float(len(self._cores.tiers[tier])), list(pids.values()))
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
        return {"cores": {**self._cores.tiers, CLIENT: self._cores.client}, "cpu_time_by": meter}

    def stop(self) -> dict[str, Any]:
        """Ends them, front first; what each counted, and in `died` those that had ended before, which it raises nothing for."""
        if self._stopped is None:
            self.died = list(self._ended())
            found: dict[str, Any] = {NGINX: self._nginx.stop()} if self._nginx else {}
            found[APPLICATION] = [_summary(one) for one in self._replicas]
            found |= {DATABASE: self._database.stop()} if self._database else {}
            self._stopped = found | ({"died": self.died} if self.died else {})
        return self._stopped

    def _ended(self) -> Iterator[str]:
        """Which tiers are gone, how, and their last lines."""
        tiers = [(one.worker.process.poll(), self._logs / f"application {k}.txt", f"application {k}")
                 for k, one in enumerate(self._replicas, 1)]  # fmt: skip
        if self._nginx and self._nginx.process:
            tiers.insert(0, (self._nginx.process.poll(), self._nginx.log, NGINX))
        if self._database:
            tiers.append((self._database.postgres.return_code, self._database.log, DATABASE))
        for code, log, name in tiers:
            if code is not None:
                said = last_lines(log)
                yield f"{name} {how_ended(code)}; {f'its last lines: {said}' if said else 'it printed nothing'}"

    def close(self) -> None:
        """Makes sure that they are gone."""
        for one in (self._nginx, *self._replicas, self._database):
            if one:
                one.close()


def _summary(replica: BulletinService) -> dict[str, Any]:
    """What it counted; nothing where it was gone."""
    with suppress(SojournError):
        return replica.stop()
    return {}
