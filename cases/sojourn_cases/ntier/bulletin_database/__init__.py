"""The database of the bulletin board: tables, rows from a seed, indices, statements, and whether each statement's plan reads little.

Scale 1 has 500 000 users and 50 authors, as RUBBoS (C. Amza et al., Specification and Implementation of Dynamic Web Site
Benchmarks, WWC-5 (2002)), and 150 000 stories of three years, a tenth of them recent, with about 4.5 comments each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

from sojourn.errors import InputError, ServiceError

USERS, AUTHORS, STORIES = 500_000, 50, 150_000
LEAST_SCALE, MOST_SCALE = 0.001, 10.0
LARGE = 1000  # rows; a smaller table is read whole as quickly as by an index
NAMED = re.compile(r"^-- name: (\w+)\n(.*?)(?=^-- name: |\Z)", re.MULTILINE | re.DOTALL)
TABLES = (
    "categories", "users", "stories", "old_stories", "submissions", "comments", "old_comments", "moderator_log",
)  # fmt: skip


class SqlSession(Protocol):
    """What runs statements: a cluster of ours, or a session with one."""

    def run(self, sql: str) -> list[tuple[str | None, ...]]: ...


@dataclass(frozen=True)
class TableSizes:
    """How many rows the tables that are made to measure have."""

    users: int
    authors: int
    stories: int

    @classmethod
    def of(cls, scale: float) -> TableSizes:
        """Raises InputError where `scale` is not 0.001 to 10."""
        if not LEAST_SCALE <= scale <= MOST_SCALE:
            raise InputError(scale, "scale", f"give {LEAST_SCALE:g} to {MOST_SCALE:g}; 1 has {USERS} users")
        return cls(round(USERS * scale), min(AUTHORS, round(USERS * scale)), round(STORIES * scale))


def load_bulletin(session: SqlSession, scale: float, seed: int) -> dict[str, int]:
    """Makes tables, rows and indices in an empty database, and checks every plan; rows by table.

    Raises:
        InputError: `scale`, or `seed` not 0 to 2^31 - 1. ServiceError: a table is there already, no room, or a plan reads a large
        table whole.
    """
    size = TableSizes.of(scale)
    if not 0 <= seed < 1 << 31:
        raise InputError(seed, "seed", "give 0 to 2147483647")
    settings = {**vars(size), "seed": seed}
    given = "".join(f"SELECT set_config('sojourn.{name}', '{value:d}', false);" for name, value in settings.items())
    for part in ("schema.sql", "rows.sql", "indices.sql"):
        # one session, and one transaction a file: the rows' functions and settings are of the session
        session.run((given if part == "rows.sql" else "") + _read(part))
    session.run("VACUUM ANALYZE")  # hint bits are set, and all pages known as visible, before anything is measured
    check_plans(session, statements())
    return {name: int(session.run(f"SELECT count(*) FROM {name}")[0][0] or 0) for name in TABLES}


def statements() -> dict[str, str]:
    """The statements that the application tier prepares, by name."""
    return {name: text.strip() for name, text in NAMED.findall(_read("statements.sql"))}


def check_plans(session: SqlSession, wanted: Mapping[str, str]) -> None:
    """That no generic plan, which is the one of a prepared statement that is used often, reads a large table whole.

    Raises:
        ServiceError: one does; it names statement and table.
    """
    session.run("SET plan_cache_mode = force_generic_plan")
    try:
        for name, text in wanted.items():
            rows = {table: float(count or 0) for table, count in session.run(ROWS)}
            for table in sequential_scans(plan_of(session, name, text)):
                if rows.get(table, 0.0) >= LARGE:
                    raise ServiceError(
                        f"statement {name} reads all {rows[table]:.0f} rows of {table}", "plan", "add an index; EXPLAIN shows the plan"
                    )  # fmt: skip
    finally:
        session.run("RESET plan_cache_mode; DEALLOCATE ALL")


ROWS = "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"


def plan_of(session: SqlSession, name: str, text: str) -> dict[str, Any]:
    """The generic plan of a statement, as EXPLAIN (FORMAT JSON) has it; nothing is executed."""
    session.run(f"PREPARE {name} AS {text}")
    count = max((int(number) for number in re.findall(r"\$(\d+)", text)), default=0)
    values = f"({', '.join(['NULL'] * count)})" if count else ""
    told = session.run(f"EXPLAIN (FORMAT JSON) EXECUTE {name}{values}")
    plan: dict[str, Any] = json.loads("".join(line or "" for (line,) in told))[0]["Plan"]
    return plan


def sequential_scans(plan: Mapping[str, Any]) -> Iterator[str]:
    """The tables that a plan reads whole."""
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from sequential_scans(part)


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
