"""I/O waits as a histogram, and sessions by what they wait for, from made-up runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn.errors import StudyError
from sojourn.runs.busy_series import busy_series
from sojourn.runs.host_samples import EVERYTHING
from sojourn.runs.record_logs import write_parquet
from sojourn.runs.run_folder import RunFolder
from sojourn_cases.ntier.io_waits import histogram, io_waits

PLAN: Any = SimpleNamespace(system=SimpleNamespace(factors={"disk_bps": 0}))


def run(path: Path, waits: list[float], factors: dict[str, Any], waiting: dict[str, float] | None = None) -> RunFolder:
    """Two cores, of which the first waits for a disk in these shares of 0.1 s, and is idle else; the second is busy."""
    times = 0.1 * np.arange(len(waits) + 1)
    states = {(core, item): np.zeros(times.size) for core in "01" for item in EVERYTHING}
    states["0", "iowait"][1:] = 0.1 * np.cumsum(waits)
    states["0", "idle"][1:] = 0.1 * np.cumsum(1 - np.array(waits))
    states["1", "user"] = times
    frames = [
        pl.DataFrame({"t_s": times, "source": "cpu", "key": core, "item": item, "value": values})
        for (core, item), values in states.items()
    ]
    manifest = {"window_s": [0.0, times[-1]], "valid": True, "status": "complete", "factors": factors}
    activity = {"database_activity": {"waiting": waiting, "checkpoints_s": []}} if waiting else {}
    folder = RunFolder.create(path, manifest | activity)
    write_parquet(pl.concat(frames), path / "host.parquet")
    return folder


def test_io_wait_is_a_series_of_all_cores(tmp_path: Path) -> None:
    shares, _ = busy_series(run(tmp_path / "a", [0.0, 1.0, 0.5, 0.2], {}), ["iowait"])
    assert shares[0] == pytest.approx([0.0, 0.5, 0.25, 0.1])


def test_a_sample_at_a_limit_is_in_the_upper_bin() -> None:
    assert histogram(np.array([0.0, 0.01, 0.05, 0.3, 0.5, 0.74, 1.0, 1.02])) == [0.25, 0.125, 0.125, 0.25, 0.25]


def test_each_point_is_a_row_of_both_tables(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / "a", [0.0, 0.0, 0.0, 1.0], {"disk_bps": 0}, {"Lock": 1.0}),
        run(tmp_path / "b", [1.0, 1.0, 1.0, 1.0], {"disk_bps": 8e6}, {"IO": 4.0, "Lock": 2.0}),
        run(tmp_path / "c", [1.0, 1.0, 1.0, 1.0], {"disk_bps": 8e6}, {"IO": 2.0}),
    ]
    study: Any = SimpleNamespace(of=lambda section: runs if section == "io mix" else [])
    found = io_waits(study, PLAN, {"section": "io mix", "factors": ["disk_bps"]})
    assert found.lines == ("I/O waits: most at disk_bps = 8000000.0, 50.0 % of the cores' time",)
    shares, sessions, *figures = found.sections[0].blocks
    assert [row[0] for row in shares.rows] == ["0", "8000000.0"]
    assert shares.rows[0][1:] == pytest.approx((0.125, 0.75, 0.0, 0.0, 0.25, 0.0))
    assert shares.rows[1][1:] == pytest.approx((0.5, 0.0, 0.0, 0.0, 1.0, 0.0))
    assert sessions.columns == ("disk_bps", "IO", "Lock") and sessions.rows == (
        ("0", 0.0, 1.0),
        ("8000000.0", 3.0, 1.0),
    )
    assert [figure.title for figure in figures] == [
        "I/O wait of each core: disk_bps = 0", "I/O wait of each core: disk_bps = 8000000.0",
    ]  # fmt: skip
    first, second = ([series.y for series in figure.series] for figure in figures)
    assert first == [pytest.approx((75.0, 0.0, 0.0, 0.0, 25.0)), pytest.approx((100.0, 0.0, 0.0, 0.0, 0.0))]
    assert second[0] == pytest.approx((0.0, 0.0, 0.0, 0.0, 100.0)), "of both runs"
    assert second[1] == pytest.approx((100.0, 0.0, 0.0, 0.0, 0.0)), "the other core never waits"


def test_runs_without_samples_are_said(tmp_path: Path) -> None:
    study: Any = SimpleNamespace(of=lambda section: [])
    found = io_waits(study, PLAN, {"section": "io mix", "factors": []})
    assert found.lines == ("no valid run has samples of I/O waits",)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"section": "x"}, "give section and factors"), ({"section": "x", "factors": ["disk_bsp"]}, "disk_bps")],
)
def test_options_that_are_none_are_named(options: dict[str, Any], said: str) -> None:
    with pytest.raises(StudyError, match=said):
        io_waits(SimpleNamespace(), PLAN, options)  # type: ignore[arg-type]


def test_cores_of_guests_have_the_names_of_their_guests(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [1.0, 0.0], {"strategy": "spread"})
    one.manifest["lab"] = {"guest_cores": {"front": [1], "database": [0]}}
    study: Any = SimpleNamespace(of=lambda section: [one])
    plan: Any = SimpleNamespace(system=SimpleNamespace(factors={"strategy": "spread"}))
    found = io_waits(study, plan, {"section": "writes", "factors": ["strategy"]})
    *_, figure = found.sections[0].blocks
    assert [series.name for series in figure.series] == ["database CPU 0", "front CPU 0"]
