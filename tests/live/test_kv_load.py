"""Loads on memcached, live: what the generator counts is what the server counts, and wrong answers are told."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import InputError, SojournError
from sojourn.lab.embedded_kv import EmbeddedKv
from sojourn.lab.worker_process import WorkerProcess
from sojourn.load.kv_load import kv_load
from sojourn.measure import execute_run
from sojourn_cases.common.memcached import Memcached, start_server

pytestmark = pytest.mark.live
Server = Memcached | EmbeddedKv
REAL = pytest.param(
    Memcached, marks=pytest.mark.skipif(not shutil.which("memcached"), reason="memcached is not installed")
)


@pytest.fixture(params=[REAL, EmbeddedKv])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    one = request.param(memory_bytes=64 << 20)
    yield one
    one.stop()


def talk(server: Server, text: bytes, size: int = 1 << 30) -> bytes:
    """What the server says to `text`, sent in pieces of `size`, to its end."""
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        whole = text + b"quit\r\n"
        for at in range(0, len(whole), size):
            connection.sendall(whole[at : at + size])
        return b"".join(iter(lambda: connection.recv(65536), b""))


def counted(server: Server) -> dict[str, int]:
    """The server's own counts."""
    lines = [line.split() for line in talk(server, b"stats\r\n").decode().splitlines() if line.startswith("STAT")]
    return {name: int(value) for _, name, value in lines if value.isdigit()}


def load(folder: Path, urls: list[str], **options: Any) -> dict[str, Any]:
    """Runs a load; the generator's summary with the frame of its records as `rows`."""
    done = execute_run.execute(folder / "run", kv_load(urls, **options), what={"name": "run"})
    records = done.frame("requests")
    assert records is not None
    return done.manifest["generator"] | {"rows": records, "manifest": done.manifest}


def test_both_sides_count_the_same(server: Server, tmp_path: Path) -> None:
    mix: dict[str, Any] = {"set_weight": 2, "get_weight": 8, "multi_get": "2-10", "multi_get_share": 0.5}
    load_ = load(tmp_path, [server.url], connections=6, threads=2, think_s=1e-3, duration_s=1.0, keys=500,
                 key_pattern="zipf:1.1", key_bytes="20-80", value_bytes="0:1,10:1,5000:1,70000:1", **mix)  # fmt: skip
    kv, seen = load_["kv"], counted(server)
    classes = {name: figures["ok"] for name, figures in kv["classes"].items()}
    assert load_["failures"] == {} and load_["ok"] == load_["requested"] == sum(classes.values())
    assert (kv["populated"], kv["misses"], kv["wrong"]) == (500, 0, 0)
    assert seen["cmd_set"] == 500 + classes["set"]
    assert seen["cmd_get"] == kv["keys_asked"] == kv["hits"] == seen["get_hits"]
    assert kv["keys_asked"] > 3 * classes["multi-get"], "six keys on average"
    rows = load_["rows"]
    names = load_["manifest"]["records"]["requests"]["classes"]
    assert {name: int((rows["class"] == k).sum()) for k, name in enumerate(names)} == classes
    assert int(rows.filter(rows["class"] > 0)["status"].sum()) == kv["hits"]
    for figures in kv["classes"].values():
        histogram = figures["histogram"]
        assert sum(histogram["counts"]) + histogram["overflow"] == figures["ok"] == figures["latency"]["count"]
        assert figures["latency"]["p50_s"] <= figures["p75_s"] <= figures["latency"]["p99_s"]


def test_an_open_loop_asks_for_what_is_due(server: Server, tmp_path: Path) -> None:
    load_ = load(tmp_path, [server.url], rate_per_s=1000.0, connections=4, duration_s=1.0, keys=50, get_weight=1)
    # Poisson(1000): sigma is 32.
    assert abs(load_["requested"] - 1000) < 150
    assert load_["ok"] == load_["requested"] and load_["kv"]["wrong"] == 0


def test_misses_are_counted_and_are_no_failures(server: Server, tmp_path: Path) -> None:
    options: dict[str, Any] = {"connections": 2, "think_s": 1e-3, "duration_s": 0.5, "set_weight": 0, "populate": False}
    kv = load(tmp_path, [server.url], multi_get=3, **options)["kv"]
    assert kv["keys_asked"] == kv["misses"] == 3 * kv["classes"]["multi-get"]["ok"] > 0
    assert kv["classes"]["multi-get"]["failed"] == 0


