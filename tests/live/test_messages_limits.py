"""Limits of the message service, clients that misbehave, and a database that goes away."""

from __future__ import annotations

import resource
import socket
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from message_cluster import WAYS, Service, Way, everything, starting

from sojourn_cases.common.postgres import Postgres

pytestmark = pytest.mark.live

Start = Callable[..., Service]
TAKE = b"POST /queues/q/take HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def start(postgres: Postgres) -> Iterator[Start]:
    """Starts a service whose only queue is `q`; ended after the test."""

    def with_q(service: Service) -> None:
        with service.client() as client:
            client.call("PUT", "/queues/q", Authorization="Bearer secret")

    with starting(postgres, with_q) as begin:
        yield begin


def put(body: bytes, *headers: bytes) -> bytes:
    lines = [b"POST /queues/q/messages HTTP/1.1", b"Host: x", *headers, b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body])


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", [400]),
        (b"POST /queues/q/messages HTTP/1.1\r\nHost: x\r\n\r\n", [411]),
        (
            b"POST /queues/q/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
            [411],
        ),
        (put(b"x" * 65_537), [413]),
        (b"POST /queues/q/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", [400]),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", [431]),
        (b"GET /queues HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 100 + b"\r\n", [431]),
        (b"GET /queues HTTP/2.0\r\n\r\n", [400]),
        (put(b"ok") + b"rubbish\r\n\r\n" + put(b"never"), [201, 400]),
        (b"GET /queues HTTP/1.1\nHost: x\n\n" + TAKE, [400]),
        (b"BREW /queues/q HTTP/1.1\r\nHost: x\r\n\r\n" + TAKE, [405, 204]),
        (b"PUT /queues/%zz HTTP/1.1\r\nHost: x\r\n\r\n" + TAKE, [400, 204]),
        (put(b"", b"X-Sender: " + b"s" * 201) + TAKE, [400, 204]),
        (put(b"", b"X-Sender: \xff\xfe") + TAKE, [400, 204]),
        (b"\r\n\r\n" + TAKE, [204]),
        (b"GET /queues HTTP/1.0\r\n\r\n" + TAKE, [200]),
        (b"GET /queues HTTP/1.1\r\n\r\n" + TAKE, [400]),
        (b"GET /queues HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n" + TAKE, [400]),
        (b"POST http://x/queues/q/take HTTP/1.1\r\nHost: x\r\n\r\n" + TAKE, [204, 204]),
        (b"GET /queues HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + TAKE, [200]),
        (b"POST /queues/q/mess", []),
        (b"", []),
    ],
)
def test_what_is_no_request_is_refused_and_harms_nobody(start: Start, text: bytes, statuses: list[int]) -> None:
    service = start()
    assert service.say(text) == statuses
    with service.client() as client:
        left = client.take("q")
        assert (left.status, left.body) in ((204, b""), (200, b"ok")) and client.take("q").status == 204


def test_a_head_that_can_no_longer_become_right_is_refused_at_once(start: Start) -> None:
    service = start()
    for text in (b"GET /queues HTTP/1.1\n", b"GET /queues HTTP/1.1\rHost", b"\x16\x03\x01\x02"):
        with service.socket() as talk:
            talk.sendall(text)
            assert talk.recv(100).startswith(b"HTTP/1.1 400 ")


def test_a_refusal_says_what_to_do(start: Start) -> None:
    with start().client() as client:
        refused = client.take("nothing")
        assert refused.told == {"error": "no queue has this name", "remedy": "create it with PUT /queues/Q"}
        assert client.call("GET", "/").told["remedy"] and client.call("POST", "/queues").told["remedy"]


def test_the_largest_message_and_leave_to_send_it(start: Start) -> None:
    service = start()
    with service.socket() as talk:
        head, body = put(b"x" * 65_536, b"Expect: 100-continue").split(b"\r\n\r\n")
        talk.sendall(head + b"\r\n\r\n")
        assert talk.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        talk.sendall(body)
        assert talk.recv(1000).startswith(b"HTTP/1.1 201 ")
    with service.client() as client:
        assert client.take("q").body == b"x" * 65_536


def test_a_token_is_asked_for(start: Start) -> None:
    service = start(token="secret")
    assert service.say(TAKE + put(b"x", b"Authorization: Bearer wrong")) == [401, 401]
    assert service.say(put(b"x", b"Authorization: Bearer secret")) == [201]


