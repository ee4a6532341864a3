"""Loads on a network block device, live: what the server counts, stalls, a server that dies or freezes, hostile peers."""

from __future__ import annotations

import os
import random
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError, ServiceError
from sojourn.load.block_load import block_load
from sojourn.measure.execute_run import execute
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.storage.nbd_server import EmbeddedNbd

pytestmark = pytest.mark.live
SIZE = 4 << 20
TIMEOUT_S = 1.0
GREETING = b"NBDMAGICIHAVEOPT\x00\x03"
# to an answer to GO: its size and flags (flush, FUA), then the end of the answers
AGREED = (
    struct.pack(">QIIIHQH", 0x3E889045565A9, 7, 3, 12, 0, SIZE, 0b1101) + struct.pack(">QIII", 0x3E889045565A9, 7, 1, 0)
)  # fmt: skip


def load(folder: Path, url: str, **options: Any) -> RunFolder:
    options = {"iops": 500.0, "duration_s": 1.0, "timeout_s": TIMEOUT_S, "read": 0.5, "verify": True} | options
    return execute(folder / "run", block_load(url, **options), what={"name": "run"})


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[..., EmbeddedNbd]]:
    """Starts embedded servers on one file."""
    image, started = tmp_path / "img", list[EmbeddedNbd]()
    image.write_bytes(bytes(SIZE))

    def start(**options: Any) -> EmbeddedNbd:
        started.append(EmbeddedNbd(**({"file": image} | options)))
        return started[-1]

    yield start
    for server in started:
        server.close()


def test_the_server_counts_what_the_load_counts(tmp_path: Path, disk: Callable[..., EmbeddedNbd]) -> None:
    server = disk()
    run = load(tmp_path, server.url, block="4k:1,16k:1", fsync_every=20, fua_every=7, cache_of=tmp_path / "img")
    storage, served = run.manifest["storage"], server.stop()
    generator = run.manifest["generator"]
    assert (storage["wrong"], storage["refused"], generator["failed"], storage["reconnects"]) == (0, 0, 0, 0)
    assert served["reads"] + served["writes"] == storage["due"]
    assert served["reads"] + served["writes"] + served["flushes"] == generator["ok"]
    assert served["flushes"] == served["writes"] // 20
    assert (served["errors"], served["broken"], served["connections"]) == (0, 0, 1)
    assert storage["verified"] > 0
    assert storage["cache_share"] > 0.9, "the server does not open the file past the page cache"


def test_latency_is_the_delay_that_the_server_adds(tmp_path: Path, disk: Callable[..., EmbeddedNbd]) -> None:
    server = disk(file=None, memory_bytes=SIZE, delay_s=0.02)
    storage = load(tmp_path, server.url).manifest["storage"]
    assert storage["p50_s"] >= 0.02
    assert storage["wrong"] == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_server_that_dies_or_freezes_ends_no_io_late_and_no_block_wrong(
    tmp_path: Path, disk: Callable[..., EmbeddedNbd], seed: int
) -> None:
    rng, server = random.Random(seed), disk()
    at_s, port, freeze = rng.uniform(0.2, 0.8), server.port, seed % 2 == 1
    back_s = rng.choice([0.1, 0.3, 2.0])  # 2 s: longer than the limit of an I/O

    def fault() -> None:
        time.sleep(0.5 + at_s)  # the load's own start
        if freeze:
            os.kill(server.pid, signal.SIGSTOP)
            time.sleep(back_s)
            os.kill(server.pid, signal.SIGCONT)
        else:
            server.close()
            time.sleep(back_s)
            disk(port=port)
            back.append(time.monotonic())
            over.wait(60)  # a server ends with the thread that started it

    over, back = threading.Event(), list[float]()
    thread = threading.Thread(target=fault)
    thread.start()
    try:
        run = load(tmp_path, server.url, duration_s=2.0, seed=seed + 1, span="256k")
    finally:
        over.set()
        thread.join()
    generator, storage = run.manifest["generator"], run.manifest["storage"]
    frame = run.frame("requests")
    assert frame is not None
    # a margin for a host that stands still: the limit is the generator's own clock
    assert float((frame["done_s"] - frame["intended_s"]).max()) < TIMEOUT_S + 0.5  # type: ignore[arg-type]
    assert storage["wrong"] == 0, storage["first_wrong"]
    assert storage["verified"] > 0
    assert generator["ok"] + generator["failed"] == generator["requested"]
    if back_s > TIMEOUT_S:
        assert generator["failed"] > 0
        assert not run.manifest["valid"]
    if not freeze and generator["failed"]:
        assert set(generator["failures"]) <= {"refused", "reset", "timeout", "unsent"}
    if back and back[0] < float(frame["intended_s"].max()) - 0.7:  # type: ignore[arg-type]
        assert storage["reconnects"] > 0 and not run.manifest["valid"]
        assert float(frame.filter(frame["failure"] == 0)["done_s"].max()) > back[0]  # type: ignore[arg-type]


