"""Demands of two classes on-line by what windows show and a model says, on a simulated processor that is shared."""

from __future__ import annotations

import numpy as np
import pytest
from shared_processor import DEMANDS_S, MODEL, ROWS, UNKNOWNS, closed_form, served, windows

import sojourn as sj
from sojourn.control import DemandFilter, WindowMeasurement, filtered, observer
from sojourn.errors import InputError, ModelError


def followed(
    seed: int, count: int, factor: float = 1.0, at: int = 0, only: slice = slice(None), spread: float = 0.1
) -> list[DemandFilter]:
    now, found = DemandFilter.start(DEMANDS_S.tolist(), len(range(3)[only]), spread), []
    for rows, rates in windows(seed, count, factor, at):
        now = filtered(
            now,
            lambda demands, rates=rates: closed_form(rates, demands)[only],
            WindowMeasurement.of_batches(rows[:, only]),
        )
        found.append(now)
    return found


def test_the_processor_by_hand() -> None:
    """Two of 1 s and 2 s of work, at 0 and 0.5 s: alone 0.5 s, then half each until the first has left at 1.5 s, the second at 3 s."""
    left, busy = served(np.array([0.0, 0.5, 10.0]), np.array([1.0, 2.0, 1.0]))
    assert left == pytest.approx([1.5, 3.0, 11.0]) and busy == pytest.approx(np.array([[0.0, 3.0], [10.0, 11.0]]))


def test_the_solver_is_the_closed_form() -> None:
    says = observer(sj.Model.parse(MODEL), UNKNOWNS, ROWS, a=12.0, b=5.0)
    for demands in ([0.02, 0.06], [0.03, 0.01]):
        assert says(np.array(demands)) == pytest.approx(closed_form(np.array([12.0, 5.0]), np.array(demands)), rel=1e-9)
    assert np.isnan(says(np.array([0.1, 0.1]))[1:]).all()
    with pytest.raises(ModelError, match="disk"):
        observer(sj.Model.parse(MODEL), ["demands_s.disk.a"], ROWS)
    with pytest.raises(InputError, match="give the demands to estimate"):
        observer(sj.Model.parse(MODEL), [], ROWS)


@pytest.mark.parametrize("seed", range(1, 5))
def test_both_demands_half_as_large_again_are_noticed_and_learnt(seed: int) -> None:
    """One mean mix throughout: the utilisation alone could not tell the classes apart."""
    found = followed(seed, 55, 1.5, 40)
    assert not any(one.alarms for one in found[:40])
    assert np.argmax([one.alarms > 0 for one in found]) in range(40, 45)
    assert found[-1].demands_s == pytest.approx(1.5 * DEMANDS_S, rel=0.1)
    assert found[39].demands_s == pytest.approx(DEMANDS_S, rel=0.1)
    rows = found[-1].metrics([("cpu", "a"), ("cpu", "b")]).frame
    assert (
        (rows["low"] < rows["value"]).all() and (rows["value"] < rows["high"]).all() and set(rows["status"]) == {"ok"}
    )
    assert (found[39].status(), found[41].status(), found[-1].status()) == ("fresh", "stale", "fresh")


def test_from_nothing() -> None:
    """Known to a factor of seven at first."""
    now = DemandFilter.start((DEMANDS_S * [3, 0.3]).tolist(), 3, 2.0)
    for rows, rates in windows(11, 20):
        now = filtered(
            now, lambda demands, rates=rates: closed_form(rates, demands), WindowMeasurement.of_batches(rows)
        )
    assert now.demands_s == pytest.approx(DEMANDS_S, rel=0.1) and now.status() == "fresh"


def test_by_utilisation_alone_the_classes_are_refused() -> None:
    assert followed(5, 40, only=slice(0, 1), spread=2.0)[-1].status() == "not identifiable"


def test_few_false_alarms() -> None:
    assert followed(6, 300)[-1].alarms <= 1


def test_what_no_demand_explains_is_no_change() -> None:
    """Two values of one demand, off by 0.3 standard errors to either side, then a change by 5 errors. Chance alarms 0.5 times in the
    5 000 quiet windows (four CUSUMs; Siegmund, Sequential Analysis, 1985, 2.52); a filter that did not learn of this had 7 alarms."""
    rng, alarms = np.random.default_rng(11), 0
    for _ in range(10):
        now = DemandFilter.start([1.0], 2)
        for k in range(520):
            shown = rng.normal([0.03, -0.03], np.sqrt(10) * 0.1, (10, 2)) + (0.5 if k >= 500 else 0)
            covariance = np.cov(shown, rowvar=False) / len(shown)
            seen = WindowMeasurement(
                np.exp(shown.mean(axis=0)), covariance * np.exp(np.add.outer(*[shown.mean(axis=0)] * 2)), 9
            )
            before, now = now.alarms, filtered(now, lambda demands: np.repeat(demands, 2), seen)
            alarms += now.alarms - before if k < 500 else 0
        assert now.alarms > 0 and now.windows <= 20
    assert alarms <= 1


def test_windows_that_say_nothing_change_nothing() -> None:
    now = DemandFilter.start([0.02, 0.06], 3)
    nothing = WindowMeasurement(np.full(3, np.nan), np.full((3, 3), np.nan))
    assert filtered(now, lambda demands: closed_form(np.array([15.0, 4.0]), demands), nothing) is now
    full = WindowMeasurement(np.array([0.5, 0.04, 0.1]), np.eye(3) * 1e-6)
    assert filtered(now, lambda demands: np.full(3, np.nan), full) is now
    for bad in ([0.0], [], [float("nan")]):
        with pytest.raises(InputError, match="finite demands > 0"):
            DemandFilter.start(bad, 3)
    with pytest.raises(InputError, match="two or more rows"):
        WindowMeasurement.of_batches(np.ones((1, 3)))


def test_where_all_is_linear_it_is_the_plain_kalman_filter() -> None:
    """A value that is the demand, seen at exp(0.2): prior variance 0.01 and noise 0.03 give a quarter of the way, and variance 0.0075."""
    now = DemandFilter(np.zeros(1), np.array([[0.01]]), np.zeros(1), np.zeros(1))
    seen = WindowMeasurement(np.exp([0.2]), np.array([[0.03 * np.exp(0.4)]]))
    after = filtered(now, lambda demands: demands, seen, drift=0.0)
    assert after.log_demands[0] == pytest.approx(0.05, rel=1e-6)
    assert after.covariance[0, 0] == pytest.approx(0.0075, rel=1e-6)


def test_it_begins_anew_where_response_times_bend() -> None:
    """A window that shows four times the response times that were known: what was 0.53 busy is now 0.83 busy (bench, seed 710 186)."""
    rates, truth = np.array([15.0, 4.3]), DEMANDS_S * 1.55
    now = DemandFilter(np.log(DEMANDS_S), np.eye(2) * 2e-4, np.full(3, 7.0), np.zeros(3), 40)
    covariance = np.array([[0.0021, 0.007, 0.008], [0.007, 0.0283, 0.0288], [0.008, 0.0288, 0.0389]])
    shown = np.array([0.8329, 0.1743, 0.5936])
    after = filtered(
        now, lambda demands: closed_form(rates, demands), WindowMeasurement(shown, covariance * np.outer(shown, shown))
    )
    assert after.alarms == 1 and after.demands_s == pytest.approx(truth, rel=0.3)
