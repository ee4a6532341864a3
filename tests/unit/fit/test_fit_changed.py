"""A fit asked for what its runs did not have: factors that the model lacks, a path beside the factor that stands for it."""

from __future__ import annotations

import pytest
from mmm_runs import FREE, OPEN, RATES, RUNS, mmm_run

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.fit_runs import FitRuns
from sojourn.fit.model_fit import fit


def test_runs_with_a_factor_that_the_model_does_not_have_are_validated_with_what_is_said_of_it() -> None:
    fitted = fit(RUNS, sj.Model.parse(OPEN % FREE), draws=40)
    more = FitRuns([mmm_run(rate, servers=4, workers=4) for rate in (50.0, 90.0)])
    with pytest.raises(FitError, match="no factor workers"):
        fitted.validate(more)
    told = fitted.validate(more, changed_settings={"stations.cpu.servers": 4}, level=0.9)
    assert told.filter(metric="response_time")["inside_interval"].all()


def test_a_factor_and_the_path_that_it_stands_for_are_not_both_taken() -> None:
    text = OPEN % FREE + '[factors]\nworkers = "stations.cpu.servers"\n'
    runs = FitRuns([mmm_run(rate, workers=2) for rate in RATES])
    fitted = fit(runs, sj.Model.parse(text), draws=40)
    with pytest.raises(FitError, match="give only one of them"):
        fitted.predict({"rate_per_s": 50.0, "workers": 4, "stations.cpu.servers": 3})
    assert fitted.predict({"rate_per_s": 50.0, "stations.cpu.servers": 3}).value("utilisation", "cpu") == pytest.approx(
        1 / 3, rel=0.1
    )
    found = sj.plan(fitted, {"rate_per_s": [30.0, 50.0], "workers": [2]}, "mean < 1s", "workers")
    assert found.cheapest is not None and found.cheapest.in_validated_range


def test_a_number_that_no_run_changed_is_inside_where_it_is_as_it_was() -> None:
    """`plan` had every configuration outside of what was measured, and exit code 7, where [factors] named a path that no run had varied."""
    named = OPEN % FREE + '[factors]\nworkers = "stations.cpu.servers"\n'
    fitted = fit(RUNS, sj.Model.parse(named), draws=40)
    for key in ("workers", "stations.cpu.servers"):
        found = sj.plan(fitted, {key: [2, 3]}, "mean < 1s", key, load=50)
        assert found.cheapest is not None and found.cheapest.settings == {key: 2} and found.cheapest.in_validated_range
        assert not found.pareto_front[-1].in_validated_range or len(found.pareto_front) == 1
        inside = {n: fitted.predict({"rate_per_s": 50.0, key: n}).frame["in_validated_range"].all() for n in (2, 3)}
        assert inside == {2: True, 3: False}, key


def test_a_path_is_inside_among_what_the_factors_of_the_runs_put_there() -> None:
    text = OPEN % FREE + '[factors]\nthreads = "stations.cpu.servers = threads / 4"\n'
    runs = FitRuns([mmm_run(rate, threads=8) for rate in RATES])
    fitted = fit(runs, sj.Model.parse(text), draws=40)
    inside = [
        fitted.predict({"rate_per_s": 50.0, "stations.cpu.servers": n}).frame["in_validated_range"].all()
        for n in (2, 8)
    ]
    assert inside == [True, False], "8 threads are two servers"
