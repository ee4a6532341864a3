"""`trial`: a small service is measured at moderate load, a model fitted, more load and twice the workers predicted, and then run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.errors import FitError, NoSuchRow, RunFolderError
from sojourn.files.writing import write_whole
from sojourn.fit import FittedModel, fit, observe_runs
from sojourn.lab.waiting_service import WaitingService
from sojourn.load.schedule_seed import fresh_seed, run_seed
from sojourn.measure import measure
from sojourn.measure.measure import Shown
from sojourn.model import Model, Open, Queue, Unknown
from sojourn.runs.generator_lateness import only_late
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import WatchedResources
from sojourn.trial.trial_result import Prediction, Trial
from sojourn.units import USUAL_LEVEL, interval, per_second, seconds

WORKERS, MEAN_S = 2, 0.008
RATES = (35.0, 70.0, 105.0, 140.0)  # a little more than half of what two workers bear
ASKED = ((2, 190.0), (4, 300.0))  # more load, and a load that two workers would not bear with twice as many
RUN_S = 7.0


def trial(
    out: Path | str | None = None, *, run_s: float = RUN_S, seed: int | None = None, told: Callable[[str], None] = lambda _line: None,
    shown: Shown = lambda _name, _there: nullcontext(),
) -> Trial:  # fmt: skip
    """Measures a service of ours with two workers, fits, predicts, runs what was predicted; about a minute.

    Args:
        out: folder of the runs, of `fitted.toml` and of `predictions.json` [runs/try-TIME].
        run_s: length of each of the six runs, s. seed: schedules repeat from it [another each time, which is told]. told: is given lines
        meanwhile. shown: as of `measure`.

    Raises:
        LabError: another measurement runs. RunFolderError: `out` holds something else, or checks of earlier
        predictions. FitError: the runs do not carry a fit.
    """
    began = time.monotonic()
    where = Path(out) if out is not None else Path("runs") / f"try-{time.strftime('%Y%m%d-%H%M%S')}"
    refuse_checked(where)
    series = fresh_seed() if seed is None else seed
    common: dict[str, Any] = {
        "duration_s": run_s,
        "run_progress": shown,
        "allow_other_levels": True,
        "tolerate_other_programs": True,
    }
    told(
        f"a service with {WORKERS} workers, a request keeps one of them for {seconds(MEAN_S, 1)} on average, as a database would"
    )
    told(f"repeat the same schedules with --seed {series}")
    with _service(WORKERS) as service:
        folders = measure(
            service.url, where / "runs", rates_per_s=RATES, factors={"workers": WORKERS}, seed=series,
            watched=WatchedResources(pids=(service.pid,)), **common,
        )  # fmt: skip
    means = {float(folder.manifest["factors"]["rate_per_s"]): mean for folder in folders if (mean := _mean(folder))}
    told("measured: " + ", ".join(f"{per_second(rate)} {seconds(mean)}" for rate, mean in means.items()))
    fitted = fit(observe_runs(folders), model(), USUAL_LEVEL)
    fitted.write(where / "fitted.toml")
    predicted = [_predicted(fitted, workers, rate) for workers, rate in ASKED]
    _write(where / "predictions.json", predicted)
    service_s, full = _ends(fitted)
    told(
        f"fitted: a request keeps a worker {interval(*service_s, 's')}; {WORKERS} workers are full at {interval(*full, '1/s')}"
    )
    for one in predicted:
        told(f"predicted, before it is run: {one.where}: {one.predicted_text}")
    checked = []
    for one in predicted:
        with _service(one.workers) as service:
            folder = measure(
                service.url, where / "checks" / f"workers-{one.workers}", rates_per_s=[one.rate_per_s], factors={"workers": one.workers},
                seed=run_seed(series, f"workers-{one.workers}"), watched=WatchedResources(pids=(service.pid,)), **common,
            )[0]  # fmt: skip
        checked.append(_checked(one, folder))
    return Trial(means, service_s, full, tuple(checked), USUAL_LEVEL, str(where), time.monotonic() - began)


def refuse_checked(where: Path) -> None:
    """Raises RunFolderError where runs in `where` have checked predictions already: these must not change behind them."""
    checks = where / "checks"
    if next(checks.rglob("manifest.json"), None) is not None:
        raise RunFolderError("it has runs that check earlier predictions", checks, "choose another --out")


def model() -> Model:
    """One queue with as many servers as there are workers; how long a request keeps one is unknown."""
    return Model(
        [Queue("workers", WORKERS)],
        [Open("request", 1.0)],
        {"workers": {"request": Unknown()}},
        name="workers",
        factors={"workers": "stations.workers.servers"},
    )


@contextmanager
def _service(workers: int) -> Iterator[WaitingService]:
    service = WaitingService(workers, MEAN_S)
    try:
        yield service
    finally:
        service.close()


def _mean(folder: RunFolder) -> float | None:
    try:
        return folder.metrics().value("response_time")
    except NoSuchRow:
        return None


def _predicted(fitted: FittedModel, workers: int, rate_per_s: float) -> Prediction:
    row = _row(fitted, "response_time", workers, rate_per_s)
    return Prediction(workers, rate_per_s, row["value"], row["low"], row["high"])


def _row(fitted: FittedModel, metric: str, workers: int, rate_per_s: float) -> dict[str, Any]:
    frame = fitted.predict({"rate_per_s": rate_per_s, "workers": workers}, USUAL_LEVEL).frame
    rows = frame.filter(metric=metric, station="").to_dicts()
    found = next((row for row in rows if row["class"] == ""), None)
    if found is None:
        raise FitError(
            f"no {metric} at {per_second(rate_per_s)}, {workers} workers", "try", "try again with another --out"
        )
    return found


def _ends(fitted: FittedModel) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """What a request takes of a worker, s, and the rate at which two are full, 1/s: value, low, high."""
    (found,) = fitted.estimates.values()
    row = _row(fitted, "saturation_rate", WORKERS, RATES[0])
    return (found.value, found.low, found.high), (row["value"], row["low"], row["high"])


def _checked(one: Prediction, folder: RunFolder) -> Prediction:
    """A late generator leaves the mean usable."""
    reasons = () if only_late(folder.manifest) else tuple(folder.manifest["reasons"])
    return replace(one, measured=_mean(folder), reasons=reasons)


def _write(path: Path, predicted: list[Prediction]) -> None:
    rows = [
        {name: getattr(one, name) for name in ("workers", "rate_per_s", "value", "low", "high")} for one in predicted
    ]
    told = {
        "metric": "response_time",
        "unit": "s",
        "level": USUAL_LEVEL,
        "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "rows": rows,
    }
    write_whole(path, json.dumps(told, indent=1) + "\n")
