"""Rows of the bulletin board that are made for MariaDB: those that PostgreSQL makes of the same scale and seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.ntier.apache_tomcat_mariadb.board_rows import BoardRows
from sojourn_cases.ntier.bulletin_database import TableSizes
from sojourn_cases.ntier.serve_bulletin import load

pytestmark = pytest.mark.live


@pytest.mark.parametrize("seed", [0, 1, 1234])
def test_rows_are_those_of_postgresql(tmp_path: Path, seed: int) -> None:
    rows = BoardRows(TableSizes.of(0.004), seed)
    cluster = Postgres(tmp_path, durable=False)
    try:
        load(cluster, 0.004, seed)
        for name, made in rows.tables():
            theirs = cluster.run(f"SET datestyle = iso; SELECT * FROM {name} ORDER BY id")
            ours = [tuple(str(cell) for cell in row) for row in made]
            assert len(ours) > 5 and ours == [tuple(map(_full, row)) for row in theirs], name
    finally:
        cluster.close()


def _full(cell: str | None) -> str:
    """PostgreSQL leaves out the fraction of a time that has none, and its last zeros."""
    text = cell or ""
    if len(text) >= 19 and text[4:5] == "-" and text[13:14] == ":":
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction:0<6}"
    return text
