"""Foreign work beside a run: issue 29, point 7. `measure` said `valid yes` beside two busy loops, a study did not. One account for both."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sojourn.measure import cpu_account as cpu_account_module
from sojourn.measure.cpu_account import KnownProcesses, cpu_account

LOOP = [sys.executable, "-c", "print(1, flush=True)\nwhile True: pass"]
LOADED_S = 0.6


@pytest.fixture(autouse=True)
def beside_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many others share the cores with the loop."""
    monkeypatch.setattr(cpu_account_module, "MOST_NAMED", 1000)
    monkeypatch.setattr(cpu_account_module, "AT_REST", 0.01)
    monkeypatch.setattr(cpu_account_module, "STEADY", 0.1)


@contextmanager
def loop() -> Iterator[int]:
    one = subprocess.Popen(LOOP, stdout=subprocess.PIPE)
    try:
        assert one.stdout is not None and one.stdout.readline()
        yield one.pid
    finally:
        one.kill()
        one.wait()
        one.stdout.close()  # type: ignore[union-attr]


def counted(known: KnownProcesses) -> dict[str, Any]:
    """The account of 0.6 s."""
    manifest: Any = {}
    with cpu_account(manifest, known):
        time.sleep(LOADED_S)
    return dict(manifest["cpu_time"])


def shares(named: dict[str, float], pid: int) -> float:
    return sum(share for name, share in named.items() if name.endswith(f"({pid})"))


def test_a_loop_that_runs_without_the_load_too_is_somebody_else() -> None:
    with loop() as pid:
        found = counted(KnownProcesses({"observer": 999999999}, whole=False))
        assert shares(found["others"], pid) > 0.02, found  # a whole core where nothing else runs
        assert found["others_s"] > 0.02 * LOADED_S


def test_one_that_only_gets_what_nobody_else_wants_disturbs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spinner in a control group with `cpu.idle = 1`."""
    with loop() as pid:
        monkeypatch.setattr(cpu_account_module, "of_idle_groups", lambda: {pid})
        for whole in (False, True):
            found = counted(KnownProcesses({"observer": 999999999}, whole=whole))
            assert shares(found["others"], pid) == 0 and shares(found.get("beside", {}), pid) == 0, found


def test_one_that_is_the_service_is_not() -> None:
    with loop() as pid:
        found = counted(KnownProcesses({"observer": 999999999}, (pid,), whole=False))
    assert shares(found["others"], pid) == 0 and shares(found["used"], pid) > 0.02


def test_what_works_only_while_the_load_lasts_may_be_the_services() -> None:
    """As a database behind the web server that listens does."""
    manifest: Any = {}
    with cpu_account(manifest, KnownProcesses({"observer": 999999999}, (1,), whole=False)), loop() as pid:
        time.sleep(LOADED_S)
        inside = pid
    account = manifest["cpu_time"]
    assert not shares(account["others"], inside)
