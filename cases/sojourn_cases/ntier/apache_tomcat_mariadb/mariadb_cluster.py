"""The board's tables in a MariaDB that is made and loaded once, and copies of it to run on, as `bulletin_cluster` has it for PostgreSQL."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError, ServiceError
from sojourn_cases.ntier.apache_tomcat_mariadb.board_rows import BoardRows, Cell
from sojourn_cases.ntier.apache_tomcat_mariadb.mariadb import DATABASE, USER, MariaDb, make_data
from sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs import StackPrograms, mariadb_version, stack_programs
from sojourn_cases.ntier.bulletin_cluster import copied
from sojourn_cases.ntier.bulletin_database import LARGE, NAMED, TABLES, TableSizes
from sojourn_cases.ntier.tier_process import own_folder, write_private

PREFIX = "sojourn-mariadb-"
HERE = Path(__file__).parent
LOADED_S = 3600.0  # that one file of the loading may take
SPARE_SESSIONS = 8
ROWS_AT_ONCE = 500
WHOLE_TABLE = "ALL"  # EXPLAIN's type of a table that is read from end to end
# What a statement that reads is asked with while its plan is looked at: values as pages have them.
TRIED: Mapping[str, tuple[Cell, ...]] = {
    "recent_stories": (20,), "categories": (), "stories_in_category": (3, 20, 0), "older_stories": (1_735_689_600, 20),
    "story": (5,), "old_story": (5,), "ratings_of_story": (5,), "old_ratings_of_story": (5,), "newest_comment": (), "comment": (5,),
    "old_comment": (5,), "answers": (5, 0, -1), "old_answers": (5, 0, -1), "user_by_name": ("user5",), "submissions": (20,),
    "writer_of_comment": (5,), "old_writer_of_comment": (5,), "search_stories": ("bibavufo", "bibavufp", 20, 0),
    "search_comments": ("bibavufo", "bibavufp", 20, 0), "search_users": ("user5", "user5z", 20, 0),
}  # fmt: skip


@dataclass(frozen=True)
class MariaDbCluster:
    """Loaded data whose server is stopped, in `folder`. `rows` by table; `copies`: where its copies lie (None: the usual place of
    temporary files)."""

    programs: StackPrograms
    folder: Path
    rows: Mapping[str, int]
    version: str
    password: str
    copies: Path | None = None


@contextmanager
def mariadb_cluster(scale: float, seed: int, copies: Path | None = None) -> Iterator[MariaDbCluster]:
    """Makes and loads it, and checks the plan of each statement; it is removed at the end.

    Raises:
        LabError: a program is not installed. InputError: `scale`, or there is no folder `copies`. ServiceError: it does not start, or a
        plan reads a large table whole.
    """
    if copies and not copies.is_dir():
        raise InputError(str(copies), "database_folder", "give a folder that is there")
    size, programs = TableSizes.of(scale), stack_programs()
    folder = own_folder(PREFIX)
    try:
        password = secrets.token_hex(16)
        write_private(folder / "password", password)
        make_data(programs, folder)
        server = MariaDb(programs, folder, {"innodb-flush-log-at-trx-commit": "0"})
        try:
            load_board(server, size, seed, password)
            server.stop()
        finally:
            server.close()
        rows = {name: sum(1 for _ in table) for name, table in BoardRows(size, seed).tables()}
        yield MariaDbCluster(programs, folder, rows, mariadb_version(programs), password, copies)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def load_board(server: MariaDb, size: TableSizes, seed: int, password: str) -> None:
    """Makes tables, rows, indices and the user, and checks every plan."""
    server.run(f"CREATE DATABASE {DATABASE}", database=None)
    server.run(_read("schema.sql"))
    last_comment = 0
    for name, table in BoardRows(size, seed).tables():
        rows = list(table)
        if name in ("comments", "old_comments"):
            last_comment = max([last_comment, *(int(row[0]) for row in rows)])
        server.run("\n".join(inserts(name, rows)), timeout_s=LOADED_S)
    server.run(_read("indices.sql"), timeout_s=LOADED_S)
    server.run(f"SELECT SETVAL(comments_id, {last_comment:d}); ANALYZE TABLE {', '.join(TABLES)}", timeout_s=LOADED_S)
    check_plans(server)
    own = [f"CREATE USER '{USER}'@'{host}' IDENTIFIED BY '{password}'" for host in ("localhost", "127.0.0.1")]
    given = [f"GRANT ALL ON {DATABASE}.* TO '{USER}'@'{host}'" for host in ("localhost", "127.0.0.1")]
    server.run(";\n".join(["FLUSH PRIVILEGES", *own, *given]))


def inserts(table: str, rows: Iterable[tuple[Cell, ...]]) -> Iterator[str]:
    """Statements that make these rows, in one transaction."""
    yield "START TRANSACTION;"
    whole = list(rows)
    for begin in range(0, len(whole), ROWS_AT_ONCE):
        some = whole[begin : begin + ROWS_AT_ONCE]
        values = ",\n".join(f"({', '.join(map(literal, row))})" for row in some)
        yield f"INSERT INTO {table} VALUES {values};"
    yield "COMMIT;"


def literal(value: Cell) -> str:
    """A number or a text as SQL has it."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    return str(value)


