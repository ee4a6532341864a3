"""The bulletin board in two guests: its points, where virtual CPUs run, and both accounts of them; nothing is booted here."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack, nullcontext
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sojourn.errors import InputError, StudyError
from sojourn.report import Figure, Table
from sojourn.study.checked_study import read_plan
from sojourn_cases.ntier.bulletin_board import BulletinLoad
from sojourn_cases.ntier.bulletin_guests import (
    BulletinGuestOptions,
    BulletinGuestSession,
    BulletinGuestSystem,
    host_cores,
)
from sojourn_cases.ntier.guest_account import DATABASE, FRONT, GuestAccount, cores_of, guest_accounts
from sojourn_cases.ntier.guest_database import guest_database
from sojourn_cases.ntier.guest_disk import STRATEGIES, guest_disk
from sojourn_cases.ntier.guest_predictions import predicted_shares, prediction_lines, prediction_table
from sojourn_cases.ntier.guest_tiers import GuestTiers, sampled
from sojourn_cases.ntier.guest_views import GuestRun, of_configurations
from sojourn_cases.ntier.guests_analysis import guests_analysis

STUDY = Path(__file__).parents[3] / "studies/ntier-vm"


def system(**options: Any) -> BulletinGuestSystem:
    return BulletinGuestSystem(BulletinGuestOptions(**options), BulletinLoad(**{"for": 5.0}), Path())


def test_the_study_varies_users_and_where_virtual_cpus_run() -> None:
    plan, quick = read_plan(STUDY), read_plan(STUDY, quick=True)
    assert len(plan.measured) > len(quick.measured) == 7
    for one in (plan, quick):
        ways = {(point.factors["cpus"], point.factors["placement"]) for point in one.measured}
        assert ways == {(1, "apart"), (2, "shared")}
        assert {(point.factors["cpus"], point.factors["placement"]) for point in one.predicted} == {(1, "shared")}


def test_a_point_is_a_closed_loop_of_users() -> None:
    found = system().settled({"users": 5, "cpus": 2}, "here")
    assert found["cpus"] == 2 and found["placement"] == "shared" and found["users"] == 5
    with pytest.raises(InputError, match=r"set users"):
        system().settled({"rate_per_s": 5.0}, "here")
    with pytest.raises(InputError, match=r"placement = 'near'"):
        system().settled({"users": 5, "placement": "near"}, "here")


def test_virtual_cpus_share_the_hosts_cores_or_not() -> None:
    assert host_cores("shared", 2, [4, 6, 8, 9]) == {FRONT: (4, 6), DATABASE: (4, 6)}
    assert host_cores("apart", 2, [4, 6, 8, 9]) == {FRONT: (4, 6), DATABASE: (8, 9)}
    assert not system().why_not({"cpus": 1, "placement": "shared"})
    assert "placement apart needs 2000 cores" in system().why_not({"cpus": 1000, "placement": "apart"})


def test_cores_of_a_run_are_those_of_the_first_guest_then_of_the_second() -> None:
    assert cores_of(FRONT, 2) == (0, 1) and cores_of(DATABASE, 2) == (2, 3)


def host(*counters: tuple[str, str, str, float]) -> pl.DataFrame:
    """Samples at 0 and 10 s, of counters that grew by so much."""
    rows = [(t, *who, value * t / 10.0) for *who, value in counters for t in (0.0, 10.0)]
    schema = {"t_s": pl.Float64, "source": pl.String, "key": pl.String, "item": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def test_a_guest_and_the_host_disagree_by_what_was_stolen() -> None:
    """In 10 s the front guest's virtual CPU was busy for 6 s by its ticks and idle for 3, waited 1 s for a disk; its thread ran 4 s
    and waited 2 s for a core. The database was told of the 5 s that it was not given, so by its own account it was busy for 2 s of 10."""
    frame = host(
        ("cpu", "0", "user", 4.0), ("cpu", "0", "softirq", 2.0), ("cpu", "0", "idle", 3.0), ("cpu", "0", "iowait", 1.0),
        ("told_steal", "0", "", 0.0),
        ("cpu", "1", "system", 2.0), ("cpu", "1", "idle", 3.0), ("told_steal", "1", "", 5.0),
        ("guest_threads", "front CPU 0", "run_s", 4.0), ("guest_threads", "front CPU 0", "wait_s", 2.0),
        ("guest_threads", "front others", "run_s", 1.0), ("guest_threads", "front others", "wait_s", 0.0),
        ("guest_threads", "database CPU 0", "run_s", 2.5), ("guest_threads", "database CPU 0", "wait_s", 5.0),
    )  # fmt: skip
    front, behind = guest_accounts(frame, (0.0, 10.0), 1)
    assert front == GuestAccount(FRONT, 1, *map(pytest.approx, (0.6, 0.1, 0.0, 0.4, 0.2, 0.1)))  # type: ignore[arg-type]
    assert front.difference == pytest.approx(0.2)
    assert behind == GuestAccount(DATABASE, 1, *map(pytest.approx, (0.2, 0.0, 0.5, 0.25, 0.5, 0.0)))  # type: ignore[arg-type]
    assert guest_accounts(frame, (0.0, 10.0), 2) == [], "of a second virtual CPU nothing is known"


def a_run(users: int, per_s: float, front: float, behind: float, cores: int = 1, share: float = 0.5) -> GuestRun:
    """Whose guests have the given busy shares, and of the host that `share` of it."""
    accounts = tuple(
        GuestAccount(name, 1, busy, 0.0, 0.0, share * busy, busy - share * busy, 0.05)
        for name, busy in ((FRONT, front), (DATABASE, behind))
    )
    return GuestRun(users, per_s, 0.1, cores, accounts)


def test_what_each_account_says_of_the_greatest_throughput() -> None:
    """100/s with the guests 40 and 80 % busy: the second is full at 125/s. The host gave 0.2 + 0.4 cores and QEMU used 0.1: where both
    have one core it is full at 100 / 0.7, where each has its own the second is at 100 / 0.45."""
    one = a_run(5, 100.0, 0.4, 0.8)
    assert one.most_per_s(False, True) == pytest.approx(125.0)
    assert one.most_per_s(True, True) == pytest.approx(100.0 / 0.7)
    assert a_run(5, 100.0, 0.4, 0.8, cores=2).most_per_s(True, False) == pytest.approx(100.0 / 0.45)
    assert one.demand_s(FRONT, False) == pytest.approx(0.004) and one.demand_s(FRONT, True) == pytest.approx(0.002)


def test_the_report_has_both_accounts_against_the_users() -> None:
    shared = [a_run(3, 30.0, 0.2, 0.3), a_run(30, 100.0, 0.5, 0.9)]
    analysis = of_configurations({(1, "shared"): shared, (1, "apart"): [a_run(3, 30.0, 0.2, 0.2, 2, 1.0)]})
    assert (
        "1 virtual CPU each, shared, 30 users: the database guest says 90 % busy, the host gave it 45 %"
        in analysis.lines[0]
    )
    assert "1 virtual CPU each, shared: from 3 users, " in analysis.lines[1], "those below the most"
    blocks = analysis.sections[0].blocks
    first = next(one for one in blocks if isinstance(one, Figure))
    database = next(one for one in first.series if one.name == "database: by the guest")
    assert list(database.x) == [3, 30] and list(database.y) == pytest.approx([30.0, 90.0])
    each = next(one for one in blocks if isinstance(one, Table))
    assert len(each.rows) == 6
    assert of_configurations({}).lines == ("no valid run has both accounts of its guests",)


def test_the_analysis_wants_sections() -> None:
    with pytest.raises(StudyError, match="give sections"):
        guests_analysis(SimpleNamespace(), SimpleNamespace(), {})  # type: ignore[arg-type]


def test_threads_of_both_guests_are_sampled_at_one_time() -> None:
    def worker(ran_s: float) -> Any:
        return SimpleNamespace(cpu_s=lambda: {"CPU 0": ran_s, "others": 0.5}, wait_s=lambda: {"CPU 0": 0.25})

    found = sampled({FRONT: worker(1.0), DATABASE: worker(2.0)})["guest_threads"]
    assert found["front CPU 0"] == {"run_s": 1.0, "wait_s": 0.25} and found["database CPU 0"]["run_s"] == 2.0
    assert found["front others"] == {"run_s": 0.5, "wait_s": 0.0}, "a thread that came meanwhile has not waited"


def test_the_databases_files_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster is copied with our settings in the place of initdb's, and whoever reaches the server needs the password."""
    from sojourn_cases.ntier import guest_database as module

    program = tmp_path / "lib/postgresql/15/bin/postgres"
    program.parent.mkdir(parents=True)
    program.write_bytes(b"a program")
    data = tmp_path / "cluster/data"
    (data / "pg_notify").mkdir(parents=True)
    (data / "PG_VERSION").write_text("15")
    (data / "postgresql.conf").write_text("log_timezone = 'Mars/Crater'")
    (tmp_path / "cluster/password").write_text("secret")
    monkeypatch.setattr(module, "programs", lambda *_: program.parent)
    monkeypatch.setattr(module, "program_files", lambda path: {str(path).lstrip("/"): (path.read_bytes(), 0o755)})
    monkeypatch.setattr(module, "_share", lambda _: tmp_path / "none")
    cluster: Any = SimpleNamespace(folder=tmp_path / "cluster")
    made = guest_database(cluster, "10.0.100.1", 16, {"jit": "on"})
    text = made.files["board/data/postgresql.conf"][0].decode()
    assert "Mars" not in text and "listen_addresses = '10.0.100.1'" in text and "jit = 'on'" in text
    assert made.files["board/data/PG_VERSION"] == (b"15", 0o600)
    assert made.config["folders"] == [str(tmp_path / "lib/postgresql/15/lib"), "/board/data/pg_notify"]
    assert b"scram-sha-256" in made.files["board/data/pg_hba.conf"][0]
    assert made.url == "postgresql://sojourn:secret@10.0.100.1:5432/sojourn"


