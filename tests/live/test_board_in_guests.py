"""The bulletin board in two guests: a page comes through both, and both accounts of their virtual CPUs are there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest

from sojourn.lab import guest_parts, in_namespace
from sojourn_cases.ntier.bulletin_cluster import bulletin_cluster
from sojourn_cases.ntier.guest_tiers import FRONT_PORT, GuestTiers, sampled

pytestmark = [pytest.mark.live, pytest.mark.alone, pytest.mark.lab]
PAGES = 5


def test_a_page_comes_through_both_guests() -> None:
    """The database guest has no NIC but the link, so rows of a page crossed it. Its one virtual CPU ran no longer than time passed."""
    if missing := guest_parts().missing("tcg"):
        pytest.skip(f"not installed: {', '.join(missing)}")
    with (
        bulletin_cluster(0.001, 1) as cluster,
        GuestTiers.started(
            guest_parts(), "tcg", cluster, {"front": [0], "database": [0]}, cpus=1, memory_mib=(384, 768), port=None, workers=4, pool=4,
            page_work_s=0.0, settings={}, interval_s=0.1,
        ) as tiers,
    ):  # fmt: skip
        network = tiers.network
        assert network
        before, began_s = sampled(tiers.guests)["guest_threads"], time.monotonic()

        def ask(path: str) -> Callable[[], None]:
            def asked() -> None:
                with urlopen(f"http://10.0.1.15:{FRONT_PORT}/{path}", timeout=20) as answer:
                    assert answer.status == 200 and b"<html" in answer.read().lower()

            return asked

        for _ in range(PAGES):
            in_namespace(network, ask("StoriesOfTheDay"))
        after, took_s = sampled(tiers.guests)["guest_threads"], time.monotonic() - began_s
        used = {name: after[name]["run_s"] - before[name]["run_s"] for name in before}
        assert 0 < used["database CPU 0"] <= took_s * 1.01 and 0 < used["front CPU 0"] <= took_s * 1.01
        assert tiers.guests["database"].interrupts()["eth0"][0] >= PAGES
        folders = [one.guest.console.parent for one in tiers.guests.values()]
    assert not any(Path(folder).exists() for folder in folders)
