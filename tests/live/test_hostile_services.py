"""Services that answer as no service should, measured and studied: one clear error with exit code 5, in bounded time, nothing left, and
nothing of what they say goes to the terminal as control characters. `load` against more of them: crates/loadgen/tests/failures.rs."""

from __future__ import annotations

import os
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from machine import Command
from test_bad_input import one_message

from sojourn.runs.run_folder import RunFolder

pytestmark = pytest.mark.live
GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
OSC_52 = b"\x1b]52;c;aGFsbG8=\x07"  # writes the clipboard of many terminals
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
STUDY = """
name = "hostile"
title = "A service that means no good"
[system]
kind = "url"
url = "{url}"
[load]
for = "1s"
timeout_s = 1
connections = 8
[[section]]
name = "ramp"
vary = {{ rate_per_s = [30, 60] }}
"""
Talk = Callable[[socket.socket], object]


def always(*parts: bytes, for_ever: bytes = b"") -> Talk:
    """Answers each request by these bytes, and then without an end by others."""

    def talk(client: socket.socket) -> None:
        heard = b""
        while more := client.recv(65536):
            heard += more
            while b"\r\n\r\n" in heard:
                heard = heard.partition(b"\r\n\r\n")[2]
                client.sendall(b"".join(parts))
                while for_ever:
                    client.sendall(for_ever)

    return talk


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.recv(65536)


def drips(client: socket.socket) -> None:
    client.recv(65536)
    for byte in GOOD * 100:
        client.sendall(bytes([byte]))
        time.sleep(0.3)


HOSTILE: dict[str, Talk] = {
    "closes": lambda client: client.recv(65536),
    "resets": reset,
    "is silent": lambda client: time.sleep(60),
    "drips": drips,
    "random bytes": always(os.urandom(500)),
    "a header without an end": always(b"HTTP/1.1 200 OK\r\nX: ", for_ever=b"a" * 65536),
    "100 Continue for ever": always(for_ever=b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "a body without an end": always(b"HTTP/1.1 200 OK\r\n\r\n", for_ever=b"x" * 65536),
    "chunks without an end": always(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", for_ever=b"1000\r\n" + b"x" * 4096 + b"\r\n"
    ),
    "a chunk of 2^80 bytes": always(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000000000000000000\r\nab"
    ),
    "a length of 1 EiB": always(b"HTTP/1.1 200 OK\r\nContent-Length: 1152921504606846976\r\n\r\nok"),
    "control characters": always(b"HTTP/1.1 500 " + OSC_52 + b"\r\nContent-Length: %d\r\n\r\n" % len(OSC_52) + OSC_52),
    "redirects to itself": always(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
    "two answers": always(GOOD, GOOD),
}


@contextmanager
def serving(talk: Talk) -> Iterator[str]:
    """The URL of such a service."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as server:
        threading.Thread(target=_accept, args=(server, talk), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def _accept(server: socket.socket, talk: Talk) -> None:
    with suppress(OSError):  # closed at the end
        while True:
            client = server.accept()[0]
            threading.Thread(target=_served, args=(client, talk), daemon=True).start()


def _served(client: socket.socket, talk: Talk) -> None:
    with client, suppress(OSError):
        talk(client)


@pytest.mark.parametrize("kind", HOSTILE)
def test_measure(tmp_path: Path, kind: str) -> None:
    with serving(HOSTILE[kind]) as url:
        words = ("--rate", "40", "--for", "1s", "--timeout", "1s", "--connections", "8", "--out", "run")
        command = Command(tmp_path, "measure", url, *words)
        one_message(command, 5, "requests after the warm-up failed")
    assert not CONTROL.search(command.said() + command.answered())
    kept = RunFolder.open(tmp_path / "run/rate-40").manifest
    assert kept["status"] == "complete" and not kept["valid"]


@pytest.mark.parametrize("kind", ["is silent", "random bytes", "a body without an end", "control characters"])
def test_study(tmp_path: Path, kind: str) -> None:
    with serving(HOSTILE[kind]) as url:
        (tmp_path / "study.toml").write_text(STUDY.format(url=url))
        command = Command(tmp_path, "study", "study.toml", "--out", "out")
        one_message(command, 5, "study: none of 2 runs is valid", "requests after the warm-up failed")
    assert not CONTROL.search(command.said() + command.answered())
