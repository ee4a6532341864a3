"""A quantile that is made of means, beside the law of waiting in M/M/m: P(W > t) = C exp(-(m mu - lambda) t), C Erlang's formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mmm_runs import erlang_c

import sojourn as sj
from sojourn.capacity.quantiles_by_means import quantiles_by_means
from sojourn.plan.predictor import predictor_of

TEXT = """
[stations.cpu]
servers = %d
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = 0.02 }
"""


@pytest.mark.parametrize(
    ("servers", "rel"), [(1, 0.002), (2, 0.06), (4, 0.12)]
)  # Sakasegawa's chance of several is not exact
def test_of_several_servers(servers: int, rel: float) -> None:
    predictor = predictor_of(sj.Model.parse(TEXT % servers), {})
    full = servers / 0.02
    rates = np.array([0.5, 0.7, 0.9]) * full
    found = quantiles_by_means(predictor, {}, rates, 0.99, 1)
    waits = np.array([erlang_c(servers, rate * 0.02) for rate in rates])
    expected = 0.02 + np.log(np.maximum(waits * 100, 1)) / (full - rates)
    assert found[0] == pytest.approx(expected, rel=rel)


def test_nobody_waits_at_a_low_rate_and_all_for_ever_when_it_is_full() -> None:
    predictor = predictor_of(sj.Model.parse(TEXT % 4), {})
    low, full = quantiles_by_means(predictor, {}, np.array([2.0, 201.0]), 0.99, 1)[0]
    assert low == pytest.approx(0.02, rel=1e-6) and math.isinf(full)


def test_a_time_that_grows_with_the_load_is_no_waiting() -> None:
    """20 ms that are 30 ms where all of four servers are busy: at 20 % hardly anybody waits, and a request takes 22 to 23 ms."""
    text = TEXT.replace("user = 0.02", 'user = "0.02 * (1 + 0.5 * u)"') % 4
    predictor = predictor_of(sj.Model.parse(text), {})
    (found,) = quantiles_by_means(predictor, {}, np.array([36.0]), 0.99, 1)  # u = 0.2
    assert 0.02 < found[0] < 0.04  # the growth taken as waiting: 0.02 + 0.002/0.03 ln 3 = 0.09