def test_a_wrong_value_is_told(server: Server, tmp_path: Path) -> None:
    options: dict[str, Any] = {"connections": 2, "think_s": 1e-3, "duration_s": 0.5, "keys": 10, "value_bytes": 100}
    load(tmp_path / "first", [server.url], set_weight=1, get_weight=0, **options)
    key = b"sojourn-4"
    value = talk(server, b"get " + key + b"\r\n").split(b"\r\n", 1)[1][:100]
    changed = value[:-1] + bytes([value[-1] ^ 1])
    assert talk(server, b"set " + key + b" 0 0 100\r\n" + changed + b"\r\n") == b"STORED\r\n"
    options |= {"set_weight": 0, "populate": False}
    told = load(tmp_path / "second", [server.url], **options)
    asked = round(told["requested"] / 10)
    # Binomial(n, 1/10)
    assert abs(told["failures"]["wrong"] - asked) < 5 * asked**0.5 + 1
    assert told["kv"]["wrong"] == told["failures"]["wrong"] and told["manifest"]["valid"] is False
    trusting = load(tmp_path / "third", [server.url], verify=False, **options)
    assert trusting["failures"] == {} and trusting["kv"]["verified"] is False


def test_clients_are_dealt_out_over_targets(tmp_path: Path) -> None:
    one, two = EmbeddedKv(), EmbeddedKv()
    try:
        load_ = load(tmp_path, [one.url, two.url], connections=5, think_s=2e-3, duration_s=1.0, keys=20)
        rows = load_["rows"]
        assert set(rows["user"].unique()) == set(range(5))
        for server, users in ((one, (0, 2, 4)), (two, (1, 3))):
            asked = int(rows.filter(rows["user"].is_in(users)).height)
            seen = counted(server)
            assert seen["cmd_get"] + seen["cmd_set"] == 20 + asked
        assert load_["kv"]["populated"] == 40
    finally:
        one.stop()
        two.stop()


CONVERSATION = [
    b"get a\r\n", b"set a 5 0 2\r\nhi\r\n", b"get a b a\r\n", b"gets none\r\n", b"add a 0 0 1\r\nx\r\n",
    b"replace b 0 0 1\r\nx\r\n", b"append a 9 0 1\r\n!\r\n", b"prepend a 9 0 1\r\n<\r\n", b"get a\r\n",
    b"cas b 6 0 2 1\r\nho\r\n", b"cas a 6 0 2 18446744073709551615\r\nho\r\n", b"set n 0 0 2\r\n10\r\n",
    b"decr n 1\r\n", b"incr n 18446744073709551615\r\n", b"decr n 100\r\n", b"incr a 1\r\n", b"incr none 1\r\n",
    b"touch a 100\r\n", b"touch none 1\r\n", b"gat 100 a\r\n", b"delete a\r\n", b"delete a\r\n",
    b"set q 0 0 1 noreply\r\nq\r\n", b"get q\r\n", b"set q 0 -1 1\r\nq\r\n", b"get q\r\n", b"set q 0 0 0\r\n\r\n",
    b"get q\r\n", b"delete q noreply\r\n", b"flush_all noreply\r\n", b"verbosity 1\r\n", b"nonsense\r\n", b"get\r\n",
    b"set x 0 0\r\n", b"set x 0 0 1048577\r\n" + b"x" * 1048577 + b"\r\n", b"flush_all\r\n",
]  # fmt: skip


@pytest.mark.skipif(not shutil.which("memcached"), reason="memcached is not installed")
def test_the_embedded_server_says_what_memcached_says() -> None:
    real, ours = Memcached(), EmbeddedKv()
    try:
        for line in CONVERSATION:
            assert talk(ours, line) == talk(real, line), line[:60]
        together = b"".join(CONVERSATION)
        answers = talk(real, together)
        assert talk(ours, together) == answers
        small = b"".join(line for line in CONVERSATION if len(line) < 1000)
        answers = talk(real, small)
        for size in (1, 7, 50):
            assert talk(ours, small, size) == answers
    finally:
        real.stop()
        ours.stop()


