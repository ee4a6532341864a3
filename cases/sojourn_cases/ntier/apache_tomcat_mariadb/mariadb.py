"""A private MariaDB as a server that lab starts and stops: its configuration, its data in a folder, a socket and a port on loopback."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from sojourn.errors import InputError, ServiceError
from sojourn_cases.common.postgres_programs import as_user
from sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs import StackPrograms
from sojourn_cases.ntier.tier_process import TierProcess, give, nobody, write_private

USER = DATABASE = "sojourn"
STARTED_S, ENDED_S, ANSWERED_S = 60.0, 20.0, 10.0
NAME = re.compile(r"[a-z][a-z0-9_-]*")
# READ-COMMITTED is PostgreSQL's default; statistics that are made anew in one run and not in the next are no treatment.
SETTINGS = {
    "skip-name-resolve": "1", "default-time-zone": "+00:00", "character-set-server": "utf8mb4", "collation-server": "utf8mb4_nopad_bin",
    "transaction-isolation": "READ-COMMITTED", "innodb-stats-auto-recalc": "OFF", "innodb-log-file-size": "32M",
    "performance-schema": "OFF", "skip-log-bin": "1",
}  # fmt: skip


def configuration(folder: Path, settings: Mapping[str, str]) -> str:
    """`my.cnf` of the server whose data lies in `folder`/data.

    Raises:
        InputError: a name or a value that a line of it cannot have.
    """
    own = {"datadir": f"{folder}/data", "socket": f"{folder}/data/socket", "pid-file": f"{folder}/data/pid"}
    lines = []
    for name, value in {**own, **SETTINGS, **settings}.items():
        if not NAME.fullmatch(name) or not value.isprintable():
            raise InputError(
                f"{name} = {value!r}", "database_settings", "give names of MariaDB's variables, and values of one line"
            )
        lines.append(f"{name} = {value}")
    return "\n".join(["[mariadbd]", *lines, ""])


def make_data(programs: StackPrograms, folder: Path) -> None:
    """The system tables, in `folder`/data.

    Raises:
        ServiceError: the reason is that of mariadb-install-db.
    """
    data = folder / "data"
    data.mkdir(mode=0o700)
    give(data)
    command = [
        *as_user(nobody()), str(programs.install_db), "--no-defaults", f"--datadir={data}", "--skip-test-db", "--skip-name-resolve",
        "--auth-root-authentication-method=socket", "--innodb-log-file-size=32M",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ServiceError(
            (done.stderr or done.stdout).strip()[-500:], "mariadb-install-db", "make room, or see what it says"
        )


class MariaDb:
    """A running server on the data in a folder: which process, what it answers, how to stop it."""

    def __init__(
        self,
        programs: StackPrograms,
        folder: Path,
        settings: Mapping[str, str],
        *,
        password: str | None = None,
        cores: Iterable[int] = (),
        cgroup: str | None = None,
    ) -> None:
        """Starts it. Without a `password` everybody who gets to its socket may do everything: for the loading, without a port.

        Raises:
            ServiceError: it does not start; the reason is its own. InputError: see `configuration`.
        """
        self._programs, self.folder, self._password = programs, folder, password
        grants = {} if password else {"skip-grant-tables": "1", "skip-networking": "1"}
        conf = folder / "my.cnf"
        write_private(conf, configuration(folder, {**settings, **grants}))
        write_private(self.log, "")
        command = [str(programs.mariadbd), f"--defaults-file={conf}"]
        self._process = TierProcess(command, self.log, cores=cores, cgroup=cgroup)
        try:
            self._process.await_answer(
                lambda: self.run("SELECT 1", database=None), (ServiceError,), within_s=STARTED_S, every_s=0.05,
                place="mariadb", remedy=f"see {self.log}",
            )  # fmt: skip
        except BaseException:
            self.close()
            raise

    @property
    def log(self) -> Path:
        return self.folder / "mariadb.log"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def return_code(self) -> int | None:
        return self._process.return_code

    def run(self, sql: str, *, database: str | None = DATABASE, timeout_s: float = ANSWERED_S) -> list[tuple[str, ...]]:
        """The rows of `sql`, as text, over a session of its own.

        Raises:
            ServiceError: the server is away, or refuses; the reason is its own.
        """
        command = [
            str(self._programs.client), "--no-defaults", f"--socket={self.folder}/data/socket", "--batch", "--skip-column-names",
            f"--user={USER if self._password else 'root'}", *([f"--database={database}"] if database else []),
        ]  # fmt: skip
        secret = {"MYSQL_PWD": self._password} if self._password else {}
        try:
            done = subprocess.run(
                command,
                input=sql,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                env={"PATH": os.defpath, **secret},
            )
        except subprocess.TimeoutExpired:
            raise ServiceError(f"no answer in {timeout_s:g} s", "mariadb", f"see {self.log}") from None
        if done.returncode:
            raise ServiceError(done.stderr.strip()[-500:], "mariadb", f"see {self.log}")
        return [tuple(line.split("\t")) for line in done.stdout.splitlines()]

    def stop(self) -> None:
        """Ends it in good order: all is on disk."""
        self._process.stop(ENDED_S)

    def close(self) -> None:
        """Makes sure that it is gone; its data stays."""
        self._process.close()
