"""What a study file can ask for beside sections and predictions: rivals, held-out values, shares, a choice, analyses, a draw."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_study import mistaken

from sojourn.errors import ModelError, StudyError
from sojourn.study import StudyResult, best_configuration, evaluation, run_study
from sojourn.study.checked_study import read_plan

TRUTH = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 30.0
[demands_s]
cpu = { user = 0.02 }
"""
FREE = TRUTH.replace("0.02", "{ free = true }") + '\n[factors]\nworkers = "stations.cpu.servers"\n'
WRONG = TRUTH.replace("0.02", "{ free = true }").replace("[stations.cpu]", '[stations.cpu]\nkind = "delay"')
MINE = '''
"""A system and an analysis of a user's own."""

from sojourn.model import Closed
from sojourn import Analysis, Factor, VirtualSystem


class Either(VirtualSystem):
    """The model with its open class, or with users who come back at once."""

    @property
    def factors(self):
        return {**super().factors, "users": Factor(default=0)}

    def settled(self, given, place):
        users = given.get("users", 0)
        found = super().settled({k: v for k, v in given.items() if k != "users"}, place)
        left_out = "rate_per_s" if users else "users"
        return {k: v for k, v in {**found, "users": users}.items() if k != left_out}

    def at(self, factors):
        model = super().at({k: v for k, v in factors.items() if k != "users"})
        if "users" not in factors:
            return model
        from dataclasses import replace

        return replace(model, classes=(Closed("user", factors["users"], reference_station="cpu"),))


def counted(found, plan, options):
    return Analysis((f"{options['word']}: {len(found.of('ramp'))} runs",))
'''
STUDY = """
name = "shop"
[system]
kind = "virtual"
model = "truth.toml"
factors = { workers = "stations.cpu.servers" }
[load]
for = "200s"
[[section]]
name = "ramp"
vary = { rate_per_s = [10, 20, 30, 40] }
[fit]
model = ["shop.toml", "wrong.toml"]
hold_out = { rate_per_s = [20.0] }
"""


def done(folder: Path, study: str, **options: Any) -> StudyResult:
    for name, text in {"truth": TRUTH, "shop": FREE, "wrong": WRONG, "study": study}.items():
        (folder / f"{name}.toml").write_text(text)
    (folder / "mine.py").write_text(MINE)
    return run_study(folder / "study.toml", out=folder / "out", say=lambda _: None, **options)


def test_rivals_are_judged_on_the_same_points_and_kinds_of_error_are_told_apart(tmp_path: Path) -> None:
    """M/M/1 with 20 ms is the truth; a delay has no queue, so that it is far off at 40/s (R = 100 ms)."""
    result = done(tmp_path, STUDY)
    found = result.findings
    assert found.rivals.best == "shop" and set(found.rivals.fitted) == {"shop", "wrong"}
    for model in found.rivals.fitted:
        assert sorted(set(found.rows("held out", model)["run"])) == ["ramp-workers=1-rate_per_s=20-1"]
        assert len(set(found.rows("training", model)["run"])) == 3
    one = found.rows("held out").filter(found.rows("held out")["metric"] == "response_time")
    assert one["error"].abs().max() < 0.1
    told = "\n".join(result.verdict)
    assert re.search("held out error, median of response time: shop [0-9.]+ %.*, wrong [0-9.]+ %", told), told
    assert "training error" not in told
    page = (tmp_path / "out/report.html").read_text()
    assert "Median errors" in page and "held out" in page and "Where nothing was fitted" in page


def test_a_section_with_an_x_has_figures_and_what_is_fitted_elsewhere_is_not_held_out(tmp_path: Path) -> None:
    """The section `same` runs a configuration of the fit: it is no proof of anything."""
    text = STUDY.replace("hold_out = { rate_per_s = [20.0] }", 'sections = ["ramp"]')
    text += '\n[[section]]\nname = "same"\nvary = { rate_per_s = [20, 25] }\nx = "rate_per_s"\n'
    found = done(tmp_path, text).findings
    rows = found.evaluation.filter(found.evaluation["section"] == "same")
    assert set(rows.select("run", "kind").iter_rows()) == {
        ("same-workers=1-rate_per_s=20-1", "training"), ("same-workers=1-rate_per_s=25-1", "held out"),
    }  # fmt: skip
    page = (tmp_path / "out/report.html").read_text()
    assert "same: throughput" in page and "same: response time" in page and "ramp: throughput" not in page


