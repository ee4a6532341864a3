"""Apache, Tomcat and MariaDB as the software of the bulletin board: the tiers of one run, started back to front and warmed up."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sojourn.errors import InputError
from sojourn.lab import CountedGroups
from sojourn.study import Factor, Value
from sojourn_cases.common.memcached import free_port
from sojourn_cases.ntier.apache_tomcat_mariadb.apache import Apache
from sojourn_cases.ntier.apache_tomcat_mariadb.mariadb import USER
from sojourn_cases.ntier.apache_tomcat_mariadb.mariadb_cluster import MariaDbCluster, MariaDbDatabase, mariadb_cluster
from sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs import stack_programs, versions
from sojourn_cases.ntier.apache_tomcat_mariadb.tomcat import PREFIX, Tomcat, TomcatOptions, compiled_servlet
from sojourn_cases.ntier.apache_tomcat_mariadb.warm_up import warm_up
from sojourn_cases.ntier.bulletin_board_options import JAVA_STACK, BulletinSystemOptions
from sojourn_cases.ntier.bulletin_board_tiers import SiteTiers, TierCores
from sojourn_cases.ntier.bulletin_database import TableSizes
from sojourn_cases.ntier.site_hosts import LOOPBACK
from sojourn_cases.ntier.tier_process import own_folder

APACHE, TOMCAT, MARIADB = "apache", "tomcat", "mariadb"
PLACE = f'[system] stack = "{JAVA_STACK}"'
WARM_UP_REQUESTS, WARM_UP_S = 4000, 6.0


@dataclass(frozen=True)
class LoadedJavaStack:
    """`classes`: of the servlet, compiled."""

    options: BulletinSystemOptions
    cluster: MariaDbCluster
    classes: Path
    software: Mapping[str, str]

    @property
    def described(self) -> dict[str, Any]:
        return {"software": dict(self.software), "database": self.cluster.version, "rows": dict(self.cluster.rows)}

    def start(self, factors: Mapping[str, Value], cores: TierCores, groups: CountedGroups, logs: Path) -> SiteTiers:
        return JavaTiers(self, factors, cores, groups, logs)


class JavaTiers(SiteTiers):
    """Apache before replicas of Tomcat, before MariaDB on a copy of the cluster."""

    names: ClassVar[tuple[str, str, str]] = (APACHE, TOMCAT, MARIADB)

    def __init__(
        self, stack: LoadedJavaStack, factors: Mapping[str, Value], cores: TierCores, groups: CountedGroups, logs: Path
    ) -> None:
        """Starts them on their `cores`, and warms them up: nothing of this is counted, except CPU time before the run's window.

        Raises:
            ServiceError: one does not start, or does not answer; the reason is its own.
        """
        super().__init__(cores, groups, logs)
        self._tomcats: list[Tomcat] = []
        try:
            self._start(stack, factors)
        except BaseException:
            self.close()
            raise

    def _start(self, stack: LoadedJavaStack, factors: Mapping[str, Value]) -> None:
        cluster, replicas, sessions = stack.cluster, int(factors["replicas"]), int(factors["max_connections"])
        settings = {"innodb-flush-log-at-trx-commit": "1" if factors["synchronous_commit"] else "0"}
        database = MariaDbDatabase(
            cluster, port=free_port(LOOPBACK), sessions=replicas * sessions, settings=settings | stack.options.database_settings,
            cores=self._cores.tiers[MARIADB], cgroup=self._groups.path(MARIADB),
        )  # fmt: skip
        self._database = database
        own = TomcatOptions(
            database_port=database.port, database_user=USER, database_password=cluster.password,
            max_threads=int(factors["max_threads"]), max_connections=sessions, page_work_s=float(factors["page_work_s"]),
            seed=stack.options.data_seed,
        )  # fmt: skip
        for k in range(1, replicas + 1):
            tomcat = Tomcat(
                cluster.programs, stack.classes, own, LOOPBACK, free_port(LOOPBACK), cores=self._cores.tiers[TOMCAT],
                cgroup=self._groups.path(f"{TOMCAT}{k}"),
            )  # fmt: skip
            self._tomcats.append(tomcat)
            self._replicas.append(tomcat)
        apache = Apache(
            cluster.programs, _free_address(), _free_address(), [one.address for one in self._tomcats],
            max_request_workers=int(factors["max_request_workers"]), keep_alive=bool(factors["keep_alive"]),
            cores=self._cores.tiers[APACHE],
            cgroup=self._groups.path(APACHE),
        )  # fmt: skip
        self._fronts, self.urls = [apache], [apache.url]
        warm_up(apache.address, WARM_UP_REQUESTS * replicas, WARM_UP_S * replicas)
        apache.begin()
        for tomcat in self._tomcats:
            tomcat.begin()
        database.begin()
        self._pids = self._by_tier()

    def _replica_log(self, number: int) -> Path:
        return self._tomcats[number - 1].log


def _free_address() -> str:
    return f"{LOOPBACK}:{free_port(LOOPBACK)}"


@dataclass(frozen=True)
class JavaStack:
    """Of a study file with these options."""

    options: BulletinSystemOptions

    @property
    def tiers(self) -> tuple[str, ...]:
        return JavaTiers.names

    @property
    def pools(self) -> Mapping[str, Factor]:
        """By their names: MaxRequestWorkers and KeepAlive of Apache, maxThreads of each Tomcat."""
        return {
            "max_request_workers": Factor(default=2048, low=1, high=20_000),
            "keep_alive": Factor(default=True),
            "max_threads": Factor(default=16, low=1, high=1024),
        }

    @property
    def database_factors(self) -> Mapping[str, Factor]:
        """`max_connections`: sessions with MariaDB of each Tomcat."""
        return {
            "max_connections": Factor(default=16, low=1, high=1024),
            "synchronous_commit": Factor(default=True),
        }

    def check(self) -> None:
        if not self.options.database:
            raise InputError("database = false", PLACE, "set database = true: its tables are in MariaDB")
        if self.options.disk:
            raise InputError(
                f"disk = {self.options.disk!r}", PLACE, "leave it out: only PostgreSQL can have a slow disk"
            )
        TableSizes.of(self.options.scale)

    def check_factors(self, factors: Mapping[str, Value], place: str) -> None:
        users, most = int(factors["users"]), int(factors["max_request_workers"])
        if factors["keep_alive"] and users > most:
            remedy = "set keep_alive = false, or as many as users: Apache closes idle connections where all its workers are busy"
            raise InputError(f"max_request_workers = {most} with {users} users", place, remedy)

    @contextmanager
    def open(self, copies: Path | None) -> Iterator[LoadedJavaStack]:
        programs = stack_programs()
        folder = own_folder(PREFIX)
        try:
            classes = compiled_servlet(programs, folder)
            with mariadb_cluster(self.options.scale, self.options.data_seed, copies) as cluster:
                yield LoadedJavaStack(self.options, cluster, classes, versions(programs))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
