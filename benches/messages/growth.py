"""Whether anything grows over ten minutes of puts and takes: the table, its dead rows, the time of a take.

    python benches/messages/run.py growth

Ten clients, one queue, without synchronous commit, so that more rows die in the time. A row for each minute.
"""

from __future__ import annotations

import os
import sys
import tempfile

from service import BODY_BYTES, Row, fill, loaded, serving

from sojourn_cases.common.postgres import Postgres

MINUTES, CLIENTS, STORED = 10, 10, 5000
SIZES = """
SELECT pg_total_relation_size('sojourn.message'), pg_relation_size('sojourn.message'), n_live_tup, n_dead_tup
FROM pg_stat_user_tables WHERE schemaname = 'sojourn' AND relname = 'message'"""


def measure() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        database = Postgres(folder)
        try:
            with serving(database, workers=CLIENTS, connections=CLIENTS, durability="off") as service:
                fill(database, STORED)
                for minute in range(1, MINUTES + 1):
                    seen = loaded(database, service, CLIENTS, 60)
                    total, table, live, dead = (int(value or 0) for value in database.run(SIZES)[0])
                    row: Row = {"minute": minute, "per_s": seen.operations / 60}
                    row |= {f"take_{key}_ms": value for key, value in seen.take_ms.items()}
                    rows.append(
                        row | {"total_mib": total / 2**20, "table_mib": table / 2**20, "live": live, "dead": dead}
                    )
                    print(rows[-1], file=sys.stderr, flush=True)
        finally:
            database.stop()
    return rows


def summary(rows: list[Row]) -> str:
    """A line for each minute."""
    lines = [
        "# Ten minutes of puts and takes", "",
        f"{CLIENTS} clients, one queue with about {STORED} messages of {BODY_BYTES} bytes, puts and takes in equal parts, "
        "without synchronous commit. Sizes and counts of rows are PostgreSQL's own at the end of the minute.", "",
        "| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0]),
    ]  # fmt: skip
    lines += ["| " + " | ".join(f"{float(value):.4g}" for value in row.values()) + " |" for row in rows]
    loads = os.getloadavg()
    return "\n".join([*lines, "", f"Load average at the end: {loads[0]:.1f} ({os.cpu_count()} cores).", ""])
