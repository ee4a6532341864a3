"""A short fuzz of the message service, and that its judges see what is wrong (benches/messages/fuzz.py runs for long)."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from machine import wait_for
from message_cluster import WAYS, Service, Way

from sojourn_cases.common.postgres import Postgres

sys.path.append(str(Path(__file__).parents[2] / "benches/messages"))
from fuzz_clients import Fuzzer
from fuzz_model import Answer, Model, WrongError
from fuzz_reference import Asked, asked

MOST = 3000
QUEUE = "stem-q"


@pytest.mark.live
@pytest.mark.parametrize("redelivery_s", [None, 1.0])
@pytest.mark.parametrize("way", WAYS)
def test_every_answer_to_mutated_requests_is_the_one_that_is_due(
    postgres: Postgres, way: Way, redelivery_s: float | None
) -> None:
    postgres.run("DROP SCHEMA IF EXISTS sojourn CASCADE")
    service = Service(postgres, **way, redelivery_s=redelivery_s, message_bytes=MOST)
    try:
        fuzzers = [Fuzzer(service.address, f"test {k}", redelivery_s, MOST, lambda: False) for k in range(3)]
        for one in fuzzers:
            one.start()
        time.sleep(2.0)
        wait_for(lambda: all(one.streams > 10 for one in fuzzers))
        for one in fuzzers:
            one.halt.set()
        for one in fuzzers:
            one.join(60.0)
        assert [one.fault for one in fuzzers] == [""] * 3 and all(one.streams > 10 for one in fuzzers)
        told = service.stop()["by_status"]
        assert sum(told.values()) == sum(one.answers.total() for one in fuzzers)
    finally:
        service.close()


def answer(status: int, body: bytes = b"", **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}, body)


def stored(redelivery_s: float | None = None) -> Model:
    """Two messages, 1 from ann and 2, in one queue."""
    model = Model("stem", redelivery_s)
    model.judge(Asked("create", queue=QUEUE), answer(201), 0.0)
    model.judge(Asked("put", queue=QUEUE, sender="ann", body=b"one"), answer(201, x_message_id="1"), 0.0)
    model.judge(Asked("put", queue=QUEUE, body=b"two"), answer(201, x_message_id="2"), 0.0)
    return model


@pytest.mark.parametrize(
    "planted",
    [
        (Asked("take", queue=QUEUE), answer(204)),
        (Asked("take", queue=QUEUE), answer(200, b"two", x_message_id="2")),
        (Asked("take", queue=QUEUE), answer(200, b"oNe", x_message_id="1", x_sender="ann")),
        (Asked("take", queue=QUEUE), answer(200, b"one", x_message_id="1")),
        (Asked("take", queue=QUEUE), answer(200, b"one", x_message_id="1", x_sender="ann", x_receipt="1")),
        (Asked("take", queue=QUEUE, sender="bob"), answer(200, b"one", x_message_id="1", x_sender="ann")),
        (Asked("peek", queue=QUEUE), answer(404)),
        (Asked("put", queue=QUEUE), answer(201, x_message_id="2")),
        (Asked("put", queue="stem-none"), answer(201, x_message_id="3")),
        (Asked("create", queue=QUEUE), answer(201)),
        (Asked("drop", queue="stem-none"), answer(204)),
        (Asked("list"), answer(200, b'[{"name": "stem-q", "messages": 1}]')),
        (Asked("list"), answer(200, b"[]")),
        (Asked("acknowledge", queue=QUEUE, number=1, receipt=1), answer(204)),
        (Asked("refused", 404), answer(400, b'{"error": "x", "remedy": "y"}')),
        (Asked("put", queue="elsewhere"), answer(503)),
    ],
)
def test_a_wrong_answer_is_seen(planted: tuple[Asked, Answer]) -> None:
    with pytest.raises(WrongError):
        stored().judge(*planted, 0.0)


def test_a_message_that_comes_twice_or_too_early_is_seen() -> None:
    model = stored()
    one = answer(200, b"one", x_message_id="1", x_sender="ann")
    model.judge(Asked("take", queue=QUEUE), one, 0.0)
    with pytest.raises(WrongError):
        model.judge(Asked("take", queue=QUEUE), one, 0.0)
    lent = stored(redelivery_s=60.0)
    one = answer(200, b"one", x_message_id="1", x_sender="ann", x_receipt="7")
    lent.judge(Asked("take", queue=QUEUE), one, time.monotonic())
    with pytest.raises(WrongError):
        lent.judge(Asked("take", queue=QUEUE), one, time.monotonic())
    lent.judge(Asked("acknowledge", queue=QUEUE, number=1, receipt=7), answer(204), 0.0)
    assert list(lent.loans()) == []


@pytest.mark.parametrize(
    ("text", "due", "rest"),
    [
        # RFC 9112, 6.3: the length; 2.2: lines before a request; 9.3: whether the connection goes on.
        (
            b"\r\nPOST /queues/a%20b/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhiGET ",
            [("put", 0, False)],
            b"GET ",
        ),
        (b"GET /queues HTTP/1.0\r\n\r\nGET /queues HTTP/1.1\r\nHost: x\r\n\r\n", [("list", 0, True)], None),
        (
            b"PUT /queues/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            [("refused", 400, True)],
            None,
        ),
        (b"PUT /queues/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", [("refused", 411, True)], None),
        (
            b"GET /x HTTP/1.1\r\nHost: x\r\n\r\nPOST /queues/a/take HTTP/1.1\r\nHost: x\r\n\r\n",
            [("refused", 404, False), ("take", 0, False)],
            b"",
        ),
        (b"GET /queues HTTP/1.1\nA: b\r\n\r\n", [("refused", 400, True)], None),
        (b"x" * 16_384, [("refused", 431, True)], None),
    ],
)
def test_what_is_due(text: bytes, due: list[tuple[str, int, bool]], rest: bytes | None) -> None:
    found, used = asked(text, MOST)
    assert [(one.kind, one.status, one.close) for one in found] == due
    assert rest is None or text[used:] == rest
