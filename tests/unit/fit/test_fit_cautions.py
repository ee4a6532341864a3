"""What a fit says against trust in its predictions is said again by whatever is made of it."""

from __future__ import annotations

from pathlib import Path

from mmm_runs import FREE, OPEN, RATES, RUNS

import sojourn as sj
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_fit import fit
from sojourn.fit.model_selection import choose_model
from sojourn.fit.rival_models import fit_rivals


def test_what_no_model_fits_is_said_again_by_predictions_and_plans(tmp_path: Path) -> None:
    """Response times that go up and down with the load are of no queue: the fit says so, and so must all that is made of it."""
    odd = [
        FitRun(f"r{r:g}", {"rate_per_s": r}, {("", "response_time"): (v, 0.01)}, {})
        for r, v in zip(RATES, (0.5, 0.05, 0.4, 0.03, 0.02, 0.3, 0.01), strict=True)
    ]
    chosen = choose_model(FitRuns(odd))
    chosen.best.write(tmp_path / "fitted.toml")
    again = sj.FittedModel.read(tmp_path / "fitted.toml")
    said = chosen.why.splitlines()[0]
    assert "do not extrapolate" in said and said in again.cautions
    assert f"the fit said: {said}" in again.predict({"rate_per_s": 60.0}).message.splitlines()
    planned = sj.plan(again, {}, "mean < 1s", load=60)
    assert planned.lines()[0] == f"the fit said: {said}" and said in planned.to_dict()["warnings"]


def test_a_fit_that_is_good_has_no_caution() -> None:
    fitted = fit(RUNS, sj.Model.parse(OPEN % FREE))
    assert fitted.cautions == [] and "the fit said" not in fitted.predict({"rate_per_s": 60.0}).message


def test_an_error_of_held_out_runs_is_not_told_where_none_was_held_out() -> None:
    """Two rates for two unknowns: the model goes through both, whatever it is worth, which is no error of 0 %."""
    few = FitRuns([RUNS.runs[0], RUNS.runs[-1]])
    fitted = fit(few, sj.Model.parse(OPEN % FREE))
    assert "too few configurations to hold one out" in str(fitted) and "held-out configurations" not in str(fitted)
    why = fit_rivals(few, {"shop": sj.Model.parse(OPEN % FREE)}).why
    assert "shop: no run could be held out" in why and "0.0 %" not in why
