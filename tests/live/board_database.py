"""The bulletin board's tables in a private PostgreSQL: a fixture of the tests beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.ntier.serve_bulletin import load


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    cluster = Postgres(tmp_path_factory.mktemp("board"), durable=False)
    try:
        load(cluster, 0.02, 1)
        yield cluster.url
    finally:
        cluster.close()