def test_saturated_where_it_was_not_is_an_error_and_counted() -> None:
    run = {"section": "two", "factors": {"rate_per_s": 70.0}, "valid": True}
    row = {
        "station": "",
        "class": "",
        "metric": "response_time",
        "value": None,
        "low": None,
        "high": None,
        "status": "unstable",
    }
    frame = pl.DataFrame(
        [evaluation.row_of(run, "two-1", row, "model", evaluation.HELD_OUT, 0.03) for _ in range(2)],
        schema=evaluation.SCHEMA,
    )
    assert frame["error"].to_list() == [float("inf")] * 2 and frame["inside"].to_list() == [False] * 2
    assert evaluation.median_error(frame, "response_time") == float("inf")
    assert evaluation.count_inside(frame) == (0, 2)


def _file(folder: Path, text: str) -> Path:
    file = folder / "study.toml"
    file.write_text(text)
    return file


SHARES = (
    STUDY.replace('kind = "virtual"', 'kind = "mine.py:Either"')
    .replace("rate_per_s = [10, 20, 30, 40]", "share = [0.2, 0.5, 0.8]")
    .replace('["shop.toml", "wrong.toml"]', '"shop.toml"')
    .replace("hold_out = { rate_per_s = [20.0] }", "")
    + """
[[predict]]
name = "two"
set = { workers = 2 }
vary = { share = [0.5, 0.8] }
[saturation]
users = 40
[[analysis]]
name = "mine.py:counted"
word = "seen"
"""
)


def test_shares_of_the_saturation_rate(tmp_path: Path) -> None:
    """50/s is the most that one worker of 20 ms does, 100/s two: rates are shares of what was measured, then of what was
    predicted, and the saturation rate is judged too."""
    result = done(tmp_path, SHARES)
    found = result.findings
    rates = sorted(run.manifest["factors"]["rate_per_s"] for run in found.of("ramp"))
    assert rates == pytest.approx([10, 25, 40], rel=0.05)
    blind = sorted(run.manifest["factors"]["rate_per_s"] for run in found.of("two"))
    assert blind == pytest.approx([50, 80], rel=0.1)
    full = found.blind.filter(found.blind["metric"] == "saturation_rate")
    assert full.height == 1 and full["measured"][0] == pytest.approx(100, rel=0.05)
    assert abs(full["error"][0]) < 0.1
    assert "seen: 3 runs" in result.verdict
    again = run_study(tmp_path / "study.toml", out=tmp_path / "out", say=lambda _: None)
    assert again.verdict == result.verdict


def test_a_choice_its_run_and_its_regret(tmp_path: Path) -> None:
    """At 45/s one worker of 20 ms takes 200 ms, two 25 ms, eight 20 ms: within 5 % of the best, three or four are enough
    (Erlang C)."""
    text = STUDY.replace('["shop.toml", "wrong.toml"]', '"shop.toml"').replace(
        "hold_out = { rate_per_s = [20.0] }", 'sections = ["ramp"]'
    )
    text += """
[[section]]
name = "grid"
set = { rate_per_s = 45 }
vary = { workers = [2, 8] }
[choose]
set = { rate_per_s = 45 }
vary = { workers = [1, 2, 3, 4, 8] }
objective = "response_time"
tolerance = 0.05
"""
    result = done(tmp_path, text)
    (choice,) = result.findings.choices
    assert choice.factors["workers"] == 3 and (tmp_path / "out/choices.json").exists()
    assert choice.measured == pytest.approx(choice.predicted, rel=0.1)
    assert 0 <= choice.regret < 0.1
    assert "The best by each model" in (tmp_path / "out/report.html").read_text()
    assert any(line.startswith("best by shop: ") and "from the best measured" in line for line in result.verdict)


def test_regret_has_an_interval_over_repetitions() -> None:
    """100 instead of 125 is a fifth lost; where repetitions differ, so do the ends; the best may be another one next time."""
    assert best_configuration._interval("a", {"a": [100.0, 100.0], "b": [125.0, 125.0]}, True) == pytest.approx(
        (0.2, 0.2)
    )
    assert best_configuration._interval("a", {"a": [100.0], "b": [125.0, 125.0]}, True) is None
    apart = {"a": [90.0, 110.0], "b": [100.0, 120.0]}
    low, high = best_configuration._interval("a", apart, True) or (0.0, 0.0)
    assert 0 <= low < 1 - 100 / 110 < high < 0.25 + 1e-9
    low, high = best_configuration._interval("b", apart, True) or (
        0.0,
        0.0,
    )  # the best as measured: 100 where the other has 110
    assert low == 0 and high == pytest.approx(1 / 11)


def test_only_some_parts_and_the_rest_later(tmp_path: Path) -> None:
    text = SHARES
    result = done(tmp_path, text, only_parts=("ramp",))
    assert {run.manifest["section"] for run in result.findings.runs} == {"saturation", "ramp"}
    assert result.findings.fitted is None
    with pytest.raises(
        StudyError, match="--only-parts: 'rmap'; did you mean ramp\\? \\(use one of ramp, fit, predict, mine.py:counted"
    ):
        run_study(tmp_path / "study.toml", out=tmp_path / "out", only_parts=("rmap",), say=lambda _: None)
    said: list[str] = []
    whole = run_study(tmp_path / "study.toml", out=tmp_path / "out", say=said.append)
    assert "3 of 3 runs already exist" in said and whole.findings.blind.height


