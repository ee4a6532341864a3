"""Answers from runs that are there: beside Erlang's formula, refused where the record cannot tell, and nothing is written to it."""

from __future__ import annotations

import json
import math
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from capacity.test_capacity_report import result
from capacity.virtual_service import VirtualService
from scipy.optimize import brentq
from typer.testing import CliRunner

from sojourn.capacity import CapacityRun, capacity_of_runs
from sojourn.capacity.capacity_run import capacity_run
from sojourn.capacity.pooled_windows import pooled
from sojourn.capacity.recorded_capacity import believed
from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.fit import observe_runs
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.window_folders import write_windows
from sojourn.runs import RunFolder
from sojourn.stats.rate_spread import rate_spread

SERVICE_S, DELAY_S = 0.006, 0.001


def mean_s(rate_per_s: float) -> float:
    """M/M/2 behind the delay: S/(1 - rho^2) (Jain, The Art of Computer Systems Performance Analysis (1991), box 31.2)."""
    return DELAY_S + SERVICE_S / (1 - (rate_per_s * SERVICE_S / 2) ** 2)


def rate_of(limit_s: float) -> float:
    return float(brentq(lambda rate: mean_s(rate) - limit_s, 1, 332))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    service = VirtualService(tmp_path_factory.mktemp("recorded") / "runs", watched=True, seed=5)
    for rate in (60, 120, 180, 240):
        service.run(rate, 30.0)
    return service.out


def test_the_answer_is_that_of_the_formula_and_the_runs_stay_as_they_were(recorded: Path) -> None:
    before = {path: path.read_bytes() for path in recorded.rglob("*") if path.is_file()}
    found = capacity_of_runs([recorded], "mean < 14ms")
    assert found.answered and found.rate_per_s is not None
    assert found.rate_per_s.low <= rate_of(0.014) <= (found.rate_per_s.high or 0)
    assert found.limit is not None and found.limit.name == "CPU of processes"
    assert found.stop_reason.endswith("nothing was loaded")
    assert {path: path.read_bytes() for path in recorded.rglob("*") if path.is_file()} == before


def test_far_beyond_what_was_seen_there_is_no_upper_end(tmp_path: Path) -> None:
    service = VirtualService(tmp_path / "runs", watched=True, seed=6)
    for rate in (20, 40, 60, 80):
        service.run(rate, 30.0)
    found = capacity_of_runs([tmp_path / "runs"], "mean < 20ms")
    assert found.rate_per_s is not None and found.rate_per_s.high is None and found.outcome == "unknown"
    assert found.rate_per_s.low == pytest.approx(80, rel=0.05)  # what was seen, and met it
    assert any("no upper end" in note and "--max-rate 1" in note for note in found.notes)


@pytest.mark.parametrize(("p99_s", "high"), [(0.04, None), (0.049, 750.0), (0.06, 750.0)])
def test_what_surely_met_the_objective_above_the_model(p99_s: float, high: float | None) -> None:
    """Below 50 ms by more than two standard errors, of 2 %, at 900/s: all of 690 to 750/s is too low."""
    seen = CapacityRun(
        "rate-900",
        900.0,
        900.0,
        0.012,
        0.01,
        {"p99": p99_s, "errors": 0.0},
        True,
        True,
        objective_value_errors={"p99": 0.02},
    )
    found = believed(result(runs=(seen,)), (seen,), "URL")
    assert found.rate_per_s is not None and found.rate_per_s.high == high
    assert found.rate_per_s.value == (900.0 if high is None else 720.0)


def test_a_rate_that_hardly_changed_tells_nothing(tmp_path: Path) -> None:
    service = VirtualService(tmp_path / "runs")
    for rate in (100, 101, 102, 103):
        service.run(rate, 10.0)
    found = capacity_of_runs([tmp_path / "runs"], "mean < 14ms")
    assert found.rate_per_s is None and "hardly changed (100 /s to 103 /s)" in found.no_answer_reason
    assert any("a load test would show it: sojourn capacity URL" in note for note in found.notes)


def test_users_alone_and_several_settings_are_refused(tmp_path: Path) -> None:
    service = VirtualService(tmp_path / "users")
    service.users(1)
    with pytest.raises(InputError, match="with a rate"):
        capacity_of_runs([tmp_path / "users"], "mean < 14ms")
    for workers in (2, 4):
        VirtualService(tmp_path / "both" / str(workers), workers=workers).run(100, 5.0)
    with pytest.raises(InputError, match="workers = 2; workers = 4"):
        capacity_of_runs([tmp_path / "both"], "mean < 14ms")


