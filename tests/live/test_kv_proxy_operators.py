"""What an operator of the proxy sees: servers that are down at the start, the log, health, clients that speak otherwise."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kv_cluster import Memcached, Proxy, needs_memcached
from machine import wait_for

pytestmark = [pytest.mark.live, needs_memcached]

Start = Callable[..., Proxy]


@pytest.fixture
def servers() -> Iterator[list[Memcached]]:
    started = [Memcached() for _ in range(3)]
    yield started
    for server in started:
        server.close()


@pytest.fixture(params=["direct", "staged"])
def start(request: pytest.FixtureRequest, servers: list[Memcached], tmp_path: Path) -> Iterator[Start]:
    proxies: list[Proxy] = []

    def begin(**settings: Any) -> Proxy:
        proxies.append(Proxy(servers, tmp_path / "log", design=request.param, workers=2, **settings))
        return proxies[-1]

    yield begin
    for proxy in proxies:
        proxy.close()


def page(proxy: Proxy, path: str) -> str:
    with urllib.request.urlopen(f"http://{proxy.ready['metrics']}/{path}") as reply:
        return str(reply.read().decode())


def test_it_starts_without_one_server_and_takes_it_in_when_it_comes(
    start: Start, servers: list[Memcached], tmp_path: Path
) -> None:
    servers[1].stop()
    proxy, log = start(metrics="127.0.0.1:0"), tmp_path / "log"
    up = f'kv_proxy_server_up{{server="{servers[1].address}"}}'
    with proxy.talk() as talk:
        assert talk.ask(b"get x\r\n") == talk.ask(b"gets x\r\n") == b"END\r\n"
        assert talk.ask(b"set x 0 0 1\r\n1\r\n") == b"SERVER_ERROR a server is down: nothing was written\r\n"
        assert f"{up} 0\n" in page(proxy, "metrics") and page(proxy, "readyz") is not None
        assert f'warn server_down server="{servers[1].address}" reason="cannot be reached"\n' in log.read_text()
        servers[1].start()
        wait_for(lambda: talk.ask(b"set x 0 0 1\r\n1\r\n") == b"STORED\r\n")
    wait_for(lambda: f"{up} 1\n" in page(proxy, "metrics"))
    assert f'info server_up server="{servers[1].address}"\n' in log.read_text()
    assert log.read_text().count("\n") == 2


def test_it_is_not_ready_without_any_server(start: Start, servers: list[Memcached]) -> None:
    proxy = start(metrics="127.0.0.1:0")
    page(proxy, "readyz")
    for server in servers:
        server.stop()

    def unready() -> bool:
        try:
            page(proxy, "readyz")
        except urllib.error.HTTPError as error:
            return error.code == 503
        return False

    wait_for(unready)
    page(proxy, "healthz")


def test_a_unique_number_of_another_server_is_not_taken_for_the_first_ones(
    start: Start, servers: list[Memcached]
) -> None:
    proxy = start()
    with proxy.talk() as talk:
        assert talk.ask(b"set x 5 0 1\r\n1\r\n") == b"STORED\r\n"
        servers[0].stop()
        time.sleep(0.2)
        talk.say(b"gets x\r\n")
        assert talk.until(b"END") == b"VALUE x 5 1 0\r\n1\r\nEND\r\n"
        servers[0].start()
        wait_for(lambda: talk.ask(b"set x 0 0 1\r\n2\r\n") == b"STORED\r\n")
        assert talk.ask(b"cas x 0 0 1 0\r\n3\r\n") == b"EXISTS\r\n"


def test_a_binary_client_is_told_and_logged_once(start: Start, tmp_path: Path) -> None:
    proxy, noop = start(), bytes((0x80, 0x0A)) + bytes(22)
    for _ in range(3):
        with proxy.talk() as talk:
            assert talk.ask(noop) == b"ERROR only the text protocol is spoken here\r\n"
            assert talk.is_over()
    assert (tmp_path / "log").read_text().count("warn binary_protocol_refused") == 1


def test_a_byte_now_and_then_keeps_no_connection(start: Start) -> None:
    proxy = start(idle_s=0.5)
    with proxy.talk() as slow, proxy.talk() as talk:
        begun = time.monotonic()
        with pytest.raises(OSError):
            while time.monotonic() - begun < 5:
                slow.say(b"g")
                assert talk.ask(b"get x\r\n") == b"END\r\n"
                time.sleep(0.1)
