"""Changes of a service, of windows made by the utilisation law: busy = b + sum of X D, which from one window on is another D."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.observe.change_points import FEWEST, change_points
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.record_parts import RecordParts

LENGTH_S, DEMAND_S = 60.0, {"a": 0.03, "b": 0.1}


def _windows(
    count: int, changed: int, by: dict[str, float], seed: int = 1, other: float = 0.02
) -> list[ObservedWindow]:
    """Rates go up and down with the hour; work of exponential requests (a gamma law)."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        rates = {"a": 6 + 4 * np.sin(i / 40), "b": 2 + np.cos(i / 25)}
        counts = {name: int(rng.poisson(rate * LENGTH_S)) for name, rate in rates.items()}
        demands = {name: d * (by.get(name, 1.0) if i >= changed else 1.0) for name, d in DEMAND_S.items()}
        busy = other + sum(demands[name] * rng.gamma(n) for name, n in counts.items()) / LENGTH_S
        found.append(
            ObservedWindow(
                i * LENGTH_S, LENGTH_S, {n: ClassMeans(k / LENGTH_S, 0.1) for n, k in counts.items()}, {"cpu": busy}
            )
        )
    return found


def test_a_change_of_all_demands_is_found_where_it_was() -> None:
    (found,) = change_points(_windows(400, 250, {"a": 1.2, "b": 1.2}))
    assert abs(found.window - 250) <= 3
    assert found.cls == "" and found.resource == "cpu"
    assert found.ratio == pytest.approx(1.2, abs=0.03)  # of busy without the work of nobody, which did not change
    assert found.at_s == found.window * LENGTH_S


def test_one_of_a_single_class_is_told_as_that() -> None:
    (found,) = change_points(_windows(400, 150, {"a": 1.5}))
    assert abs(found.window - 150) <= 3
    assert found.cls == "a" and found.ratio == pytest.approx(1.5, abs=0.1)


def test_twenty_per_cent_are_found_within_ten_minutes() -> None:
    assert change_points(_windows(310, 300, {"a": 1.2, "b": 1.2}))


@pytest.mark.parametrize("seed", range(6))
def test_a_load_that_goes_up_and_down_is_no_change(seed: int) -> None:
    assert change_points(_windows(500, 10**6, {}, seed)) == []


def test_two_changes_are_two() -> None:
    before = _windows(300, 100, {"a": 1.3, "b": 1.3})
    after = _windows(300, 200, {"a": 1.0, "b": 1.0}, seed=2)
    found = change_points([*before[:200], *after[200:]])
    assert [abs(one.window - at) <= 3 for one, at in zip(found, (100, 200), strict=True)] == [True, True]
    assert found[0].ratio > 1.2 and found[1].ratio < 0.85


def test_one_strange_window_is_no_change_and_few_windows_say_nothing() -> None:
    windows = _windows(200, 10**6, {})
    strange = ObservedWindow(windows[120].start_s, LENGTH_S, windows[120].classes, {"cpu": 0.99})
    assert change_points([*windows[:120], strange, *windows[121:]]) == []
    assert change_points(_windows(FEWEST - 1, 8, {"a": 3.0, "b": 3.0})) == []


def test_the_last_part_that_is_long_enough_is_used() -> None:
    parts = RecordParts.of(_windows(400, 250, {"a": 1.2, "b": 1.2}))
    assert parts.end == 400 and abs(parts.start - 250) <= 3
    assert set(parts.reasons) == set(range(parts.start))
    assert "take 1" in parts.notes[0] and "more of cpu from 1970-01-01 04:" in parts.notes[0]
    late = RecordParts.of(_windows(255, 250, {"a": 2.0, "b": 2.0}))
    assert late.start == 0 and late.end <= 251
    assert "stale" in late.notes[1]


def test_observe_cuts_the_record_and_calls_an_earlier_fit_stale(tmp_path: Path) -> None:
    """Requests of one length by windows, whose CPU time doubles after 60 of 90 minutes."""
    rng = np.random.default_rng(4)
    came = np.sort(rng.uniform(0, 5400, 27_000)) + 1.7e9
    needs = np.where(came < 1.7e9 + 3600, 0.04, 0.08) * rng.exponential(1.0, len(came))
    busy = np.bincount(((came - 1.7e9) // 1).astype(int), needs, minlength=5400)
    log, cpu = tmp_path / "log.csv", tmp_path / "cpu.csv"
    pl.DataFrame({"arrival_s": came, "response_s": needs * 1.5}).write_csv(log)
    pl.DataFrame({"end_s": 1.7e9 + np.arange(1, 5401), "cpu": np.minimum(busy, 1.0)}).write_csv(cpu)

    def run(*words: str) -> str:
        done = CliRunner().invoke(command_line(), list(words))
        assert done.exit_code == 0, done.output
        return done.output

    early, late, fitted = tmp_path / "early", tmp_path / "late", tmp_path / "fitted.toml"
    run("observe", str(log), str(cpu), "--to", "50m", "--out", str(early))
    run("fit", str(early), "--model", str(early / "model.toml"), "--out", str(fitted))
    told = run("observe", str(log), str(cpu), "--out", str(late), "--check-fitted", str(fitted))
    assert "more of cpu from 2023-11-14 23:13:20Z" in told
    assert "the 60 before it are left out" in told
    assert "is stale" in told
    again = run("fit", str(late), "--model", str(late / "model.toml"), "--out", str(tmp_path / "new.toml"))
    assert "left out: 60 runs: before a change" in again and "fitted to 29 windows" in again
    assert "the fit is stale" in run("validate", str(late), "--model", str(fitted))
    # five minutes after the change there are too few windows to fit
    recent, old = tmp_path / "recent", tmp_path / "old.toml"
    run("observe", str(log), str(cpu), "--to", "65m", "--out", str(recent))
    told = run("fit", str(recent), "--model", str(recent / "model.toml"), "--out", str(old))
    assert "fitted to 60 windows" in told
    assert "changed at 2023-11-14 23:13:20Z, after these windows, so that the fit is stale" in " ".join(told.split())
