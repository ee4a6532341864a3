"""What a server may send: limits, and answers that are none, by a server beside the test that says whatever it is told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from sojourn.errors import InputError, ServiceError
from sojourn.observe.prometheus_http import MOST_POINTS, PrometheusServer, window_ends

Say = Callable[[dict[str, list[str]]], tuple[int, bytes]]


@pytest.fixture
def served() -> Iterator[Callable[[Say], PrometheusServer]]:
    started: list[HTTPServer] = []

    def start(say: Say) -> PrometheusServer:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                code, body = say(parse_qs(urlsplit(self.path).query))
                self.send_response(code)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        started.append(server)
        name = f"127.0.0.1:{server.server_port}"
        return PrometheusServer(f"http://{name}", f"prometheus://{name}", 5.0, 2**20)

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def _matrix(*series: list[tuple[float, str]]) -> bytes:
    return json.dumps(
        {"status": "success", "data": {"result": [{"metric": {}, "values": one} for one in series]}}
    ).encode()


def test_long_times_are_asked_in_parts(served: Callable[[Say], PrometheusServer]) -> None:
    asked: list[tuple[float, float]] = []

    def say(query: dict[str, list[str]]) -> tuple[int, bytes]:
        start, end, step = (float(query[name][0]) for name in ("start", "end", "step"))
        asked.append((start, end))
        times = np.arange(start, end + step / 2, step)
        return 200, _matrix([(float(t), str(t)) for t in times])

    ends = 10.0 * np.arange(1, 2 * MOST_POINTS + 3)
    assert np.array_equal(served(say).series("x", ends, 10.0), ends)
    assert len(asked) == 3
    assert all((end - start) / 10 + 1 <= MOST_POINTS for start, end in asked)


def test_values_that_are_none_are_nan(served: Callable[[Say], PrometheusServer]) -> None:
    server = served(lambda _: (200, _matrix([(10.0, "1.5"), (20.0, "NaN"), (30.0, "+Inf"), (990.0, "7")])))
    found = server.series("x", np.array([10.0, 20.0, 30.0, 40.0]), 10.0)
    assert found[0] == 1.5
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize(
    ("code", "body", "error", "said"),
    [
        (200, b"<html>", ServiceError, "no JSON"),
        (200, b"[]", ServiceError, "another form"),
        (200, b'{"status":"success","data":{}}', ServiceError, "no result"),
        (200, b'{"status":"success","data":{"result":[{"values":[["a","b"]]}]}}', ServiceError, "values that are none"),
        (200, _matrix([(1.0, "1")], [(1.0, "2")]), InputError, "2 series"),
        (400, b'{"status":"error","error":"parse error: unexpected }"}', InputError, "parse error"),
        (
            200,
            b'{"status":"success","data":{"result":[{"values":[[1e999,"1"]]}]}}',
            ServiceError,
            "a time that is none",
        ),
        (200, b'{"status":"success","data":{"result":[{"values":[[NaN,"1"]]}]}}', ServiceError, "a time that is none"),
        (200, b"[" + b"1" * 5000 + b"]", ServiceError, "no JSON"),
        (200, b" " * (2**20 + 1), ServiceError, "more than 1 MiB"),
        (500, b"", ServiceError, "HTTP 500"),
    ],
)
def test_an_answer_that_is_none_is_named(
    served: Callable[[Say], PrometheusServer], code: int, body: bytes, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        served(lambda _: (code, body)).series("x", np.array([1.0, 2.0]), 1.0)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(ServiceError, match="prometheus://127.0.0.1:9"):
        PrometheusServer.of("prometheus://127.0.0.1:9").names()


@pytest.mark.parametrize(
    "text", ["prometheus://", "http://h:9090", "prometheus://me:secret@h", "prometheus://h/?q=1", "prometheus://[x"]
)
def test_a_url_that_is_none_of_a_server_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="prometheus://HOST"):
        PrometheusServer.of(text)


def test_windows_are_whole_and_on_multiples_of_their_length() -> None:
    assert window_ends(130.0, 400.0, 60.0).tolist() == [240.0, 300.0, 360.0]
    assert window_ends(120.0, 240.0, 60.0).tolist() == [180.0, 240.0]
    with pytest.raises(InputError, match="windows"):
        window_ends(0.0, 1e9, 60.0)


@pytest.mark.parametrize("window_s", [1.0, 1.1, 7.0, 60.0, 0.3 * 1000, 3600.0, 86400.0])
def test_so_they_are_at_times_of_today(window_s: float) -> None:
    k = 1_795_000_000 // window_s
    found = window_ends(window_s * k, window_s * (k + 3), window_s)
    assert found.tolist() == [window_s * (k + 1), window_s * (k + 2), window_s * (k + 3)]


Write = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def speaking() -> Iterator[Callable[[Write], PrometheusServer]]:
    """A server that writes its answers by hand, and has a second for each."""
    started: list[HTTPServer] = []

    def start(write: Write) -> PrometheusServer:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with suppress(OSError):  # nobody listens any more
                    write(self)

            def log_message(self, *_: Any) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        started.append(server)
        name = f"127.0.0.1:{server.server_port}"
        return PrometheusServer(f"http://{name}", f"prometheus://{name}", 1.0)

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def test_an_answer_that_comes_byte_by_byte_has_the_same_time(
    speaking: Callable[[Write], PrometheusServer],
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(30):
            handler.wfile.write(b" ")
            time.sleep(0.1)
        handler.wfile.write(_matrix([(1.0, "1")]))

    with pytest.raises(ServiceError, match="no whole answer within 1 s"):
        speaking(drip).series("x", np.array([1.0, 2.0]), 1.0)


def test_an_error_whose_text_does_not_come_is_one(speaking: Callable[[Write], PrometheusServer]) -> None:
    def silent(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(400)
        handler.send_header("Content-Length", "10")
        handler.end_headers()
        time.sleep(1.5)

    with pytest.raises(ServiceError, match="in time"):
        speaking(silent).names()


def test_an_answer_that_leads_elsewhere_is_not_followed(speaking: Callable[[Write], PrometheusServer]) -> None:
    asked = []

    def lead(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        handler.send_response(302)
        handler.send_header("Location", "/elsewhere")
        handler.end_headers()

    with pytest.raises(ServiceError, match="HTTP 302"):
        speaking(lead).names()
    assert len(asked) == 1


def test_a_host_that_cannot_be_is_named() -> None:
    with pytest.raises(ServiceError, match="prometheus://aaa"):
        PrometheusServer.of(f"prometheus://{'a' * 70}.example:9090").names()
