"""One closed class at many values at once, as arrays: what a network for each would have said."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.model_evaluation import ModelEvaluator

TEXT = """
[parameters]
users = 1
[stations.cpu]
discipline = "ps"
[stations.disk]
[stations.way]
kind = "delay"
[classes.user]
kind = "closed"
population = 3
think_s = "away_s"
[service_s.cpu]
user = "work_s + key_s*keys"
[visits.cpu]
user = 2
[demands_s.disk]
user = { free = true, start = 0.01 }
[demands_s.way]
user = 0.005
"""
PARAMETERS = """
[parameters]
work_s = { free = true, start = 0.01 }
key_s = { free = true, low = 0, start = 0.001 }
keys = 1
away_s = { metric = "residence_time", station = "client", formula = "away0_s + key_s*keys" }
away0_s = { free = true, start = 0.1 }
"""
MODEL = TEXT.replace("[parameters]\nusers = 1\n", PARAMETERS)
POINTS = [{"keys": 1, "users": 1}, {"keys": 4, "users": 7}, {"keys": 9, "users": 40}]
VALUES = np.array([[0.01, 0.001, 0.1, 0.01], [0.02, 0.0, 0.05, 0.03], [0.002, 0.003, 0.001, 0.0005]])


@pytest.fixture
def evaluator() -> ModelEvaluator:
    found = ModelEvaluator(sj.Model.parse(MODEL), POINTS)
    assert found.paths == ["parameters.work_s", "parameters.key_s", "parameters.away0_s", "demands_s.disk.user"]
    return found


def test_the_arrays_say_what_the_networks_say(evaluator: ModelEvaluator) -> None:
    assert evaluator.times is not None
    found = evaluator.at(VALUES)
    one_by_one = evaluator.solved(evaluator.networks_at(VALUES))
    for key, values in one_by_one.values.items():
        assert found.values[key] == pytest.approx(values, rel=1e-9), key
    some = evaluator.at(VALUES, which=[2, 0])
    whole = found.values["", "", "throughput"].reshape(3, 3)
    assert some.values["", "", "throughput"].reshape(3, 2) == pytest.approx(whole[:, [2, 0]], rel=1e-12)


def test_one_user_meets_nobody(evaluator: ModelEvaluator) -> None:
    """A cycle of one user is the sum of all times: two visits of 11 ms, the disk, the way, and away."""
    found = evaluator.at(VALUES[:1]).values
    response_s = 2 * (0.01 + 0.001) + 0.01 + 0.005
    assert found["", "", "response_time"][0] == pytest.approx(response_s)
    assert found["", "", "throughput"][0] == pytest.approx(1 / (response_s + 0.1 + 0.001))
    assert found["parameters.away_s", "", "parameter"] == pytest.approx([0.101, 0.104, 0.109])
    assert found["cpu", "", "busy"][0] == pytest.approx(0.022 / (response_s + 0.101))


def test_many_users_fill_the_slowest_station(evaluator: ModelEvaluator) -> None:
    """Asymptotic bound: one over 2 (10 + 9·1) ms."""
    found = evaluator.at(VALUES[:1]).values["", "", "throughput"][2]
    assert found == pytest.approx(1 / 0.038, rel=1e-3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[stations.disk]\n", "[stations.disk]\nservers = 2\n"),  # another method
        ("work_s + key_s*keys", "work_s + key_s*keys*(1 - u)"),  # a time that follows the load
        ('kind = "closed"\npopulation = 3\nthink_s = "away_s"', 'kind = "open"\nrate_per_s = "away_s"'),
    ],
)
def test_what_is_no_time_of_one_closed_class_is_solved_network_by_network(old: str, new: str) -> None:
    text = MODEL.replace(old, new)
    assert text != MODEL
    points = [{"keys": 1}, {"keys": 3}]
    assert ModelEvaluator(sj.Model.parse(text), points).times is None


def test_a_factor_that_is_true_or_false_counts_one_or_nothing() -> None:
    model = sj.Model.parse(MODEL.replace("key_s*keys", "key_s*split").replace("keys = 1", "keys = 1\nsplit = 0", 1))
    found = ModelEvaluator(model, [{"split": True, "keys": 1}, {"split": False, "keys": 1}]).at(VALUES[:1])
    away = found.values["parameters.away_s", "", "parameter"]
    assert away == pytest.approx([0.101, 0.1])
