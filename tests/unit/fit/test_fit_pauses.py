"""A service that pauses by a clock: auto offers a model with the pauses that were seen; of a service without pauses it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from sojourn.fit.candidate_models import candidates
from sojourn.fit.fit_runs import FitRuns, observe_runs
from sojourn.fit.model_fit import fit
from sojourn.fit.predict_model import predict
from sojourn.simulate.simulated_folder import write_run

sys.path.insert(0, str(Path(__file__).parents[1] / "runs"))
from test_pauses import served

PAUSES = {"every_s": 1.2, "pause_s": 0.1}
NAME = "1 server, a constant time, that pauses"


def runs(place: Path, rates: tuple[float, ...], seed: int, **pauses: float) -> FitRuns:
    for rate in rates:
        sent, answered, _ = served(rate, 1, "constant", seed + int(rate), **pauses)
        about = {"name": f"rate-{rate:g}", "factors": {"rate_per_s": rate}, "duration_s": 20.0}
        write_run(place / about["name"], manifest=about, requests={"intended_s": sent, "done_s": answered})
    return observe_runs([place])


def test_pauses_that_were_seen_are_in_a_model(tmp_path: Path) -> None:
    """4 ms a request, full at 250 x 1.2/1.3 = 231/s; fitted up to 60 % of that, and asked for 80 %, beside twelve runs of a
    simulation that knows no formula."""
    seen = runs(tmp_path, (35.0, 70.0, 105.0, 140.0), 40, **PAUSES)
    model = candidates(seen)[NAME]
    down = model.station("service").breakdowns  # type: ignore[union-attr]
    assert down.down.first == pytest.approx(0.1, rel=0.15) and down.up.first == pytest.approx(1.2, rel=0.4)
    fitted = fit(seen, model, 0.9, draws=40)
    (found,) = fitted.estimates.values()
    assert found.value == pytest.approx(0.004, rel=0.15)
    told = {row["metric"]: row for row in predict(fitted, {"rate_per_s": 185.0}, 0.9).frame.iter_rows(named=True)}
    each = [served(185.0, 1, "constant", 900 + k, until_s=40.0, **PAUSES)[:2] for k in range(12)]
    truth = float(np.mean([np.nanmean((answered - sent)[500:]) for sent, answered in each]))
    assert told["response_time"]["low"] <= truth <= (told["response_time"]["high"] or np.inf)
    assert told["saturation_rate"]["value"] == pytest.approx(231, rel=0.1)


def test_no_pauses_no_such_model(tmp_path: Path) -> None:
    assert not any("pauses" in name for name in candidates(runs(tmp_path, (50.0, 100.0, 150.0), 60)))
