"""Hostile clients of the message service: each is answered as it should be, and others are served rightly meanwhile."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from inspect import signature
from pathlib import Path
from urllib.parse import quote

import pytest
from machine import wait_for
from message_cluster import WAYS, Service, Way, everything

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.messages.message_server import MessagesOptions
from sojourn_cases.messages.serve_messages import messages as serve_messages

sys.path.append(str(Path(__file__).parents[2] / "benches/messages"))
from hostile_clients import Hostile, Normal

pytestmark = pytest.mark.live

Start = Callable[..., Service]
SECONDS = 1.5
LIST = "SELECT table_schema || '.' || table_name FROM information_schema.tables ORDER BY 1"
INJECTIONS = (
    "'; DROP SCHEMA sojourn CASCADE; --",
    "q'); DELETE FROM sojourn.message; --",
    "' OR '1'='1",
    '" OR ""="',
    "\\'; DELETE FROM sojourn.queue; --",
    "$1; DROP TABLE sojourn.message",
    "$$; DROP TABLE sojourn.message; $$",
    "1 UNION SELECT 1, 'x', 'y'",
    "ʼ; DROP TABLE sojourn.queue; --",
    "%27; DROP TABLE sojourn.queue; --",
    "/* x */ */",
    "%s %(x)s {} {0} :x ?",
    "pg_sleep(10)",
    "canar_",
    "%",
    "NULL",
    '{"a",NULL}',
    '","',
    "\\",
)


@pytest.fixture
def start(postgres: Postgres) -> Iterator[Start]:
    """Starts a service with the queue `hostile`; ended after the test."""
    postgres.run("DROP SCHEMA IF EXISTS sojourn CASCADE")
    services: list[Service] = []

    def begin(**settings: object) -> Service:
        services.append(Service(postgres, None, **settings))
        with services[-1].client() as client:
            client.create("hostile")
        return services[-1]

    yield begin
    for service in services:
        service.close()


@pytest.mark.parametrize(
    ("kind", "count", "seed"),
    [
        ("malformed", 1, 1),
        ("malformed", 1, 2),
        ("malformed", 1, 3),
        ("oversize", 1, 1),
        ("pipelined", 300, 1),
        ("slow", 50, 1),
        ("together", 50, 1),
        ("half_open", 300, 1),
        ("deaf", 1, 1),
        ("vanishing", 1, 1),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_others_are_served_rightly_meanwhile(start: Start, kind: str, count: int, seed: int, way: Way) -> None:
    service = start(**way)
    hostile, normal = Hostile(service.address, kind, seed, count), Normal(service.address)
    hostile.start()
    assert hostile.at_work.wait(20.0)
    normal.start()
    time.sleep(SECONDS if not way else SECONDS / 3)
    wait_for(lambda: normal.rounds > 10)
    normal.stop()
    hostile.stop()
    assert hostile.faults == [] and normal.faults == []
    assert normal.rounds > 10 and hostile.rounds > 0
    with service.client() as client:
        assert client.queues()["normal"] == 0
    assert service.stop()["by_status"].get("503", 0) == 0


@pytest.mark.parametrize("way", WAYS)
def test_every_word_is_a_name_and_none_is_sql(start: Start, postgres: Postgres, way: Way) -> None:
    service = start(redelivery_s=60.0, **way)
    tables = postgres.run(LIST)
    with service.client() as client:
        client.create("canary")
        client.put("canary", b"sings", "ann")
        for word in INJECTIONS:
            assert client.create(word).status == 201
            assert client.put(word, word.encode(), word).status == 201
            assert client.put(word, b"\0" + word.encode() + b"\xff'").status == 201
            assert client.take("canary", word).status == client.peek("canary", word).status == 204
            seen, taken = client.peek(word, word), client.take(word, word)
            assert seen.body == taken.body == word.encode() and taken.headers["x-sender"] == word
            assert client.take(word).body == b"\0" + word.encode() + b"\xff'"
        found = client.queues()
        for word in INJECTIONS:
            listed = json.loads(client.call("GET", f"/queues?after={quote(word, safe='')}").body)
            # In the order of their bytes.
            assert [one["name"] for one in listed] == sorted((n for n in found if n > word), key=str.encode)
        assert {name for name in found if name not in ("canary", "hostile")} == set(INJECTIONS)
        assert found["canary"] == 1
        for word in INJECTIONS:
            assert client.drop(word).status == 204
        assert client.queues() == {"canary": 1, "hostile": 0}
        kept = client.take("canary", "ann")
        assert kept.body == b"sings"
    assert postgres.run(LIST) == tables


@pytest.mark.parametrize("word", ["1;--", "1'", "1 OR 1=1", "0x1", "-1", "1e3", "٣", "9223372036854775808", "", "NULL"])
def test_numbers_are_numbers(start: Start, word: str) -> None:
    service = start(redelivery_s=60.0)
    with service.client() as client:
        client.put("hostile", b"x")
        taken = client.take("hostile")
        said = quote(word, safe="")
        for path in (
            f"{said}?receipt={taken.headers['x-receipt']}",
            f"{taken.id}?receipt={said}",
            f"{taken.id}?{said}=1",
        ):
            answer = client.call("DELETE", f"/queues/hostile/messages/{path}")
            assert answer.status == 400 and answer.told["remedy"]
        assert client.acknowledge("hostile", taken).status == 204


def test_no_way_in_without_the_token(start: Start) -> None:
    service = start(token="open-sesame")
    ways = [
        ("PUT", "/queues/x"), ("DELETE", "/queues/hostile"), ("GET", "/queues"), ("POST", "/queues/hostile/messages"),
        ("POST", "/queues/hostile/take"), ("GET", "/queues/hostile/peek"), ("GET", "/nowhere"),
        ("DELETE", "/queues/hostile/messages/1?receipt=1"),
    ]  # fmt: skip
    with service.client() as client:
        for given in ({}, {"Authorization": "Bearer open-sesam"}, {"Authorization": "Bearer open-sesame1"},
                      {"Authorization": "Basic open-sesame"}, {"Authorization": "Bearer  open-sesame' OR '1'='1"}):  # fmt: skip
            for method, path in ways:
                answer = client.call(method, path, b"", **given)
                assert answer.status == 401 and "Bearer" in answer.headers["www-authenticate"], (method, path, given)
        right = {"Authorization": "Bearer open-sesame"}
        assert client.call("PUT", "/queues/x", None, **right).status == 201
        assert client.call("POST", "/queues/x/take", None, **right).status == 204


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\r\n"])
def test_no_header_that_some_readers_see_and_others_do_not(start: Start, end: bytes) -> None:
    """A lone LF may end a line (RFC 9112, 2.2): a proxy that has it so would see another request here."""
    service = start()
    within = b"POST /queues/hostile/messages HTTP/1.1\r\nHost: x\r\n\r\n"
    for line in (
        b"POST /queues/hostile/messages HTTP/1.1",
        b"POST /queues/hostile/messages HTTP/1.1\r\nHost: x\r\nX: y",
    ):
        text = b"%s%sContent-Length: %d\r\n\r\n%s" % (line, end, len(within), within)
        assert service.say(text) == [400]
    with service.client() as client:
        assert client.take("hostile").status == 204


@pytest.mark.parametrize("line", [b"GET /nowhere", b"PUT /queues/%00", b"POST /queues", b"GET /queues/none/peek"])
@pytest.mark.parametrize("way", WAYS)
def test_a_refusal_ends_the_connection_where_the_client_asked_for_it(start: Start, line: bytes, way: Way) -> None:
    """RFC 9112, 9.6: after the answer to a request with `close` the server must close, whatever that answer is."""
    service = start(**way)
    for asks in (b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b" HTTP/1.0\r\n\r\n"):
        with service.socket() as talk:
            talk.sendall(line + asks)
            # Ends without a timeout.
            head = everything(talk).partition(b"\r\n\r\n")[0].lower()
            assert head.startswith(b"http/1.1 4") and b"\r\nconnection: close" in head


@pytest.mark.parametrize(
    "last", [b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b" HTTP/1.1\r\nHost: x\r\nno(name: x\r\n\r\n"]
)
def test_behind_the_last_answer_nothing_is_done(start: Start, last: bytes) -> None:
    """RFC 9112, 9.6: no request behind `close` is processed, also where it comes just when that answer goes."""
    service = start()
    put = b"POST /queues/hostile/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
    for k in range(300):
        with service.socket() as talk:
            talk.sendall(b"GET /queues" + last)
            for _ in range(20):
                time.sleep(k % 20 * 2e-5)
                with suppress(ConnectionResetError, BrokenPipeError):
                    talk.sendall(put)
            with suppress(ConnectionResetError):
                assert len(re.findall(rb"HTTP/1\.1 \d", everything(talk))) == 1
    with service.client() as client:
        assert client.queues() == {"hostile": 0}


def test_it_listens_on_loopback_unless_told(start: Start) -> None:
    assert MessagesOptions(database="host=x").listen.startswith("127.0.0.1:")
    assert signature(serve_messages).parameters["listen"].default.startswith("127.0.0.1:")
    host, port = start().address.rsplit(":", 1)
    assert host == "127.0.0.1"
    # All of 127.0.0.0/8 is this machine: what listens everywhere would answer there.
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", int(port)), timeout=5.0)
    assert start(listen="127.0.0.2:0").address.startswith("127.0.0.2:")
