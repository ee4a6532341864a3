"""Small services whose limit is known, each taken through `sojourn study` by its two files: the limit and its demand are found.

The recorded table of all of them, with longer runs, is in benches/services.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from machine import Command

import sojourn as sj
from sojourn.fit.model_selection import choose_model

pytestmark = [pytest.mark.live, pytest.mark.alone]
SERVICES = Path(__file__).parent / "services"
WITHIN = 0.15  # runs are short; the interpreter and the kernel add some per cent
KNOWN = {
    "constant": ({"demands_s.workers.user.mean": 0.005}, "workers"),
    "pool": ({"demands_s.connections.user": 0.015}, "connections"),
    "two-pages": ({"demands_s.workers.look.mean": 0.003, "demands_s.workers.buy.mean": 0.009}, "workers"),
}


def shortened(text: str) -> str:
    """Runs of 1.5 s, four rates, and one that is predicted."""
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
    demands, limit = KNOWN[name]
    fitted = sj.FittedModel.read(tmp_path / "out/fitted.toml")
    for path, truth in demands.items():
        assert fitted.estimates[path].value == pytest.approx(truth, rel=WITHIN), path
    rows: list[dict[str, Any]] = json.loads((tmp_path / "out/predictions.json").read_text())["configurations"][0][
        "rows"
    ]
    busy = {row["station"]: row["value"] for row in rows if row["metric"] == "utilisation" and row["class"] == ""}
    assert max(busy, key=lambda station: busy[station]) == limit
    if name == "constant":
        _auto_is_honest(tmp_path, fitted)


def _auto_is_honest(here: Path, fitted: Any) -> None:
    """It says what was never varied, and does not take the little CPU time that these services need for their limit."""
    runs = sj.observe_runs([path for path in (here / "out/runs").iterdir() if path.name.startswith("ramp")])
    chosen = choose_model(runs)
    assert "workers was 3 in all runs" in chosen.why
    point = dict(runs.runs[0].factors)
    truth = fitted.predict(point).value("saturation_rate")
    low, _ = chosen.best.predict(point, 0.9).interval("saturation_rate")
    assert low is not None and low < 1.5 * truth
