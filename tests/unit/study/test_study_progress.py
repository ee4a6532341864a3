"""Which run of how many, what differs, and about how long the rest takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sojourn.study.study_progress import StudyProgress, progress_of
from sojourn.study.system import Point


def clock(*times_s: float) -> Any:
    return iter(times_s).__next__


def said(progress: StudyProgress, point: Point) -> str:
    with progress.run(point) as text:
        return text


def test_the_time_left_is_that_of_the_mean_run_so_far() -> None:
    """Runs of 10 and 20 s of 12, 2 of which are there: 9 are left after the first, 10 s each; then 8 of 15 s."""
    progress = StudyProgress(12, ("rate_per_s",), now_s=clock(0, 10, 10, 30, 30, 40))
    progress.there(2)
    points = [Point("ramp", {"rate_per_s": rate, "cores": 1}) for rate in (50.0, 100.0, 150.0)]
    assert [said(progress, point) for point in points] == [
        "run 3 of 12: ramp, 50.0 /s",
        "run 4 of 12: ramp, 100 /s; about 2 min left",
        "run 5 of 12: ramp, 150 /s; about 2 min left",
    ]


def test_seconds_below_a_minute_and_a_half_and_more_runs_than_were_planned() -> None:
    progress = StudyProgress(2, now_s=clock(0, 30, 30, 60, 60, 70))
    assert said(progress, Point("a")) == "run 1 of 2: a"
    assert said(progress, Point("a")) == "run 2 of 2: a; about 30 s left"
    assert said(progress, Point("a")) == "run 3 of 3: a; about 30 s left"


def test_what_differs_is_named_and_closed_loops_that_are_measured_first_are_counted() -> None:
    """Two shares of the saturation rate of one configuration: one closed loop before them. `seed` is the same everywhere."""
    system: Any = SimpleNamespace(settled=lambda factors, place: dict(factors))
    points = [Point("ramp", {"share": share, "workers": 2, "seed": 1}) for share in (0.2, 0.4)]
    points += [Point("four", {"rate_per_s": 50.0, "workers": 4, "seed": 1}, 2)]
    counted = progress_of(points, system, 16)
    assert (counted.runs, set(counted.varied), counted.repeated) == (4, {"workers", "rate_per_s"}, True)
    assert said(counted, points[2]) == "run 1 of 4: four, workers 4, 50.0 /s, 2"
