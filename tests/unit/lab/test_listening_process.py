"""Who answers at an address of this machine, and what of a tree of processes is the service's."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from sojourn.lab.listening_process import listeners
from sojourn.lab.process_tree import service_tree


def test_this_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert os.getpid() in listeners([f"http://127.0.0.1:{port}/"])
        assert os.getpid() in listeners([f"http://localhost:{port}/a?b=c"])
    assert os.getpid() not in listeners([f"http://127.0.0.1:{port}/"])


@pytest.mark.parametrize(
    ("listening", "host", "reached"),
    [
        ("127.0.0.1", "127.0.0.1", True), ("127.0.0.2", "127.0.0.1", False), ("127.0.0.2", "127.0.0.2", True),
        ("0.0.0.0", "127.0.0.1", True), ("0.0.0.0", "[::1]", False), ("::", "127.0.0.1", True), ("::", "[::1]", True),
        ("::1", "127.0.0.1", False), ("::1", "[::1]", True), ("::ffff:127.0.0.1", "127.0.0.1", True),
    ],
)  # fmt: skip
def test_the_address_decides_not_the_port_alone(
    listening: str, host: str, reached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a socket listens to as ip(7) and ipv6(7) say: its address, all of IPv4 (0.0.0.0), all of both (::)."""
    one = SimpleNamespace(status=psutil.CONN_LISTEN, pid=4711, laddr=SimpleNamespace(ip=listening, port=8080))
    monkeypatch.setattr(psutil, "net_connections", lambda _kind: [one])
    assert listeners([f"http://{host}:8080/"]) == ((4711,) if reached else ())


@pytest.mark.parametrize(
    "url", ["http://192.0.2.1/", "http://no such host/", "http://[", "nothing"]
)  # TEST-NET-1, RFC 5737
def test_no_address_of_this_machine(url: str) -> None:
    assert listeners([url]) == ()


def stat_of(root: Path, pid: int, parent: int) -> None:
    (root / str(pid)).mkdir()
    (root / str(pid) / "stat").write_text(f"{pid} (a b) S {parent} " + "0 " * 40)


def test_children_belong_to_a_launcher_and_this_command_does_not(tmp_path: Path) -> None:
    """A shell starts a master with two workers, and this command; what this command starts is no part of the service."""
    ours = os.getpid()
    for pid, parent in (
        (900001, 1),
        (900002, 900001),
        (900003, 900002),
        (900004, 900002),
        (ours, 900001),
        (900005, ours),
        (900006, 1),
    ):
        stat_of(tmp_path, pid, parent)
    assert service_tree([900001], tmp_path) == [900001, 900002, 900003, 900004]
    assert service_tree([ours], tmp_path) == [ours]  # a server in this very process
