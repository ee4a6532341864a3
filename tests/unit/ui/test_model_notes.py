"""What is said below the curves of a model: of the point of the sliders, and apart from it what is true of a part of the curve only."""

from __future__ import annotations

from sojourn.fit.predict_model import BEYOND
from sojourn.solve import status
from sojourn.table import Metrics
from sojourn.ui.model_answers import PAST, note_of


def metrics(*points: tuple[str, bool]) -> Metrics:
    rows = [
        {"metric": "response_time", "value": 1.0, "status": name, "in_validated_range": inside}
        for name, inside in points
    ]
    lines = [status.message({name for name, _ in points}), "" if all(inside for _, inside in points) else BEYOND]
    return Metrics.of(rows, "mm1", message="\n".join(filter(None, lines)))


def test_a_curve_that_ends_beyond_saturation_is_no_alarm_about_the_setting() -> None:
    now = metrics(("ok", True))
    told = note_of(metrics(("ok", True), ("open_above", False), ("unstable", False)), now)
    assert told.splitlines()[0] == PAST and "unstable" not in told and "open_above" not in told
    assert "part of the curve lies outside what was measured" in told


def test_a_setting_beyond_saturation_is_an_alarm() -> None:
    now = metrics(("unstable", False))
    told = note_of(metrics(("ok", True), ("unstable", False)), now)
    assert told.startswith("unstable: ") and PAST not in told and BEYOND in told
