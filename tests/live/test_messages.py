"""The message service on a real PostgreSQL: what a client sees, and what it counted."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from message_cluster import WAYS, Client, Service, Way, starting

from sojourn.runs.record_logs import read_log
from sojourn_cases.common.postgres import Postgres

pytestmark = pytest.mark.live

Start = Callable[..., Service]


@pytest.fixture
def start(postgres: Postgres) -> Iterator[Start]:
    """Starts a service on a database without queues; ended after the test."""
    with starting(postgres) as begin:
        yield begin


def test_messages_come_in_their_order_and_once(start: Start) -> None:
    with start().client() as client:
        assert client.take("q").status == 404 and client.put("q", b"x").status == 404
        assert [client.create("q").status, client.create("q").status] == [201, 200]
        assert client.take("q").status == 204
        ids = [client.put("q", b"%d" % i).id for i in range(20)]
        assert ids == sorted(set(ids)) and client.queues() == {"q": 20}
        assert client.peek("q").body == client.peek("q").body == b"0"
        taken = [client.take("q") for _ in range(20)]
        assert [answer.body for answer in taken] == [b"%d" % i for i in range(20)]
        assert [answer.id for answer in taken] == ids
        assert client.take("q").status == client.peek("q").status == 204 and client.queues() == {"q": 0}


def test_messages_of_one_sender(start: Start) -> None:
    with start().client() as client:
        client.create("q")
        for i in range(6):
            client.put("q", b"%d" % i, sender=["Ann", "Bé?&=+ b"][i % 2] if i < 4 else None)
        assert client.peek("q", "Ann").headers["x-sender"] == "Ann"
        assert [client.take("q", "Ann").body for _ in range(3)] == [b"0", b"2", b""]
        assert client.take("q", "nobody").status == 204
        assert [client.take("q").body for _ in range(4)] == [b"1", b"3", b"4", b"5"]


def test_a_dropped_queue_is_gone_with_its_messages(start: Start, postgres: Postgres) -> None:
    with start().client() as client, start().client() as other:
        client.create("q")
        for _ in range(10):
            client.put("q", b"old")
        assert other.drop("q").status == 204 and other.drop("q").status == 404
        assert client.put("q", b"x").status == client.take("q").status == client.peek("q").status == 404
        client.create("q")
        assert client.take("q").status == 204
        client.put("q", b"new")
        deadline = time.monotonic() + 10
        while postgres.run("SELECT count(*) FROM sojourn.message") != [("1",)]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert client.take("q").body == b"new"


@pytest.mark.parametrize("way", WAYS)
def test_every_message_goes_to_one_taker(start: Start, way: Way) -> None:
    """Two services on one database, started at the same time; 16 clients that put and take at the same time."""
    services = [start(**way), start(**way)]
    with services[0].client() as client:
        client.create("a")
        client.create("b")
    taken: list[bytes] = []
    lock = threading.Lock()

    def work(me: int) -> None:
        with services[me % 2].client() as client:
            for i in range(60):
                assert client.put("ab"[i % 2], b"%d %d" % (me, i)).status == 201
                answer = client.take("ab"[me % 2])
                if answer.status == 200:
                    with lock:
                        taken.append(answer.body)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    with services[1].client() as client:
        for queue in "ab":
            while (answer := client.take(queue)).status == 200:
                taken.append(answer.body)
    assert sorted(taken) == sorted(b"%d %d" % (me, i) for me in range(16) for i in range(60))


@pytest.mark.parametrize("way", WAYS)
def test_a_take_that_is_not_acknowledged_comes_back(start: Start, way: Way) -> None:
    service = start(redelivery_s=0.5, **way)
    with service.client() as client:
        client.create("q")
        client.put("q", b"one", sender="me")
        client.put("q", b"two")
        first, second = client.take("q", "me"), client.take("q")
        assert [first.body, second.body, client.take("q").body] == [b"one", b"two", b""]
        assert client.acknowledge("q", first).status == 204
        assert client.acknowledge("q", first).status == 404
        deadline = time.monotonic() + 10
        while (again := client.take("q")).status == 204:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert (again.id, again.body) == (second.id, b"two")
        assert again.headers["x-receipt"] != second.headers["x-receipt"]
        refused = client.acknowledge("q", second)
        assert refused.status == 404 and refused.told["remedy"]
        assert client.acknowledge("q", again).status == 204
        assert client.take("q").status == 204
    assert service.stop()["redelivered"] == 1


def test_pipelined_requests_take_effect_and_are_answered_in_order(start: Start) -> None:
    service = start()
    with service.client() as client:
        client.create("q")
    puts = [b"POST /queues/q/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n%03d" % i for i in range(300)]
    assert service.say(b"".join(puts)) == [201] * 300
    takes = b"POST /queues/q/take HTTP/1.1\r\nHost: x\r\n\r\n" * 300
    with service.socket() as talk:
        talk.sendall(takes + b"GET /queues HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        heard = b""
        while more := talk.recv(65536):
            heard += more
    bodies = [part[-3:] for part in heard.split(b"HTTP/1.1 ")[1:-1]]
    assert bodies == [b"%03d" % i for i in range(300)]


FIELDS = [
    "'; DROP TABLE sojourn.message; --",
    "$1",
    "%s",
    "a\\'b",
    '"a"',
    "1 OR 1=1",
    "E'\\x00'",
    "{a,NULL}",
    "é 😀",
    "a/b?c#d",
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("redelivery_s", [None, 60.0])
def test_no_field_is_ever_sql(start: Start, postgres: Postgres, way: Way, redelivery_s: float | None) -> None:
    with start(**way, redelivery_s=redelivery_s).client() as client:
        for text in FIELDS:
            sender = text
            assert client.create(text).status == 201
            assert client.put(text, text.encode(), sender=sender).status == 201
            assert client.peek(text, sender).body == text.encode()
            answer = client.take(text, sender)
            assert (answer.status, answer.body, answer.headers.get("x-sender")) == (200, text.encode(), sender)
            for place in (
                f"/queues/q/messages/{quoted(text)}?receipt=1",
                f"/queues/q/messages/1?receipt={quoted(text)}",
            ):
                assert client.call("DELETE", place).status == 400
            assert client.call("GET", f"/queues?after={quoted(text)}").status == 200
        assert client.queues() == dict.fromkeys(FIELDS, 0)
        every_byte = bytes(range(256)) * 200
        assert client.put(FIELDS[0], every_byte).status == 201
        assert client.take(FIELDS[0]).body == every_byte
    assert postgres.run("SELECT number FROM sojourn.version") == [("1",)]


def quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def test_what_it_counted_is_what_clients_saw(start: Start, tmp_path: Path) -> None:
    service = start(log=str(tmp_path / "app.rec"), metrics="127.0.0.1:0")
    with service.client() as client:
        client.create("q")
        for _ in range(50):
            client.put("q", b"abc")
        for _ in range(70):
            client.take("q")
        assert client.call("GET", "/nothing").status == 404
        with Client(service.ready["metrics"]) as scraper:
            text = scraper.call("GET", "/metrics").body.decode()
    assert 'messages_completions_total{kind="take"} 50' in text and text.endswith("# EOF\n")
    assert 'messages_phase_seconds_count{phase="database"} 122' in text
    summary = service.stop()
    counted = {kind: count for kind, count in summary["by_kind"].items() if count}
    assert counted == {"create": 1, "put": 50, "take": 50, "empty": 20, "refused": 1}
    assert summary["by_status"] == {"200": 50, "201": 51, "204": 20, "404": 1}
    assert summary["arrivals"] == summary["completions"] == summary["phases"]["response"]["count"] == 122
    rows, meta = read_log(tmp_path / "app.rec")
    assert rows.height == 122 and rows["weight"].sum() == 122
    assert {meta["kinds"][kind] for kind in rows["kind"]} == set(counted)
    parts = sum(rows[f"{phase}_s"].sum() for phase in ("dispatch", "parse", "wait", "database", "respond"))
    assert parts == pytest.approx(122 * summary["phases"]["response"]["mean_s"], rel=1e-6)
    levels, _ = read_log(tmp_path / "app-levels.rec")
    assert levels["completions"].max() == 122 and levels["connections_in_use"].max() <= 8
    assert "postgresql" not in json.dumps(meta["config"])