def test_configurations_at_random_are_predicted_blind(tmp_path: Path) -> None:
    text = STUDY.replace('["shop.toml", "wrong.toml"]', '"shop.toml"').replace("hold_out = { rate_per_s = [20.0] }", "")
    text += "\n[draw]\nvary = { workers = [2, 3], rate_per_s = { low = 20.0, high = 80.0 } }\nrepetitions = 2\n"
    result = done(tmp_path, text, random_configurations=5, seed=7)
    rows = result.findings.blind.filter(result.findings.blind["metric"] == "response_time")
    assert rows.height == 10 and rows["predicted"].n_unique() == 5 and set(rows["section"]) == {"draw"}
    assert any("blind error of means of repeated runs: " in line and "at 5 points" in line for line in result.verdict)
    assert rows["error"].abs().max() < 0.2
    with pytest.raises(StudyError, match="--random-configurations 0"):
        done(tmp_path, text, random_configurations=0)


def test_follow_and_quick(tmp_path: Path) -> None:
    text = STUDY.replace(
        "vary = { rate_per_s = [10, 20, 30, 40] }", "vary = { workers = [1, 2] }\nset = { rate_per_s = 9.0 }"
    )
    text = text.replace('["shop.toml", "wrong.toml"]', '"shop.toml"')
    text = text.replace("[fit]", "quick = { vary = { workers = [3] }, repetitions = 2 }\n[fit]")
    for name, given in {"truth": TRUTH, "shop": FREE, "wrong": WRONG}.items():
        (tmp_path / f"{name}.toml").write_text(given)
    file = _file(tmp_path, text)
    assert [p.factors["workers"] for p in read_plan(file).measured] in ([1, 2], [2, 1])
    assert [p.factors["workers"] for p in read_plan(file, quick=True).measured] == [3, 3]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "virtual"', 'kind = "mine.py:Neither"', "no Neither in the file"),
        ('kind = "virtual"', 'kind = "none.py:X"', "none.py"),
        (
            'model = ["shop.toml", "wrong.toml"]',
            'model = ["shop.toml", "shop.toml"]',
            "give files with names that differ",
        ),
        ('name = "ramp"', 'name = "fit"', "a section named 'fit'"),
        ("rate_per_s = [10, 20, 30, 40]", "share = [0.5, 3]", "share = 3"),
        ('name = "ramp"', 'name = "ramp"\nx = "rate"', "x = 'rate'"),
        ("vary = { rate", 'follow = { workers = "cores" }\nvary = { rate', "follow: workers = 'cores'"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, said: str) -> None:
    for name, given in {"truth": TRUTH, "shop": FREE, "wrong": WRONG}.items():
        (tmp_path / f"{name}.toml").write_text(given)
    (tmp_path / "mine.py").write_text(MINE)
    file = _file(tmp_path, STUDY)
    text = STUDY.replace(old, new)
    assert text != STUDY and said in mistaken(file, text, read_plan)


def test_an_analysis_that_fails_costs_its_own_line(tmp_path: Path) -> None:
    text = STUDY.replace('["shop.toml", "wrong.toml"]', '"shop.toml"') + '\n[[analysis]]\nname = "mine.py:counted"\n'
    result = done(tmp_path, text)
    assert "the analysis mine.py:counted failed: KeyError: 'word'" in result.verdict and result.report.exists()


def test_a_model_file_is_read_before_anything_is_run(tmp_path: Path) -> None:
    text = STUDY.replace('["shop.toml", "wrong.toml"]', '"shop.toml"')
    for name, given in {"truth": TRUTH, "wrong": WRONG, "shop": FREE + '[observed]\ncpuu = "cpu"\n'}.items():
        (tmp_path / f"{name}.toml").write_text(given)
    with pytest.raises(ModelError, match=r"shop.toml:12: observed.cpuu: 'cpuu'; did you mean cpu"):
        read_plan(_file(tmp_path, text))


def test_another_model_file_is_another_study_once_its_predictions_are_written(tmp_path: Path) -> None:
    text = STUDY.replace('["shop.toml", "wrong.toml"]', '"shop.toml"')
    done(tmp_path, text)
    (tmp_path / "shop.toml").write_text(FREE + "# changed\n")
    with pytest.raises(StudyError, match="predictions.json there belongs to an earlier version of this study"):
        run_study(tmp_path / "study.toml", out=tmp_path / "out", say=lambda _: None)
