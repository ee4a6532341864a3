"""The key-value study without a machine: plans, laws, knees, resumption and report, on the simulated system."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest
from kv_rows import row as row_of
from kv_rows import rows_of
from small_study import mistaken, written

from sojourn.errors import StudyError
from sojourn.study import StudyResult, run_study
from sojourn.study.checked_study import read_plan
from sojourn.study.study_findings import HELD_OUT
from sojourn_cases.kv.kv_laws import knee, laws

ROOT = Path(__file__).parents[3]
SMALL = """
name = "kv"
title = "small"
repetitions = 2
[system]
kind = "kv-simulated"
[load]
for = "0.5s"
[[section]]
name = "proxy"
set = { workers = 8, servers = 3 }
vary = { clients = [1, 8, 16, 32, 66] }
x = "clients"
[[section]]
name = "factorial"
set = { clients = 40 }
vary = { servers = [2, 3], workers = [4, 8] }
[fit]
model = "small.toml"
hold_out = { clients = [8, 32] }
[[analysis]]
name = "kv.laws"
[[analysis]]
name = "kv.limits"
[[analysis]]
name = "kv.measured"
[[analysis]]
name = "factorial"
section = "factorial"
factors = ["servers", "workers"]
[[analysis]]
name = "kv.models"
"""

MODEL = """
[parameters]
clients = 1
proxies = 1
workers = 8
network_s = { free = true, start = 0.003 }
held_s = { free = true, start = 0.001 }
net_s = { metric = "service_time", metric_station = "net thread" }
[stations.network]
kind = "delay"
[stations.net]
[stations.workers]
servers = "workers * proxies"
[classes.client]
kind = "closed"
population = "clients"
[demands_s]
network = { client = "network_s" }
net = { client = "net_s" }
workers = { client = "held_s" }
[factors]
servers = []               # there are enough of them
"""


def written_with_its_model(folder: Path, text: str) -> Path:
    (folder / "small.toml").write_text(MODEL)
    return written(folder, text)


def test_the_studies_of_the_tree_are_sound() -> None:
    whole, quick = (read_plan(ROOT / "studies/kv", quick=q) for q in (False, True))
    assert len(whole.measured) > 800
    assert 100 <= len(quick.measured) <= 215  # at about three and a quarter seconds each, twelve minutes
    assert whole.fingerprint != quick.fingerprint
    assert sum(p.section == "factorial" for p in whole.measured) == 8 * 3 * 3
    direct = {(p.factors["workers"], p.factors["proxies"]) for p in whole.measured if p.factors["design"] == "direct"}
    assert direct == {(0, 1), (0, 2)}
    names = [p.name for p in whole.measured]
    assert len(names) == len(set(names))
    limited = read_plan(ROOT / "studies/kv-limited", quick=True)
    assert limited.system.options.hosts == "namespaces"  # type: ignore[attr-defined]
    assert 40 <= len(limited.measured) <= 60


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", ["kv", "kv-limited"])
def test_whole_configurations_are_held_out(name: str, quick: bool) -> None:
    """With all their client counts, in every section: a model predicts what was fitted nowhere."""
    plan = read_plan(ROOT / "studies" / name, quick=quick)
    fitted: dict[str, set[bool]] = {}
    for point in plan.measured:
        others = {k: v for k, v in point.factors.items() if k != "clients"}
        fitted.setdefault(repr(others), set()).add(plan.is_fitted(point.section, point.factors))
    assert all(len(kinds) == 1 for kinds in fitted.values())
    out = sum(kinds == {False} for kinds in fitted.values())
    assert 2 <= out < len(fitted) / 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("workers = 8", "workers = 0"), "give at least one"),
        (("vary = { clients", 'set = { workload = "set" }\nvary = { clients'), "not TOML"),
        (("workers = 8", 'workload = "set"'), "give one of get"),
        (('name = "proxy"', 'name = "fit"'), "choose another name"),
        (("for =", "four ="), "load.four"),
        (("hold_out", "options = { x = 1 }\nhold_out"), "a model file has none"),
        (('factors = ["servers", "workers"]', 'factors = ["server"]'), "use one of design, servers"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    def read(path: Path) -> object:
        return run_study(path, out=tmp_path / "out", say=lambda _: None)

    assert message in mistaken(written_with_its_model(tmp_path, SMALL), SMALL.replace(*change, 1), read)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    folder = tmp_path_factory.mktemp("study")
    return run_study(written_with_its_model(folder, SMALL), out=folder / "out", say=lambda _: None)


def test_measured_judged_and_reported(done: StudyResult) -> None:
    text = "\n".join(done.verdict)
    assert "18 runs: 0 misses, 0 errors; the interactive law holds within 5 % in 100 % of them" in text
    assert "small, staged: median error of throughput" in text and "at 2 points not fitted" in text
    held = done.findings.rows(HELD_OUT, "small").filter(pl.col("metric") == "throughput")
    assert held.height == 4 and held["error"].abs().median() < 0.08
    page = done.report.read_text()
    for heading in ("Laws", "Limits", "Models", "Maximum throughput and knee", "One station", "Errors of held-out configurations",
                    "net thread", "factorial: throughput, 1/s"):  # fmt: skip
        assert heading in page


def test_a_lost_run_is_done_again_and_no_other(done: StudyResult, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(done.folder, out)
    lost = next((out / "runs").glob("proxy-*"))
    shutil.rmtree(lost)
    said: list[str] = []
    again = run_study(done.folder.parent / "study.toml", out=out, say=said.append)
    assert said[0] == "17 of 18 runs already exist" and len([line for line in said if line.startswith("run ")]) == 1
    assert again.verdict == done.verdict
    with pytest.raises(StudyError, match="another study"):
        run_study(done.folder.parent / "study.toml", out=out, seed=2)


def test_published_tables_need_no_machine(tmp_path: Path) -> None:
    result = run_study(ROOT / "studies/kv", out=tmp_path / "out", only_parts=("published",), say=lambda _: None)
    assert "statements in" in result.verdict[-1]
    assert "copied, not computed" in result.report.read_text()
    assert any("copied, not computed" in text for one in result.findings.analyses for text in one.details)


def test_laws_hold_and_are_broken() -> None:
    good = row_of(
        1000.0, 10, response_s=0.0089, own_s=0.001, mw_throughput_per_s=1000.0, queue_s=0.004, queue_length=4.1
    )
    wrong = row_of(1000.0, 10, response_s=0.005, mw_throughput_per_s=1000.0, queue_s=0.004, queue_length=8.0)
    short = row_of(100.0, 1, response_s=0.01, mw_throughput_per_s=100.0, queue_s=1e-3, queue_length=0.1)
    checked = laws(rows_of(good, wrong, short))
    assert checked["interactive"].to_list() == ["holds", "broken", "holds"]
    assert checked["little"].to_list() == ["holds", "broken", None]
    assert checked["interactive_error"][1] == pytest.approx(-0.5)


def test_a_knee_with_its_interval_and_states() -> None:
    curve = {1: 100.0, 5: 480.0, 10: 850.0, 20: 990.0, 40: 1000.0, 80: 900.0}
    found = knee("x", rows_of(*(row_of(x, n) for n, x in curve.items())))
    assert found.clients == pytest.approx(10.0)
    assert (found.low, found.high, found.at) == (10, 20, 40)
    assert found.states[10] == "under-saturated"
    assert found.states[20] == found.states[40] == "saturated"
    assert found.states[80] == "over-saturated"
