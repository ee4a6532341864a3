"""What every test here shares: labs need root, and no test stands in the way of a measurement on this machine."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress

import pytest

from sojourn.cli.stop_signals import STOPS
from sojourn.lab import cleanup_registry


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    why = "" if os.geteuid() == 0 else "needs root: network namespaces, interrupt steering"
    why = why or ("" if shutil.which("ip") else "needs the ip command (iproute2)")
    for item in items:
        if why and item.get_closest_marker("lab"):
            item.add_marker(pytest.mark.skip(reason=why))
        if item.get_closest_marker("alone") and item.path.parent.name != "live":
            raise pytest.UsageError(
                f"{item.nodeid}: marked `alone`, which make test-alone looks for in tests/live only; move it there"
            )


@pytest.fixture(autouse=True)
def own_lock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test takes a lock of its own, as the commands that it starts do (live/machine.py); one marked `alone` that of the machine."""
    if request.node.get_closest_marker("alone"):
        yield
        return
    own = f"lock-test-{os.getpid()}"
    monkeypatch.setenv("SOJOURN_TEST_LOCK", own)
    monkeypatch.setattr(cleanup_registry, "MACHINE", f"\0sojourn-{own}")
    monkeypatch.setattr(cleanup_registry, "LOCK", own)
    yield
    for place in cleanup_registry.places():
        with suppress(OSError):
            (place / own).unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def own_handlers() -> Iterator[None]:
    """A command line that a test runs in this process ends with signals ignored, which all later children would inherit."""
    before = {number: signal.getsignal(number) for number in STOPS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
