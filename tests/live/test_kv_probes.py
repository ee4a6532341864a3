"""The probes of the soak (benches/kv): content with a server that is right, and never with one that is not."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from kv_cluster import Memcached, Proxy, free_port, needs_memcached

sys.path.append(str(Path(__file__).parents[2] / "benches/kv"))
from faults import schedule
from probes import Probe, Tally

pytestmark = [pytest.mark.live, needs_memcached]
Change = Callable[[bytes], bytes]
CHANGES: dict[str, Change] = {
    "two answers to one request": lambda said: said.replace(b"DELETED\r\n", b"DELETED\r\nDELETED\r\n", 1),
    "no answer": lambda said: said.replace(b"STORED\r\n", b"", 1),
    "an answer in another's place": lambda said: said.replace(b"STORED\r\nEND\r\n", b"END\r\nSTORED\r\n", 1),
    "another key": lambda said: said.replace(b"VALUE probe-0", b"VALUE probe-1", 1),
    "a wrong value": lambda said: said.replace(b"....", b"...,", 1),
    "a lost value": lambda said: b"END\r\n" if said.startswith(b"VALUE") and said.endswith(b"END\r\n") else said,
    "an error without a cause": lambda said: said.replace(b"STORED\r\n", b"SERVER_ERROR a\r\n", 1),
}


@pytest.fixture
def server() -> Iterator[Memcached]:
    started = Memcached()
    yield started
    started.stop()


def never(begin: float, end: float) -> bool:
    return False


def probed(address: str, seconds: float) -> Tally:
    """What a probe saw there; it ends by itself where something is wrong."""
    probe = Probe(address, 0, 1, never, never)
    probe.start()
    probe.join(seconds)
    return probe.stop()


@pytest.mark.parametrize("design", ["direct", "staged"])
def test_a_proxy_and_a_probe_count_the_same(server: Memcached, design: str) -> None:
    proxy = Proxy([server], design=design, workers=2)
    try:
        seen = probed(proxy.address, 2.0)
        counted = proxy.stop()
    finally:
        proxy.close()
    assert seen.faults == [] and seen.batches > 10
    assert {kind: count for kind, count in counted["by_kind"].items() if count} == dict(seen.kinds)
    assert (counted["errors"], counted["hits"], counted["misses"]) == (seen.errors, seen.hits, seen.misses)


def relay(target: Memcached, change: Change) -> str:
    """The address of a relay that changes what the server says, after a while."""
    door = socket.create_server(("127.0.0.1", free_port()))
    begun = time.monotonic()

    def copy(source: socket.socket, sink: socket.socket, changed: bool) -> None:
        try:
            while said := source.recv(1 << 20):
                sink.sendall(change(said) if changed and time.monotonic() > begun + 0.3 else said)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def accept() -> None:
        here, _ = door.accept()
        there = socket.create_connection(("127.0.0.1", target.port))
        threading.Thread(target=copy, args=(here, there, False), daemon=True).start()
        copy(there, here, True)
        door.close()

    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{door.getsockname()[1]}"


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_wrong_is_told(server: Memcached, what: str) -> None:
    seen = probed(relay(server, CHANGES[what]), 30.0)
    assert len(seen.faults) == 1


def test_faults_come_by_the_seed_one_after_the_other() -> None:
    faults = schedule(7, 600.0, 3)
    assert faults == schedule(7, 600.0, 3) != schedule(8, 600.0, 3)
    assert {fault.kind for fault in faults} > {"stop", "freeze", "kill", "stop two"} and len(faults) > 60
    for before, after in pairwise(faults):
        assert before.at_s + before.held_s < after.at_s
    assert all(len(fault.servers) == (2 if fault.kind in ("stop two", "freeze and stop") else 1) for fault in faults)