def test_an_older_block_is_wrong(tmp_path: Path) -> None:
    """A server that acknowledges writes and forgets them."""
    with StandIn(forgetful) as url:
        run = load(tmp_path, url, span="64k")
    assert run.manifest["storage"]["wrong"] > 0
    assert "is not there" in run.manifest["storage"]["first_wrong"]
    assert not run.manifest["valid"]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not NBD"),
        (b"NBDMAGIC\x00\x00\x42\x02\x81\x86\x12\x53" + bytes(140), "not NBD"),  # before newstyle
        (GREETING + struct.pack(">QIII", 0x3E889045565A9, 7, 2**31 + 6, 0), "no such export"),
        (GREETING + struct.pack(">QIII", 0x3E889045565A9, 7, 3, 2**31), "at most 65536"),
        (GREETING + struct.pack(">QIIIH", 0x3E889045565A9, 7, 3, 2, 9) * 70, "more than 64"),
        (b"", "no answer in time"),
    ],
)
def test_a_peer_that_is_no_server_is_one_error(tmp_path: Path, sent: bytes, said: str) -> None:
    with StandIn(lambda peer: peer.sendall(sent)) as url, pytest.raises(ServiceError, match=said):
        load(tmp_path, url)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("answer", [b"garbage" * 4, struct.pack(">IIQ", 0x67446698, 0, 99), b""])
def test_answers_that_nothing_waits_for_end_the_connection_and_not_the_run(tmp_path: Path, answer: bytes) -> None:
    def hostile(peer: socket.socket) -> None:
        negotiate(peer)
        peer.recv(28)
        peer.sendall(answer)

    with StandIn(hostile) as url:
        run = load(tmp_path, url, duration_s=0.5)
    assert (run.manifest["generator"]["ok"], run.manifest["valid"]) == (0, False)
    assert run.manifest["storage"]["wrong"] == 0


def test_what_the_export_cannot_do_is_refused(tmp_path: Path, disk: Callable[..., EmbeddedNbd]) -> None:
    with pytest.raises(InputError, match="below the span"):
        load(tmp_path, disk().url, span="8m")
    with pytest.raises(ServiceError, match="memory and file"):
        disk(memory_bytes=SIZE)


def negotiate(peer: socket.socket) -> None:
    """Agrees, whatever the client asks for."""
    peer.sendall(GREETING)
    peer.recv(4096)
    peer.sendall(AGREED)


def forgetful(peer: socket.socket) -> None:
    negotiate(peer)
    with peer.makefile("rb") as stream:
        while len(head := stream.read(28)) == 28:
            _, _, kind, cookie, _, length = struct.unpack(">IHHQQI", head)
            if kind == 1:
                stream.read(length)
            peer.sendall(struct.pack(">IIQ", 0x67446698, 0, cookie) + (bytes(length) if kind == 0 else b""))


class StandIn:
    """Listens, and does `what` with each connection; the URL inside."""

    def __init__(self, what: Callable[[socket.socket], None]) -> None:
        self.what, self.listener = what, socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        held = []
        while True:
            try:
                peer, _ = self.listener.accept()
                held.append(peer)  # open to the end: silence is not a hang-up
                peer.settimeout(5)
                self.what(peer)
            except OSError:
                if self.listener.fileno() < 0:
                    return

    def __enter__(self) -> str:
        self.thread.start()
        return f"nbd://127.0.0.1:{self.listener.getsockname()[1]}"

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(6)