def test_memory_is_kept_within_its_limit(tmp_path: Path) -> None:
    server = EmbeddedKv(memory_bytes=1 << 20)
    try:
        kv = load(tmp_path, [server.url], connections=2, think_s=1e-3, duration_s=0.5, keys=2000, set_weight=0)["kv"]
        seen = counted(server)
        assert seen["bytes"] <= 1 << 20 and seen["evictions"] > 900
        assert kv["misses"] > 0 and kv["wrong"] == 0
    finally:
        assert server.stop()["kind"] == "embedded"


@pytest.mark.parametrize("kind", [REAL, EmbeddedKv])
def test_a_server_is_pinned_and_gone_when_stopped(kind: Callable[..., Server]) -> None:
    server = kind(core=0)
    (pid,) = server.pids.values()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        assert "Cpus_allowed_list:\t0\n" in (thread / "status").read_text()
    server.stop()
    assert not Path(f"/proc/{pid}").exists()


def test_where_memcached_is_missing_the_embedded_server_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    server = start_server(threads=1, memory_bytes=1 << 20)
    assert server.kind == server.stop()["kind"] == "embedded"
    with pytest.raises(SojournError, match="not installed"):
        Memcached()


def test_values_that_the_server_refuses_end_the_run_before_it_begins(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SojournError, match="too large"):
        load(tmp_path, [server.url], value_bytes=2 << 20, duration_s=0.5)
    assert not (tmp_path / "run").exists()


def test_the_command_line(server: Server) -> None:
    runner = CliRunner()
    asked = [
        "--connections",
        "4",
        "--set-weight",
        "1",
        "--get-weight",
        "9",
        "--keys-per-multi-get",
        "6",
        "--duration",
        "1s",
        "--think",
        "1ms",
    ]
    said = runner.invoke(command_line(), ["load", server.url, *asked])
    assert "multi-get" in said.output and "0 misses, 0 wrong" in said.output, said.output
    with pytest.raises(InputError, match="--key-count: no option of http"):
        runner.invoke(command_line(), ["load", "http://127.0.0.1:1/", "--key-count", "5"], catch_exceptions=False)
    with pytest.raises(InputError, match="--connections: 0"):
        runner.invoke(command_line(), ["load", server.url, "--connections", "0"], catch_exceptions=False)
    with pytest.raises(SojournError, match="not both"):
        runner.invoke(
            command_line(), ["load", server.url, "http://127.0.0.1:1/", "--rate", "1"], catch_exceptions=False
        )


@pytest.mark.parametrize("kind", [REAL, EmbeddedKv])
def test_a_server_ends_with_the_process_that_started_it(kind: type[Server]) -> None:
    code = (
        f"import os, time; from {kind.__module__} import {kind.__name__} as Kind; server = Kind(); "
        "print(*server.pids.values(), flush=True); os._exit(1)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    pid = int(said.stdout)
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes():
        assert time.monotonic() < deadline, f"{pid} is still there"
        time.sleep(0.05)


@pytest.mark.parametrize("design", ["direct", "staged"])
def test_through_a_proxy_that_shares_multi_gets_out_nothing_is_lost(design: str, tmp_path: Path) -> None:
    servers = [EmbeddedKv() for _ in range(3)]
    config = {"listen": "127.0.0.1:0", "servers": [server.address for server in servers], "design": design,
              "workers": 8, "sharded": True}  # fmt: skip
    proxy = WorkerProcess("kv-proxy", {"kv-proxy": config})
    try:
        url = f"memcached://{proxy.ready()['address']}"
        load_ = load(tmp_path, [url], connections=8, duration_s=1.0, keys=200, get_weight=9, multi_get="1-9")
        told = proxy.result()["summary"]
        assert load_["failures"] == {} and (load_["kv"]["misses"], load_["kv"]["wrong"]) == (0, 0)
        assert told["completions"] == 200 + load_["ok"] and told["errors"] == 0
        assert [server["reconnects"] for server in told["servers"]] == [0, 0, 0]
        sets = load_["kv"]["classes"]["set"]["ok"]
        assert [counted(server)["cmd_set"] for server in servers] == [200 + sets] * 3
        assert sum(counted(server)["get_hits"] for server in servers) == load_["kv"]["hits"]
    finally:
        proxy.close()
        for server in servers:
            server.stop()
