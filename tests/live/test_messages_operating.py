"""What an operator of the message service meets: a database that goes and returns, refuses, or whose clock jumps."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from message_cluster import Answer, Client, Service, starting

from sojourn.errors import ServiceError
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.common.postgres_protocol import PostgresSession

pytestmark = pytest.mark.live

Start = Callable[..., Service]


@pytest.fixture
def start(postgres: Postgres) -> Iterator[Start]:
    """Starts a service on a database without queues; ended after the test."""
    with starting(postgres) as begin:
        yield begin


def until(ask: Callable[[], Answer], status: int) -> Answer:
    """Asks until the answer has this status."""
    deadline = time.monotonic() + 15
    while (answer := ask()).status != status:
        assert time.monotonic() < deadline, answer
        time.sleep(0.02)
    return answer


def test_it_says_when_the_database_goes_and_returns(start: Start, postgres: Postgres, tmp_path: Path) -> None:
    """Also while no client asks for anything."""
    log = tmp_path / "log"
    service = start(complaints=log, metrics="127.0.0.1:0")

    def asked(path: str) -> Answer:
        with Client(service.ready["metrics"]) as operator:
            return operator.call("GET", path)

    assert asked("/readyz").status == asked("/healthz").status == 200
    assert b"messages_database_up 1\n" in asked("/metrics").body
    postgres.kill()
    assert b"database" in until(lambda: asked("/readyz"), 503).body
    assert asked("/healthz").status == 200 and b"messages_database_up 0\n" in asked("/metrics").body
    postgres.restart()
    until(lambda: asked("/readyz"), 200)
    events = [line.split(" ", 2) for line in log.read_text().splitlines()]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", at) for at, _, _ in events)
    told = [(level, rest.split()[0]) for _, level, rest in events]
    assert told == [("error", "database_down"), ("info", "database_up")]
    assert 'remedy="start PostgreSQL first, or check --postgresql-url"' in events[0][2]


def test_too_many_sessions_are_called_that(start: Start, postgres: Postgres) -> None:
    with ExitStack() as stack, pytest.raises(ServiceError, match="too many clients already.*max_connections"):
        try:
            for _ in range(1000):
                stack.enter_context(PostgresSession(postgres.socket, user="sojourn", database="sojourn"))
        except ServiceError:
            start().address  # noqa: B018


def test_a_database_of_another_encoding_is_refused(postgres: Postgres) -> None:
    postgres.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    service = Service(postgres, database=postgres.url.replace("/sojourn?", "/latin?"))
    with pytest.raises(ServiceError, match="its encoding is LATIN1.*ENCODING 'UTF8'"):
        service.ready  # noqa: B018


CLOCK = """
CREATE SCHEMA IF NOT EXISTS clock; DROP TABLE IF EXISTS clock.jump CASCADE; CREATE TABLE clock.jump AS SELECT interval '0' AS by;
CREATE OR REPLACE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS
    'BEGIN RETURN pg_catalog.clock_timestamp() + (SELECT by FROM clock.jump); END';
CREATE OR REPLACE FUNCTION clock.now() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS
    'BEGIN RETURN pg_catalog.now() + (SELECT by FROM clock.jump); END';
"""


@pytest.mark.parametrize("by", ["1 hour", "-1 hour"])
def test_a_clock_that_jumps_brings_nothing_back_early_or_never(start: Start, postgres: Postgres, by: str) -> None:
    postgres.run(CLOCK)
    service = start(
        redelivery_s=3.0, database=f"{postgres.url}&options=-c%20search_path%3Dclock%2Cpg_catalog", complaints=None
    )
    with service.client() as client:
        client.create("q")
        client.put("q", b"before")
        client.put("q", b"after")
        asked = time.monotonic()  # it is lent after that, and its answer may take long on a busy machine
        assert client.take("q").body == b"before"
        time.sleep(0.5)
        postgres.run(f"UPDATE clock.jump SET by = '{by}'")
        time.sleep(0.3)
        assert client.take("q").body == b"after"
        assert until(lambda: client.take("q"), 200).body == b"before"
        assert time.monotonic() - asked >= 3.0
        assert until(lambda: client.take("q"), 200).body == b"after"
