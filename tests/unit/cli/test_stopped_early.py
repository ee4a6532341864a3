"""Ctrl-C or SIGTERM while a service starts: nothing was measured that could be kept, and it is no failure."""

from __future__ import annotations

import signal
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from sojourn.cli.serve_common import Watched, stopped_early
from sojourn.cli.stop_signals import end_in_good_order
from sojourn.errors import ServiceError

STARTED = """
import sys
import {module} as module
def interrupted(*_, **__):
    raise KeyboardInterrupt
module.{name} = interrupted
sys.argv = ["sojourn", "serve", *{words}]
from sojourn.cli import main
main()
"""
SERVICES = [
    ("sojourn_cases.kv.middleware.kv_proxy", "KvProxy", ["kv-proxy", "--server", "127.0.0.1:1"]),
    ("sojourn_cases.storage.nbd_server", "EmbeddedNbd", ["nbd", "--ram-disk-size", "1m"]),
    ("sojourn.lab.embedded_kv", "EmbeddedKv", ["kv"]),
    ("sojourn_cases.web.web_service", "WebTestbed.start", ["web"]),
    ("sojourn_cases.ntier.bulletin_server", "BulletinService", ["bulletin", "--in-memory"]),
]


@pytest.mark.parametrize(("module", "name", "words"), SERVICES)
def test_a_service_that_is_stopped_before_it_serves(module: str, name: str, words: list[str]) -> None:
    code = STARTED.format(module=module, name=name, words=words)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "stopped before it served\n")


def test_a_service_that_was_killed_says_so_also_where_it_is_stopped_at_that_moment() -> None:
    """Found by benches/faults: it said "stopped before it served", exit code 0, after 128 requests."""

    def result() -> Any:
        signal.raise_signal(signal.SIGTERM)
        raise ServiceError("it ended", "worker process", "see its log")

    end_in_good_order()
    process = SimpleNamespace(pid=17, returncode=-9, poll=lambda: -9)
    service: Any = SimpleNamespace(worker=SimpleNamespace(process=process, result=result))
    with pytest.raises(ServiceError, match="process 17 was ended by SIGKILL; the service's counts are not known"):
        Watched("serve kv", service, str).until_stopped("it listens")


def test_a_service_that_is_interrupted_while_it_puts_things_back_is_not_one_that_never_served(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Found by benches/faults, by the third signal: "stopped before it served", exit code 0, after 124 requests."""

    def stop() -> None:
        raise KeyboardInterrupt

    process = SimpleNamespace(pid=17, returncode=0, poll=lambda: None)
    service: Any = SimpleNamespace(
        worker=SimpleNamespace(process=process, result=lambda: {"summary": {"requests": 124}})
    )
    with pytest.raises(KeyboardInterrupt), stopped_early():
        Watched("serve kv", service, str, look=stop).until_stopped("it listens")
        stop()
    said = capsys.readouterr()
    assert said.out == "it listens; process 17 serves\n{'requests': 124}\n" and said.err == ""
