"""Two sides of the workbench's comparison: the distributions of both in one figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from ui_folder import run_folder

from sojourn.simulate.simulated_folder import write_run
from sojourn.ui.run_answers import compared


def side(where: Path, answer_s: float, rate_per_s: float = 100.0) -> list[str]:
    due = np.arange(0.0, 30.0, 1 / rate_per_s)
    write_run(
        where,
        manifest={"name": where.name, "factors": {"rate_per_s": rate_per_s}, "duration_s": 30.0},
        requests={"intended_s": due, "done_s": due + answer_s},
    )
    return [str(where)]


def drawn(told: dict[str, Any]) -> dict[str, set[float]]:
    (figure,) = told["figures"]
    return {one["series"]: {round(x, 3) for x in one["x"]} for one in figure["spec"]["data"]["values"]}


def test_a_curve_a_side(tmp_path: Path) -> None:
    """Each answer takes 2 ms, and 4 ms; at different rates there is no verdict, and still the figure."""
    one, other = side(tmp_path / "a", 0.002), side(tmp_path / "b", 0.004, 50.0)
    told = compared(one, other, ("A", "B"), 760)
    assert drawn(told) == {"A": {2.0}, "B": {4.0}} and "error" in told


def test_without_records_of_requests_there_is_no_curve(tmp_path: Path) -> None:
    one, other = str(run_folder(tmp_path / "a", 20.0)), str(run_folder(tmp_path / "b", 20.0))
    assert compared([one], [other], ("A", "B"), 760)["figures"] == []
