"""By how much another configuration saturates later: from fits to runs that are as the laws have them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mmm_runs import mmm_run

import sojourn as sj
from sojourn.errors import InputError
from sojourn.fit import FitRuns

ONE = """
[stations.cpu]
servers = 1
[classes.user]
kind = "open"
rate_per_s = 1
[demands_s]
cpu = { user = { free = true } }
[factors]
cores = "stations.cpu.servers"
"""
RATES = (8.0, 16.0, 24.0, 32.0, 40.0)


@pytest.fixture(scope="module")
def fitted() -> sj.FittedModel:
    runs = [mmm_run(rate, delay_s=0.0, servers=1, cores=1) for rate in RATES]
    return sj.fit(FitRuns(runs), sj.Model.parse(ONE), draws=60)


def test_twice_the_servers_saturate_at_twice_the_rate_with_the_models_error_of_both(fitted: sj.FittedModel) -> None:
    value, low, high = sj.capacity_ratio(fitted, {"cores": 1, "rate_per_s": 1.0}, {"cores": 2, "rate_per_s": 1.0})
    assert value == pytest.approx(2.0) and low < 2.0 < high
    # the unknown cancels, the model's own error of two configurations does not: sqrt(2) of it
    sure = replace(
        fitted, demand_error_draws=(1.0,) * len(fitted.draws), demand_error_growth={}, fitted_saturation_shares=None
    )
    assert sj.capacity_ratio(sure, {"cores": 1, "rate_per_s": 1.0}, {"cores": 2, "rate_per_s": 1.0}) == pytest.approx(
        (2, 2, 2)
    )


def test_of_several_models_the_interval_holds_what_each_says(fitted: sj.FittedModel) -> None:
    delay = ONE.replace("servers = 1", 'kind = "delay"').replace('cores = "stations.cpu.servers"', "cores = []")
    other = sj.fit(
        FitRuns([mmm_run(rate, delay_s=0.0, servers=1, cores=1) for rate in RATES]), sj.Model.parse(delay), draws=60
    )
    with pytest.raises(InputError, match="no saturation rate"):
        sj.capacity_ratio(other, {"rate_per_s": 1.0}, {"rate_per_s": 2.0})
    fixed = sj.Model.parse(ONE.replace('cores = "stations.cpu.servers"', "cores = []"))
    same = sj.fit(FitRuns([mmm_run(rate, delay_s=0.0, servers=1, cores=1) for rate in RATES]), fixed, draws=60)
    both = replace(fitted, alternatives=((0.5, same),))
    _, low, high = sj.capacity_ratio(both, {"cores": 1, "rate_per_s": 1.0}, {"cores": 2, "rate_per_s": 1.0})
    assert low < 1.1 and high > 1.9
    with pytest.raises(InputError, match="level"):
        sj.capacity_ratio(fitted, {"cores": 1}, {"cores": 2}, level=2)
