"""Runs of `sojourn load`, which name no level: it is that of their load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.fit.run_contents import load_levels
from sojourn.model.unknown_parameters import replaced
from sojourn.simulate.simulated_run import as_run

SERVICE = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 1.0
[demands_s]
cpu = { user = 0.01 }
"""
TARGETS = {"targets": [{"class": "/", "url": "http://127.0.0.1:1/", "weight": 1.0}]}


def lane(**load: object) -> dict[str, object]:
    return {"load": {"lanes": [{**load, **TARGETS}]}}


def test_the_level_is_the_rate_or_the_users() -> None:
    assert load_levels(lane(arrivals={"kind": "poisson", "rate_per_s": 30.0})) == {"rate_per_s": 30.0}
    think = {"kind": "exponential", "mean": 0.5}
    assert load_levels(lane(closed={"users": 20, "think": think})) == {"users": 20, "think_s": 0.5}
    assert load_levels(lane(closed={"users": 20, "think": {"mean": 0.0}})) == {"users": 20}
    assert load_levels({}) == load_levels({"load": {"lanes": [{}, {}]}}) == {}


def test_threads_of_one_load_are_one_level() -> None:
    """`--generator-threads 2` of memcached or messages deals the rate, or the users, out over two lanes."""
    both = [
        {"arrivals": {"kind": "poisson", "rate_per_s": 30.0}},
        {"arrivals": {"kind": "poisson", "rate_per_s": 30.0}},
    ]
    assert load_levels({"load": {"lanes": both}}) == {"rate_per_s": 60.0}
    think = {"kind": "exponential", "mean": 0.5}
    users = [{"closed": {"users": 11, "think": think}}, {"closed": {"users": 10, "think": think}}]
    assert load_levels({"load": {"lanes": users}}) == {"users": 21, "think_s": 0.5}
    users[1]["closed"] = {"users": 10, "think": {"kind": "exponential", "mean": 0.1}}
    assert load_levels({"load": {"lanes": users}}) == {}
    uniform = lane(closed={"users": 20, "think": {"kind": "uniform", "low": 0.1, "high": 0.3}})
    assert load_levels(uniform) == {}


def test_a_model_file_is_fitted_at_the_rates_of_the_loads(tmp_path: Path) -> None:
    """M/M/1 of 10 ms at three rates: with the rate of the file, 1/s, in place of theirs its time would be 12 to 25 ms."""
    for rate in (20.0, 40.0, 60.0):
        path = tmp_path / f"rate-{rate:g}"
        as_run(replaced(sj.Model.parse(SERVICE), {"classes.user.rate_per_s": rate}), path, until_s=200, seed=int(rate))
        file = path / "manifest.json"
        manifest = json.loads(file.read_text())
        manifest |= lane(arrivals={"kind": "poisson", "rate_per_s": rate}) | {"factors": {}}
        manifest.pop("resources", None)
        file.write_text(json.dumps(manifest))
    model = sj.Model.parse(SERVICE.replace("0.01", "{ free = true }"))
    fitted = sj.fit.fit(sj.fit.observe_runs([tmp_path]), model)
    assert fitted.estimates["demands_s.cpu.user"].value == pytest.approx(0.01, rel=0.1)
