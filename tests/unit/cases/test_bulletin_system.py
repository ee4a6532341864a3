"""What can be asked of the bulletin board's site: tiers, cores in words of the topology, options that make no sense, what is missing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError, LabError, ServiceError
from sojourn.lab import core_placement
from sojourn.lab.cpu_topology import Core
from sojourn_cases.common import postgres_programs
from sojourn_cases.common.postgres_activity import Activity
from sojourn_cases.ntier import bulletin_board, nginx
from sojourn_cases.ntier.bulletin_board import BulletinLoad, BulletinSystem, BulletinSystemOptions
from sojourn_cases.ntier.bulletin_cluster import bulletin_cluster
from sojourn_cases.ntier.serve_bulletin import bulletin

# two packages with two cores each, numbered even and odd
MACHINE = [Core(number, number % 2, number // 2, 0, str(number % 2)) for number in (0, 2, 1, 3)]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulletin_board, "all_cores", lambda: MACHINE)


def system(database: bool = True, **options: Any) -> BulletinSystem:
    return BulletinSystem(BulletinSystemOptions(database=database, **options), BulletinLoad(users=10), Path())


def test_tiers_and_their_factors_are_those_that_it_has() -> None:
    assert system().tiers == ("nginx", "application", "database")
    assert list(system().resources) == ["client", "nginx", "application", "database", "cpu"]
    assert system(False).tiers == ("nginx", "application")
    of_database = {"pool", "synchronous_commit"}
    assert of_database <= set(system().factors) and not of_database & set(system(False).factors)


def test_tiers_share_their_cores_and_the_client_has_the_others() -> None:
    cores = system().cores(system().settled({"cores": 3}, "x"))
    assert set(cores.tiers.values()) == {(0, 2, 1)} and cores.client == (3,) and not cores.client_shares
    assert system().cores(system().settled({}, "x")).client_shares, "it has all cores where none is left"
    assert system().settled({"cores": 3}, "x")["machine_cores"] == 4, "by which a model knows whether any is left"


@pytest.mark.parametrize(
    ("placement", "number", "chosen"), [("same_package", 2, (0, 2)), ("spread", 2, (0, 1)), ("own_core", 3, (0, 2, 1))]
)
def test_cores_are_chosen_in_words_of_the_topology(placement: str, number: int, chosen: tuple[int, ...]) -> None:
    assert placement in core_placement.PLACEMENTS
    assert system().cores(system().settled({"cores": number, "placement": placement}, "x")).all == chosen


def test_pinned_the_last_tier_has_half_of_the_cores_for_itself() -> None:
    pinned = {"cores": 3, "pinned": True}
    assert system().cores(system().settled(pinned, "x")).tiers == {
        "nginx": (0, 2), "application": (0, 2), "database": (1,),
    }  # fmt: skip
    assert system(False).cores(system(False).settled(pinned, "x")).tiers == {"nginx": (0, 2), "application": (1,)}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cores": 1, "pinned": True}, "give the tiers 2 cores or more"),
        ({"cores": 3, "placement": "same_package"}, "its packages have 2 and 2 processors"),
        ({"placement": "core 0"}, "give one of first, same_package, spread, own_core"),
    ],
)
def test_cores_that_cannot_be_had_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        system().settled(given, "x")


def test_options_of_a_database_that_there_is_not_are_refused() -> None:
    with pytest.raises(InputError, match="set database = true"):
        system(False, database_settings={"shared_buffers": "1GB"})
    with pytest.raises(InputError, match=r"give 0.001 to 10"):
        system(scale=0.0001)


def test_settings_of_the_study_go_before_those_of_its_factors() -> None:
    given = system(database_settings={"max_wal_size": "64MB"}).options
    assert given.server_settings({"synchronous_commit": False}) == {
        "synchronous_commit": "off", "max_wal_size": "64MB",
    }  # fmt: skip


def test_what_is_not_installed_is_told_with_the_way_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_programs, "_candidates", list)
    with pytest.raises(LabError, match=r"pip install .*; or set database = false"), system().open(None):  # type: ignore[arg-type]
        pass
    with pytest.raises(InputError, match="give a folder that is there"), bulletin_cluster(0.01, 1, Path("no/such")):
        pass
    with pytest.raises(LabError, match="or --in-memory"):
        bulletin(database="auto")
    monkeypatch.setattr(nginx.shutil, "which", lambda *_, **__: None)
    with pytest.raises(ServiceError, match="install the distribution's package nginx"), system().open(None):  # type: ignore[arg-type]
        pass


def test_a_slow_disk_has_a_rate_and_is_a_resource() -> None:
    assert "checkpoint_pause_s" in system().factors and "disk_bps" not in system().factors
    slow = system(disk="2G")
    assert "slow_disk" in slow.resources and slow.settled({}, "x")["disk_bps"] == 0
    assert slow.settled({"disk_bps": 20e6, "checkpoint_pause_s": 0.5}, "x")["disk_bps"] == 20e6
    with pytest.raises(InputError, match=r"\[system\] disk: '2 disks'; give a number of bytes"):
        system(disk="2 disks")
    with pytest.raises(InputError, match="set database = true"):
        system(False, disk="2G")


def test_an_activity_is_means_over_its_samples() -> None:
    found = Activity(counts=Counter({"Lock": 3, "IO": 1}), samples=2)
    assert found.record == {"checkpoints_s": [], "waiting": {"IO": 0.5, "Lock": 1.5}}
