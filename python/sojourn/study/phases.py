"""The phases of a study, in their order; each writes what it found before the next begins."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from sojourn.errors import StudyError
from sojourn.fit import Fitted, compare
from sojourn.measure.busy import core_groups, run_time
from sojourn.measure.folder import RunFolder
from sojourn.measure.observations import observe
from sojourn.predict import predict
from sojourn.study.plan import Configuration, Predict
from sojourn.study.runner import Runner
from sojourn.study.truth import Truth, against_truth
from sojourn.table import Metrics
from sojourn.units import per_second, seconds

BARE_RATE_PER_S = 250.0


@dataclass
class Saturation:
    """Throughput of a closed loop without think time: the most the configuration does."""

    value: float
    low: float
    high: float


@dataclass
class Prediction:
    """What was predicted for a configuration, when it was written down, and what was then measured."""

    configuration: Configuration
    by_variant: dict[str, Metrics]
    written: str
    observations: pl.DataFrame = field(default_factory=pl.DataFrame)
    runs: list[RunFolder] = field(default_factory=list)
    saturation: Saturation | None = None


@dataclass
class Findings:
    """All that a study found; `fits` in order of the study file, `best` by held-out rates. `others`: the same for each
    further configuration that was fitted by itself, with the predictions made from that fit."""

    out: Path
    baseline: Configuration
    baseline_saturation: Saturation | None = None
    baseline_runs: list[RunFolder] = field(default_factory=list)
    observations: pl.DataFrame = field(default_factory=pl.DataFrame)
    fits: dict[str, Fitted] = field(default_factory=dict)
    best: str = ""
    why_best: str = ""
    client_s: float = 0.0
    known_page_s: float = 0.0
    wake_up_s: float = 0.0
    interrupt_overhead_s: float = 0.0
    predictions: list[Prediction] = field(default_factory=list)
    not_shown: list[str] = field(default_factory=list)
    others: list[Findings] = field(default_factory=list)
    truth: Truth | None = None

    @property
    def groups(self) -> list[Findings]:
        """This one and the others."""
        return [self, *self.others]


def run_phases(runner: Runner) -> Findings:
    """Baseline, fit, prediction, check."""
    study = runner.plan.study
    found = _of_one(runner, study.fit.configuration)
    found.others = [_of_one(runner, name) for name in study.fit.also]
    if runner.place.simulated:
        found.truth = against_truth(runner.plan, found)
    return found


def _of_one(runner: Runner, name: str) -> Findings:
    """One configuration measured and fitted, and what is predicted from that."""
    baseline = runner.plan.configuration(name)
    found = Findings(runner.out, baseline, not_shown=list(runner.place.not_shown))
    wanted_here = [wanted for wanted in runner.plan.study.predict if _fit_for(runner, wanted) == name]
    shown = [wanted for wanted in wanted_here if _can_be_shown(runner, wanted, found)]
    overheads(runner, baseline, found)
    found.baseline_saturation = saturate(runner, baseline)
    ramp(runner, found)
    fit_all(runner, found)
    for wanted in shown:
        found.predictions.append(foresee(runner, found, wanted))
    for wanted, prediction in zip(shown, found.predictions, strict=True):
        check(runner, prediction, wanted, found)
    return found


def _fit_for(runner: Runner, wanted: Predict) -> str:
    """The fitted configuration that a prediction is made from: the one with as many cores, else the first."""
    plan = runner.plan
    cores = plan.configuration(wanted.configuration).cores
    also = [name for name in plan.study.fit.also if plan.configuration(name).cores == cores]
    first = plan.study.fit.configuration
    return first if not also or plan.configuration(first).cores == cores else also[0]


def _can_be_shown(runner: Runner, wanted: Predict, found: Findings) -> bool:
    """Whether this place has the NICs that a configuration needs; says so where not."""
    _, nics = runner.size(runner.plan.configuration(wanted.configuration))
    if nics <= runner.place.most_nics:
        return True
    found.not_shown.append(
        f"{wanted.configuration}: it needs {nics} NICs, and {runner.place.kind} has {runner.place.most_nics}"
    )
    runner.say(f"not shown: {found.not_shown[-1]}")
    return False


def overheads(runner: Runner, configuration: Configuration, found: Findings) -> None:
    """What client, network and service cost beside the known demand, from a run without it.

    The client counts where it shares the leading cores: the exact run time of its threads less what interrupts took
    of it. `wake_up_s` is what a page costs its thread beside what the service itself accounts for. A virtual host has
    no such cost.
    """
    if runner.place.simulated:
        return
    folder = runner.point(configuration, f"bare-{slug(configuration)}", BARE_RATE_PER_S, bare=True)
    generator = folder.manifest["generator"]
    requests = max(generator["sent"], 1)
    found.wake_up_s = wake_up(folder)
    softirq = observe([folder])["softirq_leading"].mean()
    found.interrupt_overhead_s = softirq / BARE_RATE_PER_S if isinstance(softirq, float) else 0.0
    if folder.manifest["placement"]["client_shares"]:
        used = sum(lane["cpu_s"] for lane in generator["lanes"]) / requests
        found.client_s = max(used - found.interrupt_overhead_s, 0.0)
    runner.say(
        f"without known demand a request costs: interrupt {seconds(found.interrupt_overhead_s)}, client "
        f"{seconds(found.client_s)} on the cores it shares"
    )


def wake_up(folder: RunFolder) -> float:
    """What a page costs its thread beside what the service accounts for, s, on cores without interrupts."""
    host, app, (_, trailing) = folder.frame("host"), folder.frame("app"), core_groups(folder.manifest)
    service = folder.manifest["pids"].get("service")
    if host is None or app is None or service is None or not trailing:
        return 0.0
    there = app.filter(pl.col("core").is_in(trailing))
    if there.is_empty():
        return 0.0
    accounted = float(there["fixed_s"].mean() + there["work_s"].mean())  # type: ignore[operator,arg-type]
    return max(run_time(host, service, trailing) / there.height - accounted, 0.0)


def known_page(runs: list[RunFolder], wake_up_s: float) -> float:
    """What a page cost in these runs by the service's own account, s: the work drawn, all else it did for a page
    (where no interrupts hit it; else the median, which they hardly move), and its wake-up. The fit never sees it."""
    drawn: list[pl.Series] = []
    fixed: list[pl.Series] = []
    for run in runs:
        app = run.frame("app")
        if app is None:
            continue
        _, trailing = core_groups(run.manifest)
        drawn.append(app["drawn_s"])
        fixed.append(app.filter(pl.col("core").is_in(trailing))["fixed_s"] if trailing else app["fixed_s"])
    if not drawn:
        return 0.0
    rest = pl.concat(fixed)
    typical = rest.mean() if any(core_groups(run.manifest)[1] for run in runs) else rest.median()
    return float(pl.concat(drawn).mean()) + float(typical) + wake_up_s  # type: ignore[arg-type]


def saturate(runner: Runner, configuration: Configuration) -> Saturation:
    """Finds the saturation rate by a closed loop."""
    folder = runner.point(configuration, f"saturate-{slug(configuration)}", None)
    metrics = Metrics.read(folder.path / "metrics.parquet")
    low, high = metrics.interval("throughput")
    value = metrics.value("throughput")
    runner.say(f"{configuration.name}: saturates at {per_second(value)}")
    return Saturation(value, low or value, high or value)


def ramp(runner: Runner, found: Findings) -> None:
    """Measures the baseline at shares of its saturation rate."""
    assert found.baseline_saturation
    study = runner.plan.study
    for replication in range(study.fit.replications):
        for share in study.fit.load_shares:
            rate = rounded(share * found.baseline_saturation.value)
            name = f"{slug(found.baseline)}-{rate:g}-{replication + 1}"
            found.baseline_runs.append(point(runner, found.baseline, name, rate, replication))
    found.observations = observe(found.baseline_runs)
    found.known_page_s = known_page(found.baseline_runs, found.wake_up_s)


def point(runner: Runner, configuration: Configuration, name: str, rate: float, replication: int) -> RunFolder:
    folder = runner.point(configuration, name, rate, replication)
    metrics = Metrics.read(folder.path / "metrics.parquet")
    verdict = "" if folder.manifest["valid"] else "  NOT VALID: " + "; ".join(folder.manifest["reasons"])
    response = seconds(metrics.value("response_time"))
    runner.say(f"{configuration.name}: {per_second(rate)}, response {response}{verdict}")
    return folder


def fit_all(runner: Runner, found: Findings) -> None:
    """Fits each variant and the M/M/m comparator, and chooses by held-out rates."""
    given = {"client_s": found.client_s}
    chosen = compare(found.observations, [*runner.plan.study.fit.variants, "mmm"], given=given)
    found.fits, found.best, found.why_best = chosen.fits, chosen.best, chosen.why
    for name, fitted in found.fits.items():
        fitted.write(found.out / f"fitted-{name}{_suffix(runner, found)}.toml")
    found.fits[found.best].write(found.out / f"fitted{_suffix(runner, found)}.toml")
    runner.say(found.why_best)


def _suffix(runner: Runner, found: Findings) -> str:
    """What tells the files of one fitted configuration from those of the first."""
    first = found.baseline.name == runner.plan.study.fit.configuration
    return "" if first else f"-{slug(found.baseline)}"


def foresee(runner: Runner, found: Findings, wanted: Predict) -> Prediction:
    """Predicts a configuration that nobody has run, and writes the prediction to disk before it is run.

    Raises:
        StudyError: the configuration was run before its prediction was written.
    """
    configuration = runner.plan.configuration(wanted.configuration)
    cores, nics = runner.size(configuration)
    path = found.out / f"prediction-{slug(configuration)}.json"
    if path.exists():
        return _written(path, configuration)
    if list((found.out / "runs").glob(f"*{slug(configuration)}-*")):
        raise StudyError("it has been run already", str(path), "a blind prediction comes first; choose a new --out")
    best = found.fits[found.best]
    saturation = predict(best, [1.0], cores=cores, nics=nics).value("saturation_rate")
    rates = [rounded(share * saturation) for share in wanted.load_shares]
    by_variant = {name: predict(fitted, rates, cores=cores, nics=nics) for name, fitted in found.fits.items()}
    written = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    text = {"written": written, "rates_per_s": rates, "best": found.best}
    path.write_text(
        json.dumps(text | {"by_variant": {k: json.loads(m.to_json()) for k, m in by_variant.items()}}) + "\n"
    )
    runner.say(f"prediction for {configuration.name} written to {path}")
    return Prediction(configuration, by_variant, written)


def _written(path: Path, configuration: Configuration) -> Prediction:
    text = json.loads(path.read_text())
    by_variant = {name: Metrics.from_json(json.dumps(rows)) for name, rows in text["by_variant"].items()}
    return Prediction(configuration, by_variant, text["written"])


def check(runner: Runner, prediction: Prediction, wanted: Predict, found: Findings) -> None:
    """Runs what was predicted."""
    rates = prediction.by_variant[found.best].frame["rate_per_s"].unique().sort().to_list()
    for replication in range(wanted.replications):
        for rate in rates:
            name = f"{slug(prediction.configuration)}-{rate:g}-{replication + 1}"
            prediction.runs.append(point(runner, prediction.configuration, name, rate, replication))
    prediction.observations = observe(prediction.runs)
    prediction.saturation = saturate(runner, prediction.configuration)


def slug(configuration: Configuration) -> str:
    """A configuration's name as part of a folder's name."""
    return "".join(c if c.isalnum() else "-" for c in configuration.name.lower()).strip("-")


def rounded(rate_per_s: float) -> float:
    """A rate of three figures: names of folders stay readable."""
    return float(f"{rate_per_s:.3g}")