def statements() -> dict[str, str]:
    """The statements that the servlet prepares, by name."""
    return {name: text.strip() for name, text in NAMED.findall(_read("statements.sql"))}


def check_plans(server: MariaDb) -> None:
    """That no statement that reads reads a large table whole.

    Raises:
        ServiceError: one does; it names statement and table.
    """
    known = statements()
    for name, values in TRIED.items():
        parts = known[name].split("?")
        asked = "".join(part + value for part, value in zip(parts, [*map(literal, values), ""], strict=True))
        for line in server.run(f"EXPLAIN {asked}"):
            table, way, rows = line[2], line[3], line[8]
            if way == WHOLE_TABLE and rows.isdigit() and int(rows) >= LARGE:
                raise ServiceError(
                    f"statement {name} reads all {rows} rows of {table}", "plan", "add an index; EXPLAIN shows the plan"
                )


class MariaDbDatabase:
    """A server on a copy of a cluster: where, which process, how many statements it carried out."""

    kind = "mariadb"

    def __init__(
        self,
        cluster: MariaDbCluster,
        *,
        port: int,
        sessions: int,
        settings: Mapping[str, str] | None = None,
        cores: Iterable[int] = (),
        cgroup: str | None = None,
    ) -> None:
        """Copies the cluster, and starts the server on `port`, for `sessions` of the application, with further `settings` of MariaDB.

        Raises:
            ServiceError: it does not start; the reason is its own. StorageFull: no room for the copy.
        """
        self.port, self._version, self._before = port, cluster.version, 0
        self._folder = own_folder(PREFIX, cluster.copies)
        try:
            copied(cluster.folder, self._folder)
            own = {"bind-address": "127.0.0.1", "port": str(port), "max-connections": str(sessions + SPARE_SESSIONS)}
            self._server = MariaDb(
                cluster.programs, self._folder, {**own, **(settings or {})}, password=cluster.password, cores=cores, cgroup=cgroup,
            )  # fmt: skip
        except BaseException:
            self._remove()
            raise

    @property
    def log(self) -> Path:
        return self._server.log

    @property
    def return_code(self) -> int | None:
        return self._server.return_code

    @property
    def pids(self) -> dict[str, int]:
        """Its process; its sessions are threads."""
        return {"mariadb": self._server.pid}

    def begin(self) -> None:
        """Statements count from here on."""
        self._before = self._executed()

    def _executed(self) -> int:
        return int(self._server.run("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'", database=None)[0][1])

    def stop(self) -> dict[str, Any]:
        """Ends it at once, since the copy is thrown away; what it did."""
        executed = None
        with suppress(ServiceError):
            executed = self._executed() - self._before
        self.close()
        return {"kind": self.kind, "version": self._version, "statements": executed}

    def close(self) -> None:
        """Makes sure that nothing of it is left."""
        self._server.close()
        self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _read(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