def test_guests_that_are_not_asked_stand_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second configuration is started beside the first, which is stopped (SIGSTOP), and goes on where it is asked again."""
    from sojourn_cases.ntier import bulletin_guests, guest_tiers

    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(guest_tiers.os, "kill", lambda pid, number: sent.append((pid, number)))
    monkeypatch.setattr(bulletin_guests.time, "sleep", lambda _: None)
    monkeypatch.setattr(bulletin_guests, "at_rest", lambda guests: {})
    started: list[int] = []

    def start(*_: object, cpus: int, **__: object) -> Any:
        started.append(cpus)
        worker: Any = SimpleNamespace(guest=SimpleNamespace(pid=cpus), cores=(0,), move=lambda cores: None)
        return nullcontext(GuestTiers({FRONT: worker}, cpus))

    monkeypatch.setattr(GuestTiers, "started", start)
    with ExitStack() as stack:
        session = BulletinGuestSession(system(warm_s=0), SimpleNamespace(), "tcg", SimpleNamespace(), stack)  # type: ignore[arg-type]
        for cpus in (1, 2, 1):
            point: Any = SimpleNamespace(factors={"cpus": cpus})
            session._kept(point, {FRONT: (0,), DATABASE: (0,)})
    assert started == [1, 2]
    assert sent == [(1, SIGCONT), (1, SIGSTOP), (2, SIGCONT), (2, SIGSTOP), (1, SIGCONT)]


def test_both_accounts_stand_beside_what_was_predicted_of_them() -> None:
    """Worked by hand: the front guest ran 40 % and waited 40 %, and says 80 %; the database's values lie outside what was said."""
    run = GuestRun(10, 50.0, 0.1, 1, (
        GuestAccount(FRONT, 1, 0.8, 0.0, 0.0, 0.4, 0.4, 0.05), GuestAccount(DATABASE, 1, 0.1, 0.0, 0.0, 0.3, 0.1, 0.05)))  # fmt: skip
    said = {FRONT: (0.35, 0.45), f"{FRONT}.guest": (0.7, 1.2), DATABASE: (0.4, 0.5), f"{DATABASE}.guest": (0.5, 0.6)}
    rows = [{"station": n, "metric": "utilisation", "value": 0.5, "low": a, "high": b} for n, (a, b) in said.items()]
    predicted = {"configurations": [{"section": "one core", "factors": {"users": 10}, "rows": rows}]}
    shares = predicted_shares(predicted, [run], "one core")
    assert [(s.guest, round(s.measured, 9), s.inside) for s in shares] == [
        (FRONT, 0.4, True), (FRONT, 0.8, True), (FRONT, 0.8, True),
        (DATABASE, 0.3, False), (DATABASE, 0.4, False), (DATABASE, 0.1, False),
    ]  # fmt: skip
    (line,) = prediction_lines("one core", shares)
    assert line.endswith("ran, by the host: 1 of 2; ran or waited, by the host: 1 of 2; busy, by the guest: 1 of 2")
    assert len(prediction_table("one core", shares).rows) == 6
    assert not predicted_shares(None, [run], "one core") and not list(prediction_lines("one core", []))


