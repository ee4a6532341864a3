"""`[draw] system`: several systems at random, each a study of its own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from test_engine_features import FREE, STUDY, TRUTH, WRONG, done

import sojourn as sj
from sojourn.errors import StudyError
from sojourn.study.checked_study import read_plan


def test_systems_at_random_are_each_fitted_and_predicted_blind(tmp_path: Path) -> None:
    """Demands of 20 and 30 ms: each draw finds its own, as no fit is shared."""
    text = STUDY.replace('["shop.toml", "wrong.toml"]', '"shop.toml"').replace("hold_out = { rate_per_s = [20.0] }", "")
    text = text.replace("vary = { rate_per_s = [10, 20, 30, 40] }", "vary = { rate_per_s = [8, 16, 24] }")
    text += '\n[[predict]]\nname = "two"\nset = { workers = 2 }\nvary = { rate_per_s = [30, 50] }\n'
    text += '\n[draw]\nsystem = { model = ["truth.toml", "slow.toml"] }\n'
    (tmp_path / "slow.toml").write_text(TRUTH.replace("0.02", "0.03"))
    result = done(tmp_path, text, random_configurations=3, seed=2)
    drawn = pl.read_csv(result.folder / "drawn.csv")
    assert drawn["draw"].to_list() == ["draw-01", "draw-02", "draw-03"] and drawn["model"].n_unique() == 2
    for name, model in drawn.iter_rows():
        fitted = sj.FittedModel.read(result.folder / name / "fitted.toml")
        truth = 0.02 if model == "truth.toml" else 0.03
        assert fitted.estimates["demands_s.cpu.user"].value == pytest.approx(truth, rel=0.1)
    assert result.verdict[0].startswith("3 random systems: ") and "draw-03" in result.report.read_text()
    known = pl.read_csv(result.folder / "validation.csv").filter(pl.col("inside").is_not_null())
    assert set(known["section"]) == set(drawn["draw"]) and set(known["kind"]) == {"blind"}
    assert known["inside"].sum() >= known["inside"].len() - 2 >= 4
    with pytest.raises(StudyError, match="either vary or system"):
        done(tmp_path, text + "vary = { workers = [2] }\n", random_configurations=1)


def test_runs_of_a_drawn_system_are_as_long_as_draw_says(tmp_path: Path) -> None:
    """And as often: `repetitions` beside `system` had no effect; `--quick` has its own."""
    text = STUDY + '\n[draw]\nfor = 7\nrepetitions = 3\nsystem = { model = ["truth.toml"] }\n[quick]\nfor = 5\n'
    for name, of in (("study", text), ("truth", TRUTH), ("shop", FREE), ("wrong", WRONG)):
        (tmp_path / f"{name}.toml").write_text(of)
    whole, one, quick = (
        read_plan(tmp_path, quick=short, system_options=of)
        for short, of in ((False, None), (False, {"model": "truth.toml"}), (True, {"model": "truth.toml"}))
    )
    assert [plan.study.load["for"] for plan in (one, quick)] == [7, 5] and whole.study.load.get("for") != 7
    assert [plan.measured[0].repetition for plan in (one, quick)] and len(one.measured) == 3 * len(quick.measured)
    with pytest.raises(StudyError, match="for beside vary"):
        done(tmp_path, STUDY + "\n[draw]\nfor = 7\nvary = { workers = [2] }\n", random_configurations=1)
