"""What every test here shares: labs need root, and no test stands in the way of a measurement on this machine."""

from __future__ import annotations

import os
import shutil

import pytest

from sojourn.lab import cleanup_registry


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    why = "" if os.geteuid() == 0 else "needs root: network namespaces, interrupt steering"
    why = why or ("" if shutil.which("ip") else "needs the ip command (iproute2)")
    for item in items:
        if why and item.get_closest_marker("lab"):
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(autouse=True)
def own_lock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit test that takes the lock takes one of its own."""
    if not request.node.get_closest_marker("live"):
        monkeypatch.setattr(cleanup_registry, "MACHINE", f"\0sojourn-test-{os.getpid()}")
