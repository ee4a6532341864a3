"""A CPU time that changes with the load: offered by auto, and its search begins where the utilisation law has it."""

from __future__ import annotations

import pytest

from sojourn.fit.candidate_models import candidates
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_selection import choose_model
from sojourn.fit.predict_model import predict
from sojourn.model.unknown_parameters import unknowns

AT_REST_S, AT_LOAD_S = 3.50e-3, 2.50e-3


def run(rate: float, falls: bool) -> FitRun:
    """D = 2.5 ms (1 + 0.4 (1 - u)^2), or 2.5 ms (1 + 0.4 u), with u = rate D (fixed point); R = D/(1 - u)."""
    cpu_s = AT_REST_S
    for _ in range(200):
        u = rate * cpu_s
        cpu_s = AT_LOAD_S * (1 + 0.4 * ((1 - u) ** 2 if falls else u))
    means = {("", "throughput"): (rate, 0.01), ("", "response_time"): (cpu_s / (1 - rate * cpu_s), 0.02)}
    return FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, means, {"cpu": rate * cpu_s}, cores=1)


@pytest.mark.parametrize(("falls", "word", "name"), [(True, "falls", "saved"), (False, "grows", "grown")])
def test_the_search_begins_at_the_utilisation_law(falls: bool, word: str, name: str) -> None:
    runs = FitRuns([run(rate, falls) for rate in (30.0, 90.0, 150.0, 210.0)])
    model = candidates(runs)[f"1 server, utilised like cpu, its time {word} with the load"]
    begins = {path: float(unknown) for path, unknown in unknowns(model).items()}
    assert begins["parameters.work_s"] == pytest.approx(AT_LOAD_S, rel=1e-6)
    assert begins[f"parameters.{name}"] == pytest.approx(0.4, rel=1e-5)


def constant_run(rate: float) -> FitRun:
    """The same time that falls, and constant: R = D (1 + u/(2 (1 - u))) (Pollaczek and Khinchine); full at 1/2.5 ms = 400/s."""
    one = run(rate, True)
    u = one.busy["cpu"]
    means = {("", "throughput"): (rate, 0.01), ("", "response_time"): (u / rate * (1 + u / (2 * (1 - u))), 0.02)}
    return FitRun(one.name, one.factors, means, one.busy, cores=1)


def test_issue_29_5_a_constant_time_that_falls_is_offered_and_taken() -> None:
    """Without such a model the saturation rate was 43 % too high, and outside its interval."""
    chosen = choose_model(FitRuns([constant_run(rate) for rate in (40.0, 80.0, 120.0, 160.0, 200.0)]))
    assert "a constant time, utilised like cpu, its time falls with the load" in chosen.name
    rows = predict(chosen.best, {"rate_per_s": 300.0}, 0.9).frame.filter(station="")
    full = rows.filter(metric="saturation_rate").row(0, named=True)
    assert full["value"] == pytest.approx(400, rel=0.15) and full["low"] <= 400 <= full["high"]


def test_a_time_that_does_not_change_is_offered_no_such_model() -> None:
    same = [
        FitRun(
            f"{rate}",
            {"rate_per_s": rate},
            {("", "throughput"): (rate, 0.01), ("", "response_time"): (0.01, 0.02)},
            {"cpu": rate * 3e-3},
        )
        for rate in (30.0, 90.0, 150.0)
    ]
    assert not any("with the load" in name for name in candidates(FitRuns(same)))


def test_a_steep_fall_at_low_rates_does_not_go_on() -> None:
    """A Python service (benches/services, `python-packed`): CPU time of a request 678 µs at 141/s and 437 µs at 413/s, yet full at 1040/s.
    No service that was recorded takes twice as long at rest as at saturation, so 413/s has more than half of the time at saturation."""
    told = {141.0: (678e-6, 1.71e-3), 229.0: (580e-6, 1.55e-3), 323.0: (500e-6, 1.40e-3), 413.0: (437e-6, 1.30e-3)}
    runs = [
        FitRun(
            f"rate-{rate:g}",
            {"rate_per_s": rate},
            {("", "throughput"): (rate, 0.01), ("", "response_time"): (response_s, 0.03)},
            {"cpu": rate * cpu_s},
            cores=2,
        )
        for rate, (cpu_s, response_s) in told.items()
    ]
    rows = predict(choose_model(FitRuns(runs)).best, {"rate_per_s": 413.0}, 0.9).frame.filter(station="")
    assert rows.filter(metric="saturation_rate").row(0, named=True)["value"] < 2 * 2 / 437e-6
