"""CPU time without requests: windows of R = D/(1 - b - XD) and U = b + XD, of which b and D are asked back."""

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.candidate_models import OTHER_WORK, candidates
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_selection import choose_model
from sojourn.observe.first_model import first_model
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow

DEMAND_S, OTHER = 0.02, 0.06


def _runs(other: float, noise: float = 0.01, count: int = 12) -> FitRuns:
    rng = np.random.default_rng(5)
    runs = []
    for i, rate in enumerate(np.linspace(5.0, 35.0, count)):
        response_s = DEMAND_S / (1 - other - rate * DEMAND_S) * np.exp(rng.normal(0, noise))
        means = {("", "throughput"): (rate, 0.01), ("", "response_time"): (response_s, noise)}
        runs.append(FitRun(f"{i}", {"rate_per_s": float(rate)}, means, {"cpu": other + rate * DEMAND_S}, length_s=60.0))
    return FitRuns(runs)


def _model() -> sj.Model:
    windows = [ObservedWindow(60.0 * i, 60.0, {"page": ClassMeans(10.0, 0.03)}, {"cpu": 0.3}) for i in range(2)]
    found = first_model(windows, {}, {})
    assert found is not None
    return found


def test_windows_tell_work_beside_requests() -> None:
    fitted = sj.fit(_runs(OTHER), _model())
    found = fitted.estimates["stations.cpu.background"]
    assert found.low < OTHER < found.high and found.value == pytest.approx(OTHER, rel=0.15)
    assert fitted.estimates["demands_s.cpu.page.mean"].value == pytest.approx(DEMAND_S, rel=0.02)
    # full where nothing is left beside that work
    assert sj.predict(fitted, {"rate_per_s": 40.0}).value("saturation_rate") == pytest.approx(
        (1 - OTHER) / DEMAND_S, rel=0.02
    )


def test_where_there_is_none_its_interval_begins_at_0() -> None:
    found = sj.fit(_runs(0.0), _model()).estimates["stations.cpu.background"]
    assert found.low == 0 and found.high < 0.03


def test_auto_tries_it_where_the_line_of_the_utilisation_law_does_not_begin_at_0() -> None:
    assert any(OTHER_WORK in name for name in candidates(_runs(OTHER)))
    assert not any(OTHER_WORK in name for name in candidates(_runs(0.0)))
    limit = sj.predict(choose_model(_runs(OTHER)).best, {"rate_per_s": 40.0}).value("saturation_rate")
    assert limit == pytest.approx((1 - OTHER) / DEMAND_S, rel=0.04)
