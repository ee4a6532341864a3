"""A run that an objective allows more failures than any other run: 3 % of answers with status 503, where 5 % may fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_assess import judged, requests

from sojourn.errors import InputError
from sojourn.measure import measure
from sojourn.query.objectives import failures_allowed, read_objectives, surely_missed
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run


@pytest.mark.parametrize(
    ("allowed", "said"), [(0.05, ""), (0.02, "at most 2%"), (0.0, "at most 1%"), (0.001, "at most 1%")]
)
def test_a_run_is_valid_up_to_what_its_objective_allows(tmp_path: Path, allowed: float, said: str) -> None:
    frame = requests()
    failed = pl.Series("failure", (np.arange(frame.height) % 33 == 0).astype(np.uint8))  # one of 33
    more = {"failures_allowed": allowed} if allowed else {}
    folder = judged(tmp_path, frame.with_columns(failed), **more)
    failures = [one for one in folder.manifest["reasons"] if "failed" in one]
    assert [one.rpartition("; ")[2] for one in failures] == ([said] if said else [])


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        (["p99 < 50ms and errors < 5%", "errors <= 3%"], 0.03),
        (["p99 < 50ms"], 0.0),
        (["errors > 5%"], 0.0),
        (["errors <= 100%"], 1.0),
    ],
)
def test_what_objectives_allow(texts: list[str], share: float) -> None:
    assert failures_allowed(read_objectives(texts)) == pytest.approx(share)


def test_a_share_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="failures_allowed: 1.5; give a share"):
        measure("http://192.0.2.1/", tmp_path, rates_per_s=[5], failures_allowed=1.5)


@pytest.mark.parametrize(("failed", "missed"), [(5, False), (30, True)])
def test_a_single_user_does_not_miss_it_by_chance(tmp_path: Path, failed: int, missed: bool) -> None:
    """`errors < 5%`: of 100 requests 5 failed, which 2 % may (Clopper, Pearson: 2.0 % to 10.2 %); of 30 of 100 at least 22 %."""
    begun = np.arange(0, 2.0, 0.02)
    failure = np.zeros(len(begun), int)
    failure[np.linspace(20, 99, failed).astype(int)] = 1
    about = {"name": "users-1", "factors": {"users": 1}, "duration_s": 2.0}
    requests = {"intended_s": begun, "done_s": begun + 0.01, "failure": failure}
    folder: RunFolder = write_run(tmp_path / "run", manifest=about, requests=requests)
    (one,) = read_objectives(["errors < 5%"])
    assert surely_missed(folder, one) == missed
