"""Times of one closed class by formulas, at many values at once: what a network for each would have said."""

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
away_s = { metric = "residence_time", metric_station = "client", model_formula = "away0_s + key_s*keys" }
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
    found = evaluator.at(VALUES)
    one_by_one = evaluator.solved(list(evaluator.networks_at(VALUES)))
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


def test_where_a_formula_of_a_time_is_below_nothing_it_takes_none() -> None:
    """A search may come there: with 0.01 s less 0.02 s at the processor what is left is the disk, the way, and away."""
    model = sj.Model.parse(MODEL.replace("work_s + key_s*keys", "work_s - key_s*keys"))
    found = ModelEvaluator(model, POINTS[:1]).at(np.array([[0.01, 0.02, 0.1, 0.01]])).values
    assert found["", "", "response_time"] == pytest.approx([0.01 + 0.005])


def test_a_factor_that_is_true_or_false_counts_one_or_nothing() -> None:
    model = sj.Model.parse(MODEL.replace("key_s*keys", "key_s*split").replace("keys = 1", "keys = 1\nsplit = 0", 1))
    found = ModelEvaluator(model, [{"split": True, "keys": 1}, {"split": False, "keys": 1}]).at(VALUES[:1])
    away = found.values["parameters.away_s", "", "parameter"]
    assert away == pytest.approx([0.101, 0.1])
