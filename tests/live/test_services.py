"""Small services whose limit is known, each taken through `sojourn study` by its two files: the limit and its demand are found.

The recorded table of all of them, with longer runs, is in benches/services.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from machine import Command

import sojourn as sj
from sojourn.fit.model_selection import choose_model

pytestmark = [pytest.mark.live, pytest.mark.alone]
SERVICES = Path(__file__).parent / "services"
WITHIN = 0.15  # runs are short; the interpreter and the kernel add some per cent
KNOWN = {  # the demands of the limit: path in the model, whether of slow pages, what was asked for in seconds
    "constant": ("workers", {"demands_s.workers.user.mean": (False, 0.005)}),
    "pool": ("connections", {"demands_s.connections.user": (False, 0.015)}),
    "two-pages": (
        "workers", {"demands_s.workers.look.mean": (False, 0.003), "demands_s.workers.buy.mean": (True, 0.009)},
    ),
}  # fmt: skip
EXPONENTIAL = ("pool",)  # a mean of n lies below its expectation by 4/sqrt(n) of it in one run of 30 000


def shortened(text: str) -> str:
    """Runs of 1.5 s, four rates, and one that is predicted; the service tells by its own clocks what was held."""
    text = text.replace('"../queueing.py"', '"../queueing.py", "--held", "held.csv"')
    measured, *predicted = text.split("[[predict]]")
    measured = re.sub(r"(rate_per_s = \[)\d+, (.*\])", r"\1\2", measured.replace('"6s"', '"1.5s"'))
    return measured + "[[predict]]" + re.sub(r"\[\d+, (\d+)\]", r"[\1]", predicted[0])


@pytest.mark.parametrize("name", KNOWN)
def test_limit_and_demand_are_found(name: str, tmp_path: Path) -> None:
    shutil.copytree(SERVICES, tmp_path, dirs_exist_ok=True)
    file = tmp_path / name / "study.toml"
    file.write_text(shortened(file.read_text()))
    command = Command(tmp_path, "study", f"{name}/study.toml", "--out", "out")
    assert command.end(120) == 0, command.said()
    assert command.left() == []
    limit, demands = KNOWN[name]
    fitted = sj.FittedModel.read(tmp_path / "out/fitted.toml")
    for path, (slow, asked_s) in demands.items():
        held = _held_s(next(tmp_path.rglob("held.csv")), limit, slow)
        held_s, scatter = mean(held), 4 / math.sqrt(len(held)) if name in EXPONENTIAL else 0.0
        assert asked_s * (1 - scatter) < held_s < 4 * asked_s, (
            "a busy machine wakes sleepers late: the demand is what the worker clocked"
        )
        assert fitted.estimates[path].value == pytest.approx(held_s, rel=WITHIN), path
    rows: list[dict[str, Any]] = json.loads((tmp_path / "out/predictions.json").read_text())["configurations"][0][
        "rows"
    ]
    busy = {row["station"]: row["value"] for row in rows if row["metric"] == "utilisation" and row["class"] == ""}
    assert max(busy, key=lambda station: busy[station]) == limit
    if name == "constant":
        _auto_is_honest(tmp_path, fitted)


def _held_s(file: Path, by: str, slow: bool) -> list[float]:
    """The times in seconds for which requests held a worker or a connection, by the service's own clock."""
    rows = [line.split(",") for line in file.read_text().splitlines()]
    return [float(held_s) for kind, of_slow, held_s in rows if (kind, of_slow) == (by, f"{slow:d}")]


def _auto_is_honest(here: Path, fitted: Any) -> None:
    """It says what was never varied, and does not take the little CPU time that these services need for their limit."""
    runs = sj.fit.observe_runs([path for path in (here / "out/runs").iterdir() if path.name.startswith("ramp")])
    chosen = choose_model(runs)
    assert "workers was 3 in all runs" in chosen.why
    point = dict(runs.runs[0].factors)
    truth = fitted.predict(point).value("saturation_rate")
    low, _ = chosen.best.predict(point, 0.9).interval("saturation_rate")
    assert low is not None and low < 1.5 * truth
