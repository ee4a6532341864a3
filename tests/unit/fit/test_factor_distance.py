"""How far a configuration lies beyond those that were fitted: the law of the square root, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.factor_distance import beyond, distances, is_load

TEXT = """
[parameters]
work_s = 0.02
keys = 1
[factors]
workers = "stations.cpu.servers"
clients = "classes.user.rate_per_s"
[stations.cpu]
servers = 2
[classes.user]
kind = "open"
rate_per_s = 10.0
[demands_s]
cpu = { user = "work_s * keys" }
"""
MODEL = sj.Model.parse(TEXT)
RUNS = [{"workers": 2, "rate_per_s": 10.0, "mix": "read"}, {"workers": 4, "rate_per_s": 40.0, "mix": "read"}]


@pytest.mark.parametrize(
    ("value", "far"),
    [
        (2, 0.0),
        (3, 0.0),
        (4, 0.0),
        (6, 2 * (1.5**0.5 - 1)),
        (8, 2 * (2**0.5 - 1)),
        (16, 2.0),
        (1, 2 * (2**0.5 - 1) / 2),
    ],
)
def test_beyond_by_the_square_root(value: float, far: float) -> None:
    """2 (√z - √m)/√m beyond the largest, 4; 2 (√2 - √1)/√4 below the least."""
    assert beyond(value, np.array([2.0, 4.0]), 4.0) == pytest.approx(far, abs=1e-12)


def test_a_number_that_may_be_0() -> None:
    assert beyond(0.0, np.array([1.0, 4.0]), 4.0) == pytest.approx(1.0)  # 2 (1 - 0)/2
    assert beyond(4.0, np.array([0.0, 0.0]), 0.0) == pytest.approx(4.0)  # nothing to measure it by


def test_each_factor_by_itself() -> None:
    found = distances(MODEL, RUNS, False, {"workers": 16, "rate_per_s": 40.0, "mix": "write"})
    assert found == {"workers": pytest.approx(2.0), "mix": pytest.approx(2 * (2**0.5 - 1))}
    assert distances(MODEL, RUNS, False, {"workers": 3, "rate_per_s": 25.0, "mix": "read"}) == {}


def test_a_path_that_is_a_factor_and_one_that_no_run_varied() -> None:
    assert distances(MODEL, RUNS, False, {"stations.cpu.servers": 16}) == {"workers": pytest.approx(2.0)}
    assert distances(MODEL, [], False, {"stations.cpu.servers": 8}) == {"stations.cpu.servers": pytest.approx(2.0)}
    assert distances(MODEL, [], False, {"workers": 8}) == {"workers": pytest.approx(2.0)}
    assert distances(MODEL, RUNS, False, {"keys": 4, "parameters.keys": 4}) == {"keys": pytest.approx(2.0)}
    assert distances(MODEL, RUNS, False, {"demands_s.cpu.user": 0.5}) == {}, "a time is what the user says of it"


def test_load_of_an_open_model_is_its_share_of_the_saturation_rate() -> None:
    """Four times the rate with four times the workers is the same share."""
    assert distances(MODEL, RUNS, True, {"rate_per_s": 160.0, "workers": 4}) == {}
    assert distances(MODEL, RUNS, False, {"rate_per_s": 160.0, "workers": 4}) == {"rate_per_s": pytest.approx(2.0)}
    assert beyond(np.array([0.2, 0.8]), np.array([0.1, 0.2]), 0.2) == pytest.approx([0.0, 2.0])
    assert is_load(MODEL, "rate_per_s") and is_load(MODEL, "clients") and not is_load(MODEL, "workers")