def seated(service: Service) -> socket.socket:
    """A client that was let in; before that, perhaps, one that has just left had not been missed yet."""
    deadline = time.monotonic() + 5
    while True:
        talk = service.socket()
        talk.sendall(TAKE)
        if talk.recv(100).startswith(b"HTTP/1.1 204"):
            return talk
        talk.close()
        assert time.monotonic() < deadline


def test_more_clients_than_may_be_are_told(start: Start) -> None:
    service = start(clients=5)
    held = [seated(service) for _ in range(5)]
    assert service.say(b"") == [503]
    held.pop().close()
    held.append(seated(service))
    for talk in held:
        talk.close()


def test_a_full_queue_refuses(start: Start, postgres: Postgres) -> None:
    """One worker, room for two, and a database that does not answer: of ten clients seven are refused at once."""
    service = start(workers=1, connections=1, queue=2, timeout_s=2.0)
    postgres.pause()
    try:
        talks = [service.socket() for _ in range(10)]
        for talk in talks:
            talk.sendall(TAKE)
            time.sleep(0.02)
        refused = [talk for talk in talks[3:] if b"503" in talk.recv(30)]
        assert len(refused) == 7
    finally:
        postgres.resume()
    for talk in talks:
        talk.close()


def test_slow_and_half_open_clients_keep_nobody_waiting(start: Start) -> None:
    service = start(workers=2, connections=2, idle_s=1.0)
    begun = [service.socket() for _ in range(200)]
    for place, talk in enumerate(begun):
        talk.sendall(put(b"x" * 1000)[: 1 + place * 5])
    deaf = service.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    with service.client() as client:
        for _ in range(60):
            client.put("q", b"y" * 60_000)
        deaf.sendall(TAKE * 50)
        for _ in range(20):
            assert client.call("GET", "/queues").status == 200
    for talk in begun:
        talk.settimeout(10.0)
        assert talk.recv(1) == b"", "a client that is silent is disconnected"
        talk.close()
    deaf.close()


def test_a_client_that_has_ended_its_side_is_answered(start: Start) -> None:
    service = start()
    with service.socket() as talk:
        talk.sendall(put(b"a") * 30)
        talk.shutdown(socket.SHUT_WR)
        assert everything(talk).count(b"HTTP/1.1 201") == 30


def test_ten_thousand_idle_clients(start: Start) -> None:
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 12_000:
        pytest.skip(f"{most} open files are allowed, 12000 are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    service = start()
    idle = []
    try:
        for _ in range(10_000):
            idle.append(service.socket())
        with service.client() as client:
            assert client.put("q", b"x").status == 201 and client.take("q").body == b"x"
        idle[5_000].sendall(TAKE)
        assert idle[5_000].recv(100).startswith(b"HTTP/1.1 204")
    finally:
        for talk in idle:  # without a port that is kept for a minute: the search for a free one takes longer and longer
            talk.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            talk.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))
    assert service.stop()["accepted"] >= 10_000


@pytest.mark.parametrize("way", WAYS)
def test_a_database_that_crashes_is_waited_for(start: Start, postgres: Postgres, way: Way) -> None:
    service = start(**way)
    with service.client() as client:
        stored = [client.put("q", b"%d" % i).id for i in range(20)]
        postgres.kill()
        for answer in (client.put("q", b"x"), client.take("q"), client.peek("q"), client.call("GET", "/queues")):
            assert answer.status == 503 and answer.told["remedy"] and answer.headers["retry-after"] == "1"
        postgres.restart()
        deadline = time.monotonic() + 10
        while client.peek("q").status != 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        taken = []
        while (answer := client.take("q")).status == 200:
            taken.append(answer.id)
        assert taken == stored, "what was acknowledged is there, what was refused as away is not"


def test_a_frozen_database_leaves_it_unknown(start: Start, postgres: Postgres) -> None:
    service = start(timeout_s=0.5)
    with service.client() as client, ThreadPoolExecutor(1) as pool:
        client.put("q", b"one")
        postgres.pause()
        try:
            begun = time.monotonic()
            answer = pool.submit(client.put, "q", b"two").result()
            assert answer.status == 503 and "unknown" in answer.told["error"]
            assert time.monotonic() - begun < 10
            assert client.put("q", b"three").status == 503
        finally:
            postgres.resume()
        deadline = time.monotonic() + 20
        while (taken := client.take("q")).status != 200:
            assert taken.status in (204, 503) and time.monotonic() < deadline
            time.sleep(0.05)
        assert taken.body == b"one"
    service.stop()
