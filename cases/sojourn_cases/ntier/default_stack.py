"""The default software of the bulletin board: nginx, the application of this case, and PostgreSQL or tables in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sojourn.errors import InputError
from sojourn.lab import CountedGroups, pin
from sojourn.study import Factor, Value
from sojourn_cases.common.memcached import free_port
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_programs import programs, runs_as
from sojourn_cases.ntier import database_disk
from sojourn_cases.ntier.bulletin_board_options import BulletinSystemOptions
from sojourn_cases.ntier.bulletin_board_tiers import SiteTiers, TierCores, numbered
from sojourn_cases.ntier.bulletin_cluster import BulletinCluster, BulletinDatabase, bulletin_cluster
from sojourn_cases.ntier.bulletin_database import TableSizes
from sojourn_cases.ntier.bulletin_server import BulletinOptions, BulletinService
from sojourn_cases.ntier.nginx import Nginx, nginx_program
from sojourn_cases.ntier.site_hosts import APPLICATION, DATABASE, LOOPBACK, WEB, SiteHosts, site_hosts

NGINX = "nginx"
WEB_PORT = 8080  # of nginx on a host of its own


class DefaultTiers(SiteTiers):
    """nginx before replicas of the application, before PostgreSQL on a copy of `cluster`, or tables in memory."""

    names: ClassVar[tuple[str, str, str]] = (NGINX, APPLICATION, DATABASE)

    def __init__(
        self,
        options: BulletinSystemOptions,
        factors: Mapping[str, Value],
        cores: TierCores,
        groups: CountedGroups,
        cluster: BulletinCluster | None,
        logs: Path,
        hosts: SiteHosts | None = None,
    ) -> None:
        """Starts them on their `cores` and `hosts`.

        Raises:
            ServiceError: one does not start; the reason is its own.
        """
        super().__init__(cores, groups, logs, hosts)
        self._server: BulletinDatabase | None = None
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
            self._database = self._server = BulletinDatabase(
                cluster, sessions=replicas * int(factors["pool"]), settings=options.server_settings(factors),
                cores=self._cores.tiers[DATABASE], cgroup=self._groups.path(DATABASE), network=self.hosts.path(f"{DATABASE}1"),
                address=self.hosts.address(f"{DATABASE}1") if self.hosts.network else None,
            )  # fmt: skip
        own = BulletinOptions(
            scale=options.scale, seed=options.data_seed, workers=int(factors["workers"]),
            page_work_s=float(factors["page_work_s"]), database=self._server.url if self._server else None,
            pool=int(factors.get("pool", 1)),
        )  # fmt: skip
        services = []
        for k in range(1, replicas + 1):
            host = f"{APPLICATION}{k}"
            there, group = own.model_copy(update={"listen": f"{self.hosts.address(host)}:0"}), self._groups.path(host)
            services.append(
                BulletinService(there, network=self.hosts.path(host), log=self._replica_log(k), cgroup=group)
            )
            self._replicas.append(services[-1])
            self.hosts.started(host, group, [services[-1].pid])
        pin([one.pid for one in services], self._cores.tiers[APPLICATION])
        if self._server:
            self._server.begin()
        for k, part in enumerate(numbered(NGINX, int(factors.get("web_servers", 1))), 1):
            host, group = f"{WEB}{k}", self._groups.path(part)
            port = WEB_PORT if self.hosts.network else free_port(LOOPBACK)
            nginx = Nginx(
                f"{self.hosts.address(host)}:{port}", [one.address for one in services], workers=int(factors["nginx_workers"]),
                cores=self._cores.tiers[NGINX], cgroup=group, network=self.hosts.path(host),
            )  # fmt: skip
            self._fronts.append(nginx)
            self.urls.append(nginx.url)
            self.hosts.started(host, group, nginx.pids.values())
        self._pids = self._by_tier()

    @property
    def postgres(self) -> Postgres | None:
        return self._server.postgres if self._server else None


@dataclass(frozen=True)
class LoadedDefaultStack:
    options: BulletinSystemOptions
    cluster: BulletinCluster | None
    hosts: SiteHosts

    @property
    def described(self) -> dict[str, Any]:
        return {"database": self.cluster.version, "rows": dict(self.cluster.rows)} if self.cluster else {}

    def start(self, factors: Mapping[str, Value], cores: TierCores, groups: CountedGroups, logs: Path) -> SiteTiers:
        return DefaultTiers(self.options, factors, cores, groups, self.cluster, logs, self.hosts)


@dataclass(frozen=True)
class DefaultStack:
    """Of a study file with these options."""

    options: BulletinSystemOptions

    @property
    def tiers(self) -> tuple[str, ...]:
        return (NGINX, APPLICATION, DATABASE) if self.options.database else (NGINX, APPLICATION)

    @property
    def pools(self) -> Mapping[str, Factor]:
        """Threads of each replica, and processes of nginx."""
        return {
            "workers": Factor(default=16 if self.options.database else 8, low=1, high=1024),
            "nginx_workers": Factor(default=1, low=1, high=64),
        }

    @property
    def database_factors(self) -> Mapping[str, Factor]:
        """`pool`: sessions with the database of each replica."""
        if not self.options.database:
            return {}
        return {
            "pool": Factor(default=16, low=1, high=1024),
            "synchronous_commit": Factor(default=True),
            **database_disk.disk_factors(self.options.disk),
        }

    def check(self) -> None:
        options = self.options
        if options.database:
            TableSizes.of(options.scale)
            database_disk.check(options.disk)
        elif options.database_folder or options.database_settings or options.disk:
            raise InputError(
                "database_folder, database_settings, disk",
                "[system]",
                "set database = true, or leave these options out",
            )

    def check_factors(self, factors: Mapping[str, Value], place: str) -> None:
        """None is refused."""

    @contextmanager
    def open(self, copies: Path | None) -> Iterator[LoadedDefaultStack]:
        nginx_program()
        if self.options.database:
            programs(runs_as(), "set database = false (tables in memory)")
        loaded = (
            bulletin_cluster(self.options.scale, self.options.data_seed, copies)
            if self.options.database
            else nullcontext()
        )
        with site_hosts(self.options) as hosts, loaded as cluster:
            yield LoadedDefaultStack(self.options, cluster, hosts)
