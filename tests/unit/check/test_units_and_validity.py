"""Laws asked of CSV rows without counts, units that were taken for others, and run folders that are not valid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli.test_new_user import run_at, sojourn

import sojourn as sj
from sojourn.errors import InputError


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_littles_law_of_a_row_that_has_no_count(tmp_path: Path) -> None:
    """200/s x 60 ms = 12 requests at once, with 6 users; 200/s x 30 ms = 6 are possible."""
    found = sj.check([written(tmp_path / "a.csv", "users,throughput_per_s,mean_ms\n6,200,60\n")])
    (finding,) = found.findings
    assert (finding.law, finding.severity) == ("littles_law", "contradiction") and "= 12 requests" in finding.found
    assert "unit" not in finding.remedy
    true = sj.check([written(tmp_path / "b.csv", "users,throughput_per_s,mean_ms\n6,200,30\n")])
    assert not true.findings and "Little's law" in true.loads[0].laws_checked


def test_times_in_another_unit_than_their_column_says(tmp_path: Path) -> None:
    """A mean of 30 ms in a column of seconds: 6000 requests at once instead of 6."""
    (finding,) = sj.check([written(tmp_path / "a.csv", "users,throughput_per_s,mean_s\n6,200,30\n")]).findings
    assert (
        finding.law == "littles_law"
        and "check the unit of the times" in finding.remedy
        and "too long" in finding.remedy
    )


def test_seconds_in_a_column_of_milliseconds(tmp_path: Path) -> None:
    """One user who waits for each answer, in s under `response_ms`: between its requests the service seems to stand still."""
    response = np.random.default_rng(3).uniform(0.09, 0.11, 300)
    response[150] = 2.0
    start = np.concatenate([[0.0], np.cumsum(response)[:-1]])
    rows = "\n".join(f"{s:.6f},{r:.6f}" for s, r in zip(start, response, strict=True))
    for finding in sj.check([written(tmp_path / "a.csv", f"start_s,response_ms\n{rows}\n")]).findings:
        assert finding.law != "coordinated_omission" or "too short" in finding.remedy


def test_a_csv_whose_times_have_no_unit_says_which(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no unit of start and latency") as error:
        sj.check([written(tmp_path / "a.csv", "start,latency\n0,0.1\n1,0.1\n")])
    assert "start_s" in error.value.remedy and "latency_ms" in error.value.remedy


def test_a_run_that_is_not_valid_is_no_clean_bill(tmp_path: Path) -> None:
    """All of its requests failed: `measure` calls it not valid, and so must whoever reads its folder."""
    bad = run_at(tmp_path / "bad", 40, failed=True)
    assert not bad.manifest["valid"]
    finding = next(one for one in sj.check([bad.path]).findings if one.law == "run_not_valid")
    assert finding.severity == "misleading" and bad.manifest["reasons"][0] in finding.found
    good = run_at(tmp_path / "good", 40)
    assert "run_not_valid" not in [one.law for one in sj.check([good.path]).findings]
    answer = json.loads(sojourn("check", good.path, bad.path, "--json").stdout)
    assert [one["valid"] for one in answer["load_tests"]] == [True, False]
    assert answer["load_tests"][1]["invalid_reasons"] == bad.manifest["reasons"]


def test_an_answer_about_a_run_that_is_not_valid_says_so(tmp_path: Path) -> None:
    bad, good = run_at(tmp_path / "bad", 40, failed=True), run_at(tmp_path / "good", 40)
    told = sojourn("query", "rate", good.path, bad.path).stdout
    assert told.count("NOT VALID") == 1 and f"{bad.path.name} is NOT VALID: {bad.manifest['reasons'][0]}" in " ".join(
        told.split()
    )
    answers = json.loads(sojourn("query", "rate; errors", good.path, bad.path, "--json").stdout)["answers"]
    assert [one["valid"] for one in answers] == [True, False] and answers[0]["invalid_reasons"] == []
    assert answers[1]["invalid_reasons"] == bad.manifest["reasons"] == answers[1]["parts"][0]["invalid_reasons"]