def test_users_who_wait_say_where_it_is_full(recorded: Path, tmp_path: Path) -> None:
    service = VirtualService(tmp_path / "light", seed=7)
    for users in (1, 2, 4, 8, 16):
        service.users(users)
    found = capacity_of_runs([recorded, tmp_path / "light"], "mean < 14ms")
    assert found.saturation_per_s is not None
    assert found.saturation_per_s.low <= service.full_per_s <= (found.saturation_per_s.high or 0)


def windows(count: int, length_s: float = 300.0) -> list[ObservedWindow]:
    """A day without noise, up to 270/s, by the formula, of two classes that are alike: together they are one, and no settings."""
    rates = 150 + 120 * np.sin(2 * np.pi * np.arange(count) / count)
    return [
        ObservedWindow(
            1.7e9 + k * length_s,
            length_s,
            {name: ClassMeans(r / 2, mean_s(r)) for name in "ab"},
            {"cpu": r * SERVICE_S / 2},
        )
        for k, r in enumerate(rates.tolist())
    ]


def test_observed_windows(tmp_path: Path) -> None:
    write_windows(tmp_path / "week", windows(48), {}, {"cpu": 2.0}, "shop")
    found = capacity_of_runs([tmp_path / "week"], "mean < 14ms")
    assert found.rate_per_s is not None and found.answered
    assert found.rate_per_s.low <= rate_of(0.014) <= (found.rate_per_s.high or 0)
    assert len(found.runs) <= 10 and "48 windows of 300 s" in found.stop_reason
    assert found.limit is not None and found.limit.name == "cpu"


def test_pooled_means_are_weighted_by_requests(tmp_path: Path) -> None:
    write_windows(tmp_path / "week", windows(48), {}, {"cpu": 2.0}, "shop")
    folders = [RunFolder.open(path) for path in sorted((tmp_path / "week").iterdir())]
    runs = [capacity_run(one, one.manifest["factors"]["rate_per_s"], [], keep=False) for one in folders]
    assert runs[0].response_error == pytest.approx(1 / math.sqrt(150 * 300))  # of independent exponential times
    fits, levels = pooled(observe_runs(folders), runs)
    assert len(fits.runs) == len(levels) <= 10
    done = sum(run.rate_per_s * 300 for run in runs)
    whole = sum(run.rate_per_s * 300 * mean_s(run.rate_per_s) for run in runs) / done
    assert sum(one.requests for one in levels) == pytest.approx(done, rel=1e-3)
    assert sum(one.requests * (one.response_s or 0) for one in levels) / done == pytest.approx(whole, rel=1e-3)


def test_counts_alone_are_no_variation() -> None:
    """100 a window of 1 s are off by 10 of chance: a standard deviation of 10 says nothing, of 20 sqrt(300)/100."""
    assert rate_spread(np.array([90.0, 110.0]), 1.0) == 0
    assert rate_spread(np.array([80.0, 120.0]), 1.0) == pytest.approx(math.sqrt(300) / 100)


def test_the_command_of_the_page(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/howto/first-answer.md").read_text()
    (line,) = re.findall(r"^    (sojourn capacity --from-runs .*)$", page, re.M)
    shutil.copytree(recorded, tmp_path / "runs/week")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command_line(), shlex.split(line)[1:])
    assert done.exit_code == 0 and "meet p99 < 50ms" in done.output, done.output


def test_verb(recorded: Path, tmp_path: Path) -> None:
    out = ["--markdown", str(tmp_path / "a.md"), "--junit", str(tmp_path / "a.xml"), "--json"]
    line = ["capacity", "--from-runs", str(recorded), "--objective", "mean < 14ms"]
    done = CliRunner().invoke(command_line(), [*line, "--required-rate", "330", *out])
    assert done.exit_code == 7, done.output
    answer = json.loads(done.stdout)
    assert answer["schema"] == "sojourn.capacity/3" and answer["rate_per_s"]["high"]
    assert "Capacity of" in (tmp_path / "a.md").read_text() and "<failure" in (tmp_path / "a.xml").read_text()
    for more, said in ((["--within", "1m"], "--within"), (["http://127.0.0.1:1/"], "leave the URL out")):
        done = CliRunner().invoke(command_line(), [*line, *more])
        assert done.exit_code != 0 and isinstance(done.exception, InputError) and said in str(done.exception)