def test_a_database_on_a_disk_is_written_in_three_ways(tmp_path: Path) -> None:
    """By one virtual CPU past the host's cache, by all, or through the cache, which the host writes now and then."""
    slow: Any = SimpleNamespace(folder=tmp_path, set_rate=lambda bps: rates.append(bps))
    rates: list[float | None] = []
    found = {}
    for strategy in STRATEGIES:
        with guest_disk(slow, strategy, 2) as written:
            Path(written.disk.path).write_bytes(b"")
            with written.at(1e6):
                found[strategy] = (written.disk.queues, written.disk.cached, written.cpus)
        assert not list(tmp_path.iterdir())
    assert found == {"one_core": (1, False, (0,)), "spread": (2, False, ()), "batch": (2, True, ())}
    assert rates == [1e6, None] * 3


def test_without_a_disk_the_database_lies_in_memory() -> None:
    with pytest.raises(InputError, match="set disk in .system."):
        system().settled({"users": 5, "strategy": "batch"}, "here")
    assert system(disk="1G").settled({"users": 5, "strategy": "batch"}, "here")["disk_bps"] == 0.0
    plan = read_plan(STUDY / "writes.toml")
    assert {point.factors["strategy"] for point in plan.measured} == set(STRATEGIES)


def test_the_image_of_a_disk_has_the_cluster_with_our_settings(tmp_path: Path) -> None:
    """Read back by debugfs(8), a program of its own."""
    from sojourn_cases.common.ext4_image import MAKER, SEARCHED
    from sojourn_cases.ntier.guest_database import make_disk

    debugfs = shutil.which("debugfs", path=SEARCHED)
    if not debugfs or not shutil.which(MAKER, path=SEARCHED):
        pytest.skip("not installed: e2fsprogs")
    (tmp_path / "data/base").mkdir(parents=True)
    (tmp_path / "data/base/1").write_bytes(b"rows")
    (tmp_path / "data/postgresql.conf").write_text("theirs")
    image = tmp_path / "image"
    make_disk(tmp_path / "data", {"postgresql.conf": "ours"}, image)

    def asked(what: str) -> str:
        return subprocess.run([debugfs, "-R", what, str(image)], capture_output=True, text=True, check=True).stdout

    assert asked("cat /data/base/1") == "rows" and asked("cat /data/postgresql.conf") == "ours"
    assert "has_journal" not in asked("stats -h")
