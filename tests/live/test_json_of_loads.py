"""What `load --json` and `serve … --json` print has the keys that docs/reference/json.md publishes, by protocol and by service."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from json_keys import CHANGED, published, shape, together
from message_cluster import needs_postgres
from message_stand_in import StandIn
from recording import recording

from sojourn.lab.embedded_kv import EmbeddedKv

pytestmark = pytest.mark.live
BY_PROTOCOL = ("kv", "messages", "storage", "session_results")
VERSIONS = {"kv": 2, "kv-proxy": 2, "bulletin": 3, "messages": 3}
AT_TIMES = {
    "found",
    "demands_s",
    "warnings",
    "not_valid_for",
    "expected",
    "objectives",
    "agents",
}  # where there is something to say
NAMES = {"failures", "demands_s", "errors", "statuses", "by_status", "cpu_by_thread_s"}
OF_A_MACHINE = {"agents"}  # each its own summary, machine and clock
ENVIRONMENT = {**os.environ, "NO_COLOR": "1"}


def plain(found: Any, name: str = "") -> Any:
    """Without what differs from run to run: names in a table of names, and whether a list of texts is empty."""
    if isinstance(found, dict) and (name in NAMES or name == "classes"):
        values = [plain(one) for one in found.values()]
        return {"NAME": together(values) if values and name == "classes" else "value"}
    if isinstance(found, dict):
        return {key: plain(value, key) for key, value in found.items()}
    if isinstance(found, list):
        return ["value"] if not found or name in OF_A_MACHINE else [plain(one) for one in found]
    return found


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "sojourn", *map(str, words)]


def load(*words: object) -> dict[str, Any]:
    line = command("load", *words, "--for", "1s", "--json")
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, env=ENVIRONMENT)
    assert done.returncode in (0, 3, 5), (
        done.stderr
    )  # 3: this machine was busy; 5: nobody serves pages of a bulletin board here
    answer: dict[str, Any] = json.loads(done.stdout)
    assert next(iter(answer.items())) == ("schema", "sojourn.load/4")
    return answer


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    found = {}
    with recording() as http:
        found["http"] = load(f"{http.url}/", "--rate", 50, "--objective", "p99 < 10s", "--agents", "local:2")
        found["bulletin"] = load(
            "bulletin", http.url, "--users", 3, "--think", "50ms", "--ramp-up", 0, "--ramp-down", 0
        )
    kv, messages = EmbeddedKv(memory_bytes=1 << 24), StandIn()
    try:
        found["memcached"] = load(
            kv.url, "--rate", 100, "--keys-per-multi-get", 4, "--multi-get-share", 0.5, "--key-count", 50
        )
        found["messages"] = load(messages.url, "--clients", 2, "--think", "5ms")
    finally:
        kv.stop()
        messages.close()
    image = tmp_path_factory.mktemp("disk") / "disk.img"
    found["block"] = load(
        f"file:{image}", "--iops", 100, "--region-size", "4m", "--read-fraction", 0.5, "--fsync-every", 5
    )
    yield found


def test_a_load_has_its_keys(answers: dict[str, dict[str, Any]]) -> None:
    """All protocols together have all keys; each has those of the page but for other protocols', and what is said at times."""
    form = published()["sojourn.load/4"]
    shapes = {name: plain(shape(answer)) for name, answer in answers.items()}
    for name, found in shapes.items():
        assert form.keys() - found.keys() <= {*AT_TIMES, *BY_PROTOCOL}, name
    assert together([*shapes.values(), dict.fromkeys(AT_TIMES, None)]).keys() == form.keys(), CHANGED
    every = together(list(shapes.values()))
    assert every == {key: value for key, value in form.items() if key in every}, CHANGED


def served(words: list[object], used: str) -> dict[str, Any]:
    """What the service prints once it listens, was asked `used` on its port, and was told to end."""
    service = subprocess.Popen(
        command("serve", *words, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    try:
        assert service.stderr is not None and service.stdout is not None
        port = (
            words[1 + words.index("--port")]
            if "--port" in words
            else str(words[1 + words.index("--listen")]).rpartition(":")[2]
        )
        for line in service.stderr:
            if "process" in line and "serves" in line:
                break
        with socket.create_connection(("127.0.0.1", int(str(port))), timeout=5) as connection:
            connection.sendall(used.encode())
            connection.recv(1 << 16)
        service.send_signal(signal.SIGINT)
        answer: dict[str, Any] = json.loads(service.communicate(timeout=30)[0])
        return answer
    finally:
        service.kill()
        service.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port: int = one.getsockname()[1]
        return port


GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("name", ["kv", "kv-proxy", "bulletin", pytest.param("messages", marks=needs_postgres)])
def test_a_service_has_its_keys(name: str) -> None:
    listen, behind = f"127.0.0.1:{free_port()}", EmbeddedKv(memory_bytes=1 << 24)
    words: dict[str, tuple[list[object], str]] = {
        "kv": (["kv", "--port", free_port()], "get a\r\n"),
        "kv-proxy": (["kv-proxy", "--listen", listen, "--server", behind.address], "get a\r\n"),
        "bulletin": (["bulletin", "--port", free_port(), "--in-memory"], GET),
        "messages": (["messages", "--listen", listen], GET),
    }
    try:
        answer = served(*words[name])
    finally:
        behind.stop()
    form = f"sojourn.serve-{name}/{VERSIONS[name]}"
    assert next(iter(answer.items())) == ("schema", form)
    assert plain(shape(answer)) == published()[form], CHANGED
