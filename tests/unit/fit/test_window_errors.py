"""Windows of one service differ by more than each says of itself, and neighbours go together; the truth is made here."""

from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit import window_errors
from sojourn.fit.fit_runs import FitRun, FitRuns, observe_runs
from sojourn.fit.observed_time import ObservedTime
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.window_folders import write_windows

LENGTH_S, DEMAND_S = 60.0, 0.02
KEY = ("", "", "response_time")


def _series(r: float, count: int, seed: int = 1) -> np.ndarray:
    """An autoregression of variance 1."""
    rng = np.random.default_rng(seed)
    found = [rng.standard_normal()]
    for _ in range(count - 1):
        found.append(r * found[-1] + (1 - r**2) ** 0.5 * rng.standard_normal())
    return np.array(found)


def _seen(count: int) -> list[ObservedTime]:
    return [ObservedTime(LENGTH_S * (i + 1), 0.0, LENGTH_S) for i in range(count)]


def _runs(off: np.ndarray, watched: bool = True) -> FitRuns:
    """Of R = D/(1 - XD) and U = XD, response times off by a logarithm each; counts say that they are known to 1/sqrt(X 60 s)."""
    rng = np.random.default_rng(8)
    rates = 20 + 12 * np.sin(np.arange(len(off)) / 5)
    runs = []
    for i, (rate, e, seen) in enumerate(zip(rates.tolist(), off.tolist(), _seen(len(off)), strict=True)):
        error = (rate * LENGTH_S) ** -0.5
        response_s = DEMAND_S / (1 - rate * DEMAND_S) * np.exp(e)
        means = {("", "throughput"): (rate, error), ("", "response_time"): (response_s, error)}
        busy = {"cpu": rate * DEMAND_S * np.exp(rng.normal(0, error))} if watched else {}
        runs.append(FitRun(f"{i}", {"rate_per_s": rate}, means, busy, observed=seen))
    return FitRuns(runs)


MODEL = sj.Model.parse(
    '[stations.cpu]\ndiscipline = "ps"\n[classes.page]\nkind = "open"\nrate_per_s = 1.0\n[demands_s.cpu]\npage = { free = true }\n'
)


def test_errors_are_as_much_larger_as_what_windows_are_off_by() -> None:
    keys = [KEY] * 400 + [("cpu", "", "busy")] * 400
    off = np.concatenate([2.5 * _series(0.0, 400), 9.0 * _series(0.0, 400, 2)])
    longer = window_errors.excesses(off, keys, 2)
    assert longer[0] == pytest.approx(2.5, rel=0.1)
    assert set(longer[400:]) == {1.0}  # of what is no mean over requests nothing is stated
    assert set(window_errors.excesses(0.3 * off, keys, 2)) == {1.0}  # never smaller than stated
    strange = off.copy()
    strange[7] = 1000.0
    assert window_errors.excesses(strange, keys, 2)[0] == pytest.approx(2.5, rel=0.1)


@pytest.mark.parametrize(("r", "low", "high"), [(0.0, 0.0, 0.0), (0.6, 0.45, 0.7), (0.9, 0.75, 0.9)])
def test_the_correlation_of_neighbours_is_found(r: float, low: float, high: float) -> None:
    far = window_errors.apart(_seen(400))
    assert far is not None
    each = [window_errors.correlation(_series(r, 400, seed), [KEY] * 400, np.arange(400), far) for seed in range(1, 8)]
    assert low <= np.median(each) <= high


def test_windows_far_apart_are_no_neighbours_and_load_tests_are_no_windows() -> None:
    alone = [ObservedTime(10 * LENGTH_S * i, 0.0, LENGTH_S) for i in range(1, 101)]
    far = window_errors.apart(alone)
    assert far is not None
    assert window_errors.correlation(_series(0.9, 100), [KEY] * 100, np.arange(100), far) == 0
    assert window_errors.apart([None, *alone]) is None


def test_blocks_are_as_long_as_what_goes_on() -> None:
    far = window_errors.apart(_seen(60))
    assert far is not None
    order = np.random.default_rng(3).permutation(60)
    found = window_errors.blocks(far[np.ix_(order, order)], 0.5, 2)  # (1 + r)/(1 - r) = 3 windows each
    in_time = found[np.argsort(order)]
    assert in_time.tolist() in (sorted(in_time.tolist()), sorted(in_time.tolist(), reverse=True))
    assert set(np.bincount(found).tolist()) == {3}


def test_a_new_window_is_as_uncertain_as_windows_differ_and_the_demand_is_not() -> None:
    """Windows differ by 20 %, counts say 3 %: that is no error of the model, whose demand the utilisation law has."""
    fitted = sj.fit(_runs(0.2 * _series(0.0, 60)), MODEL)
    told = sj.predict(fitted, {"rate_per_s": 25.0})
    low, high = told.interval("response_time")
    assert low is not None and high is not None
    assert np.log(high / low) / 2 == pytest.approx(1.645 * 0.2, rel=0.25)
    (demand,) = fitted.estimates.values()
    assert demand.low < DEMAND_S < demand.high
    assert demand.high / demand.low < 1.05
    assert fitted.model_error is not None and fitted.model_error < 0.05


def test_windows_that_go_together_tell_less() -> None:
    """Of the same size and as many, with a correlation of 0.8: the mean of them is known (1 + r)/(1 - r) = 9 times worse, as a variance."""
    wide = []
    for r in (0.0, 0.8):
        (demand,) = sj.fit(_runs(0.1 * _series(r, 80), watched=False), MODEL).estimates.values()
        wide.append(demand.high / demand.low - 1)
    assert wide[1] > 1.7 * wide[0]


def test_a_counter_states_the_error_of_its_count(tmp_path: Path) -> None:
    windows = [ObservedWindow(LENGTH_S * i, LENGTH_S, {"page": ClassMeans(10.0, 0.1)}, {"cpu": 0.2}) for i in range(2)]
    runs = observe_runs(write_windows(tmp_path, windows, {}, {}, "counters"))
    assert runs.runs[0].means["", "response_time"] == (0.1, pytest.approx(600**-0.5))
    assert runs.runs[0].observed == ObservedTime(LENGTH_S, 0.0, LENGTH_S)
