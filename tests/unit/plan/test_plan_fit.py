"""Plans with a fit: chances, regret, the validated range; cores and NICs of our own models; what the arrays cannot take."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from plan_models import ONE, erlang_response

import sojourn as sj
from sojourn.errors import InputError
from sojourn.fit.fit_runs import FitRun, FitRuns

RUN_CORES, TRUE_S = (2, 4, 6, 8), 0.02


def fitted_one(true_s: float = TRUE_S) -> sj.FittedModel:
    """The station measured at half load with 2 to 8 cores, each mean off by up to 4 %."""
    free = ONE.replace("user = 0.02", "user = { free = true }")
    runs = []
    for k, cores in enumerate(RUN_CORES * 2):
        rate = 0.4 * cores / true_s * (1 + k // 4)
        off = 1 + 0.04 * math.sin(5 * k)
        means = {
            ("", "response_time"): (erlang_response(rate, true_s, cores) * off, 0.03),
            ("", "throughput"): (rate, 0.01),
        }
        runs.append(FitRun(f"r{k}", {"cores": cores, "rate_per_s": rate}, means, {"cpu": rate * true_s * off}))
    return sj.fit(FitRuns(runs), sj.Model.parse(free), draws=60)


def test_a_value_of_several_models_is_the_median_of_their_draws_as_in_predictions() -> None:
    """Of 0.6 of the weight a service takes 20 ms, of 0.4 28 ms: half of the weight lies at five sixths of the first model's draws, above
    its own value (Erlang's formula) and below that of the other."""
    fitted = replace(fitted_one(), alternatives=((0.4, fitted_one(1.4 * TRUE_S)),))
    found = sj.plan(fitted, {"cores": range(4, 9)}, "mean < 30ms", load=150)
    six = next(one for one in found.pareto_front if one.settings["cores"] == 6)
    low, high = (erlang_response(150.0, s, 6) for s in (TRUE_S, 1.4 * TRUE_S))
    assert low < six.terms[0].value < high
    told = fitted.predict({"cores": 6, "rate_per_s": 150.0}).value("response_time")
    assert six.terms[0].value == pytest.approx(told, rel=0.03)
    for one in found.pareto_front:
        assert one.share_of_draws_that_meet_it is not None
        assert one.objective_met == (one.share_of_draws_that_meet_it >= 0.5)


def test_a_fit_has_chances_regret_and_a_validated_range(tmp_path: Path) -> None:
    fitted = fitted_one()
    fitted.write(tmp_path / "fitted.toml")
    found = sj.plan(tmp_path / "fitted.toml", {"cores": range(1, 11)}, "mean < 30ms", "cores", load="100..250")
    assert found.draws == 60 and found.first is found.least_mean_regret is not None and found.cheapest is not None
    assert found.first.in_validated_range and found.first.cost >= found.cheapest.cost
    assert (
        found.first.share_of_draws_that_meet_it is not None and found.cheapest.share_of_draws_that_meet_it is not None
    )
    assert found.first.share_of_draws_that_meet_it >= found.cheapest.share_of_draws_that_meet_it
    term = found.cheapest.terms[0]
    assert term.low is not None and term.high is not None and term.low < term.value < term.high
    met = np.array([
        [erlang_response(250, float(d), c) < 0.03 if 250 * d < c else False for c in range(1, 11)]
        for d in fitted.draws[:, 0]
    ])  # fmt: skip
    if fitted.model_error is None:
        assert found.cheapest.share_of_draws_that_meet_it == pytest.approx(met[:, int(found.cheapest.cost) - 1].mean())


def test_what_was_not_measured_is_marked_and_never_first() -> None:
    beyond = sj.plan(fitted_one(), {"cores": range(1, 16)}, "mean < 25ms", "cores", load=500)
    assert beyond.first is None and beyond.cheapest is None and beyond.cheapest_outside_validated_range is not None
    assert beyond.cheapest_outside_validated_range.in_validated_range is False and "OUTSIDE" in str(beyond)
    # 9 cores of a price of their own are cheapest, and were never run
    odd = sj.plan(fitted_one(), {"cores": range(1, 10)}, "mean < 30ms", "10 - cores", load=200)
    assert odd.first is not None and odd.first.settings["cores"] <= 8
    assert (
        odd.cheapest_outside_validated_range is not None and odd.cheapest_outside_validated_range.settings["cores"] == 9
    )


def test_a_factor_that_varied_must_be_said_and_a_path_may_stand_for_it() -> None:
    with pytest.raises(InputError, match="no cores; say it"):
        sj.plan(fitted_one(), {"demands_s.cpu.user": [0.02]}, "mean < 30ms", "1", load=100)
    found = sj.plan(fitted_one(), {"stations.cpu.servers": [3, 4, 9]}, "mean < 30ms", "stations.cpu.servers", load=150)
    assert [one.in_validated_range for one in found.pareto_front] == [True] * 2 + [False]


def test_what_the_arrays_cannot_take_is_lowered_again() -> None:
    text = ONE.replace('kind = "open"\nrate_per_s = 100.0', 'kind = "closed"\npopulation = 20\nthink_s = 0.1')
    text = text.replace(
        "[factors]",
        '[stations.pool]\nkind = "pool"\nsize = 9\nheld_over_stations = ["cpu"]\n[factors]\nsessions = "stations.pool.size"',
    )
    found = sj.plan(sj.Model.parse(text), {"sessions": [1, 2, 4], "cores": [4]}, "throughput > 90/s", "sessions")
    alone = [sj.solve(sj.Model.parse(text.replace("size = 9", f"size = {n}"))).value("throughput") for n in (1, 2, 4)]
    assert found.cheapest is not None and alone[1] > 90 > alone[0]
    assert found.cheapest.settings["sessions"] == 2
    assert found.cheapest.terms[0].value == pytest.approx(alone[1])


WEB = """
[stations.cpu]
kind = "multicore"
cores = 1
nics = 1
interrupt_s = { free = true }
[classes.user]
kind = "open"
rate_per_s = 1
[service_s.cpu]
user = { free = true }
[factors]
cores = "stations.cpu.cores"
nics = "stations.cpu.nics"
"""
INTERRUPT_S, PAGE_S = 1 / 3300, 1 / 370


def web_fit() -> sj.FittedModel:
    """Cores that take interrupts, measured as the laws have it, from one core to eight with six NICs."""
    runs = []
    for number, (cores, nics, rate) in enumerate(
        ((1, 1, 50.0), (1, 1, 200.0), (2, 1, 400.0), (4, 2, 700.0), (8, 4, 900.0), (8, 4, 1500.0))
    ):
        told = sj.two_class(
            rate, mu1_per_s=1 / INTERRUPT_S, mu2_per_s=1 / PAGE_S, cores=cores, nics=nics, variant="priority"
        )
        means = {("", "response_time"): (told.value("response_time"), 0.01), ("", "throughput"): (rate, 0.005)}
        runs.append(FitRun(f"r{number}", {"cores": cores, "nics": nics, "rate_per_s": rate}, means, {}))
    return sj.fit(FitRuns(runs), sj.Model.parse(WEB), draws=40)


def test_cores_and_nics_of_a_fit_with_interrupts() -> None:
    found = sj.plan(
        web_fit(), {"cores": range(1, 9), "nics": [1, 2, 4]}, "mean < 6ms", "0.04*cores + 0.01*nics", load=700
    )
    assert found.configurations == 8 + 7 + 5  # no more NICs than cores
    assert found.first is not None and found.cheapest is not None and found.draws == 40
    best = []
    for cores in range(1, 9):
        for nics in (n for n in (1, 2, 4) if n <= cores):
            told = sj.two_class(700, mu1_per_s=3300, mu2_per_s=370, cores=cores, nics=nics, variant="priority")
            row = told.frame.filter(metric="response_time", station="").row(0, named=True)
            if row["status"] == "ok" and row["value"] < 0.006:
                best.append((0.04 * cores + 0.01 * nics, {"cores": cores, "nics": nics}))
    assert found.cheapest.settings == min(best, key=lambda one: one[0])[1]


def test_quantiles_of_a_fit_with_interrupts() -> None:
    fitted = web_fit()
    found = sj.plan(fitted, {"cores": range(1, 9), "nics": [1, 2, 4]}, "p99 < 20ms", "cores + nics", load=700)
    assert (
        found.cheapest is not None and found.first is not None and found.first.share_of_draws_that_meet_it is not None
    )
    with pytest.raises(InputError, match="provides no quantiles"):
        sj.plan(fitted, {"cores": [1], "nics": [1]}, "p99(waiting_time) < 20ms", "cores", load=100)


def test_the_bench_of_known_services(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the fits that benches/plan/regret.py makes 400 of."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[3] / "benches/plan"))
    bench = import_module("regret")
    assert bench.holds("one", {"cores": 45}, 1500.0) and not bench.holds("one", {"cores": 31}, 1500.0)
    rows = [bench.planned("one", seed) for seed in (1, 2)]
    for row in rows:
        assert (
            row["refused"] == ""
            and row["regret_cost"] >= row["point_cost"]
            and row["regret_chance"] >= row["point_chance"]
        )
    assert "| one | 2 |" in bench.summary(rows)
