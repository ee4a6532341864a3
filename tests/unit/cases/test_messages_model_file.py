"""The message service as a model file, fitted by the general fit: beside the case's own network, on configurations not fitted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn as sj
from sojourn.study.system import Point
from sojourn_cases.messages.message_service import MessagesLoad
from sojourn_cases.messages.message_service_simulated import SimulatedMessages, SimulatedOptions
from sojourn_cases.messages.message_template import MessageTemplate

FILE = Path(sj.__file__).parents[2] / "cases/sojourn_cases/messages/model.toml"
CONFIGURATIONS = [
    (20, 20, 90, 0.1, 1), (80, 1, 80, 0.0, 1), (80, 4, 80, 0.0, 1), (80, 16, 80, 0.0, 1), (6, 6, 240, 0.1, 1), (24, 24, 240, 0.1, 1),
    (20, 20, 5, 0.1, 1), (20, 20, 40, 0.1, 1), (20, 20, 160, 0.1, 1), (24, 24, 240, 0.1, 3), (6, 4, 60, 0.05, 1), (6, 4, 120, 0.2, 3),
]  # fmt: skip
NAMES = ("workers", "connections", "clients", "retry_s", "middlewares")


def runs(configurations: list[tuple[Any, ...]], folder: Path, first: int) -> list[sj.RunFolder]:
    load = MessagesLoad.model_validate({"for": "8s", "put": 1.0, "take": 1.5, "message_bytes": 16})
    with SimulatedMessages(SimulatedOptions(), load, folder).open() as session:
        points = [Point("all", dict(zip(NAMES, one, strict=True)), 1) for one in configurations]
        return [session.run(point, folder / f"run-{first + i}", first + i) for i, point in enumerate(points)]


def test_configurations_that_were_not_fitted_are_predicted_as_well_as_by_the_network_of_the_case(
    tmp_path: Path,
) -> None:
    measured = runs(CONFIGURATIONS, tmp_path, 500)
    fitted = sj.fit_model(sj.observe_runs(measured), sj.Model.read(FILE), draws=100)
    assert fitted.estimates["parameters.alone_per_s"].value == pytest.approx(400, rel=0.1)  # what was put in
    assert fitted.estimates["parameters.empty_share"].value == pytest.approx(0.2, abs=0.01)
    own = MessageTemplate().fit(measured, 1, {}).fitted["usl"]
    rng = np.random.default_rng(9)
    new = [
        (
            int(rng.integers(2, 33)),
            int(rng.integers(2, 25)),
            int(rng.integers(20, 250)),
            float(rng.uniform(0.02, 0.4)),
            m,
        )
        for m in (1, 2, 3) * 4
    ]
    errors: dict[str, list[float]] = {"file": [], "case": []}
    inside = dict.fromkeys(errors, 0)
    for one, run in zip(new, runs(new, tmp_path, 700), strict=True):
        factors, real = dict(zip(NAMES, one, strict=True)), run.metrics().value("response_time")
        for name, model in (("file", fitted), ("case", own)):
            told = model.predict(factors, level=0.9)
            low, high = told.interval("response_time")
            errors[name].append(abs(told.value("response_time") / real - 1))
            inside[name] += bool(low is not None and low <= real and (high is None or real <= high))
    medians = {name: float(np.median(of)) for name, of in errors.items()}
    assert medians["file"] <= medians["case"] + 0.01, medians  # a run of eight seconds is known to about 1 %
    assert inside["file"] >= inside["case"], inside


def test_the_rival_with_batching_is_the_same_service_where_nothing_is_batched() -> None:
    plain, batching = (sj.Model.read(FILE.with_name(f"{name}.toml")) for name in ("model", "batching"))
    none = sj.replaced(batching, {"parameters.batching": 0.0})
    assert none.station("service").rates_per_s == pytest.approx(plain.station("service").rates_per_s)
    half = sj.replaced(batching, {"parameters.batching": 1.0, "parameters.half": 10.0}).station("service").rates_per_s
    assert half[10] / plain.station("service").rates_per_s[10] == pytest.approx(1.5)  # with ten beside the first
