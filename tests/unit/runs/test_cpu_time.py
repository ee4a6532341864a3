"""CPU time of a tree of processes beside that of the machine, on a made-up /proc; what a report says where it is not known."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_assess import SECONDS, host, requests

from sojourn.measure.cpu_time import cpu_time
from sojourn.measure.run_report import validity_rule
from sojourn.runs.assess_run import assess
from sojourn.runs.run_folder import RunFolder

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def process(proc: Path, pid: int, parent: int, own: tuple[int, int], ended: tuple[int, int] = (0, 0)) -> None:
    """`own`: ticks in user and system mode; `ended`: of children that were waited for."""
    (proc / str(pid)).mkdir()
    before = f"S {parent} 1 1 0 -1 0 1 2 3 4"
    (proc / str(pid) / "stat").write_text(f"{pid} (a) b (c) {before} {own[0]} {own[1]} {ended[0]} {ended[1]} 20 0 1\n")


def test_the_tree_with_children_that_ended_and_the_cores_that_may_be_used(tmp_path: Path) -> None:
    """10 is ours with its child 11, which had children; 20 is watched; 30 is somebody else's. Core 2 is not ours."""
    process(tmp_path, 1, 0, (500, 500))
    process(tmp_path, 10, 1, (100, 10))
    process(tmp_path, 11, 10, (20, 2), (7, 1))
    process(tmp_path, 20, 1, (40, 4))
    process(tmp_path, 30, 1, (900, 90))
    (tmp_path / "self").mkdir()
    cpu = [f"cpu{k} 1000 10 100 5000 50 3 7 9 0 0" for k in range(3)]
    (tmp_path / "stat").write_text("cpu 9 9 9 9 9 9 9\n" + "\n".join(cpu) + "\nintr 5\n")
    found = cpu_time([10, 20, 99], cores=[0, 1], proc=tmp_path)
    assert found.own_s == pytest.approx((110 + 22 + 8 + 44) * TICK_S)
    assert found.machine_s == pytest.approx(2 * (1000 + 10 + 100 + 3 + 7) * TICK_S) and found.cores == 2


def test_what_only_gets_what_nobody_else_wants_is_not_counted(tmp_path: Path) -> None:
    """Spinners in a group with `cpu.idle = 1` had 300 of the 400 ticks that are nice; a nice process outside had the rest."""
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    for name, idle, pid in (("idle", "1", 10), ("plain", "0", 20)):
        (groups / "cpu" / name).mkdir(parents=True)
        (groups / "cpu" / name / "cpu.idle").write_text(idle + "\n")
        (groups / "cpu" / name / "cgroup.procs").write_text(f"{pid}\n")
    proc.mkdir()
    process(proc, 10, 1, (300, 0))
    process(proc, 20, 1, (100, 0))
    (proc / "stat").write_text("cpu0 1000 400 100 5000 50 3 7 9 0 0\n")
    found = cpu_time([1], cores=[0], proc=proc, groups=groups)
    assert found.machine_s == pytest.approx((1000 + 100 + 100 + 3 + 7) * TICK_S)


def test_this_process_is_seen() -> None:
    before = cpu_time([os.getpid()])
    while os.times().user + os.times().system < 0.05:
        sum(range(10_000))
    assert cpu_time([os.getpid()]).own_s >= max(before.own_s, 0.04)


@pytest.mark.parametrize(("own_s", "disturbed"), [(15.5, False), (14.5, True)])
def test_what_others_used_disturbs_above_a_tenth_of_the_cores(tmp_path: Path, own_s: float, disturbed: bool) -> None:
    """Two cores busy for 17 s in 10 s: others have 0.15 or 0.25 cores of them, and may have 0.2."""
    cpu_seconds = {"machine_s": 17.0, "own_s": own_s, "over_s": 10.0, "cores": 2}
    folder = RunFolder.create(tmp_path / "run", {"load": {"lanes": [{"arrivals": {}}]}, "cpu_time": cpu_seconds})
    folder.manifest["generator"] = {"start_s": 0.0, "end_s": SECONDS}
    requests().write_parquet(folder.path / "requests.parquet")
    host(0.0, 5.0).write_parquet(folder.path / "host.parquet")
    assess(folder)
    assert folder.manifest["checks"]["others"] == pytest.approx((17.0 - own_s) / 10)
    said = [reason for reason in folder.manifest["reasons"] if reason.startswith("disturbed")]
    assert bool(said) == disturbed
    if disturbed:
        assert said[0].startswith(
            "disturbed: other processes used 25.0% of a core; at most 20.0%; end them; if they belong to the service, measure them"
        )


def run(**manifest: Any) -> Any:
    return SimpleNamespace(path=Path("run"), manifest=manifest)


def test_the_report_says_what_was_not_checked() -> None:
    known, unknown = run(checks={"others": 0.01}), run(checks={"others": None})
    assert validity_rule([known]).endswith("and no other programs used the machine.")
    assert "It was not checked whether other programs used the machine, because" in validity_rule([unknown])
    assert "used the machine in 1 of 2 runs" in validity_rule([known, unknown])
    assert "machine" not in validity_rule([run(simulated=True, checks={})])


@pytest.mark.parametrize(
    ("others_s", "valid", "beside"), [(19.0, False, False), (1.0, True, False), (19.0, True, True)]
)
def test_two_foreign_loops_make_a_run_invalid_and_are_named(
    tmp_path: Path, others_s: float, valid: bool, beside: bool
) -> None:
    """On two cores for 10 s; `others: null` and `valid yes` before. A search of capacity goes on beside them, and says so."""
    used = {"yes (4711)": 0.95, "yes (4712)": 0.94}
    account = {
        "machine_s": 20.0,
        "own_s": 1.0,
        "over_s": 10.0,
        "cores": 2,
        "others_s": others_s,
        "others": used,
        "beside": {},
    }
    manifest = {
        "load": {"lanes": [{"arrivals": {}}]},
        "cpu_time": account,
        **({"beside_others": True} if beside else {}),
    }
    folder = RunFolder.create(tmp_path / "run", manifest)
    folder.manifest["generator"] = {"start_s": 0.0, "end_s": SECONDS}
    requests().write_parquet(folder.path / "requests.parquet")
    host(0.0, 5.0).write_parquet(folder.path / "host.parquet")
    assess(folder)
    assert folder.manifest["valid"] is valid, folder.manifest["reasons"]
    assert folder.manifest["checks"]["others"] == pytest.approx(others_s / 10)
    said = "; ".join([*folder.manifest["reasons"], *folder.manifest["warnings"]])
    assert ("yes (4711) 95%, yes (4712) 94%" in said) is (others_s > 2)
