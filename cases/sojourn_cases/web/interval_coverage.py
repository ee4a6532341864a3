"""The analysis `two-class.truth` of a study on a virtual host: do the intervals of the fitted parameters cover the truth, and by
how much is the model wrong when it is given the true parameters.

The second is the model's own error: what remains of it when nothing has to be estimated. The truth about response
times and utilisations is a long run of the same host with another seed, its sampling error beside it. Option `requests`: of
a long run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn import Metrics, mmm, two_class
from sojourn.errors import StudyError
from sojourn.fit import FittedModel
from sojourn.report import Section, Table, Text
from sojourn.simulate import VirtualHost, VirtualHostRun, simulate_host
from sojourn.stats import batch_interval
from sojourn.study import TRAINING, Analysis, CheckedStudy, RecoveredParameter, StudyFindings, run_seed
from sojourn.units import percent, seconds
from sojourn_cases.web.fitted_web import FittedWeb, cores_of, parameters
from sojourn_cases.web.web_configurations import WebConfiguration, parts_of
from sojourn_cases.web.web_shop_simulated import WebVirtualSystem, true_parameters

REQUESTS = 500_000
WARM_UP = 0.1
ROWS = {
    "response": ("response_time", ""),
    "lead_busy": ("utilisation", "leading"),
    "behind_busy": ("utilisation", "trailing"),
}
QUANTITIES = {
    "response": "Response Time",
    "lead_busy": "Util. Core 0 to m-1",
    "behind_busy": "Util. Core m to n-1",
}


@dataclass(frozen=True)
class CoveragePoint:
    """One quantity at one rate: the truth with its sampling error (relative), the model with the true parameters,
    the model as fitted."""

    configuration: str
    place: str  # NICs/cores
    rate_per_s: float
    quantity: str
    truth: float
    noise: float
    known: float
    fitted: float

    @property
    def own_error(self) -> float:
        """Of the model with the true parameters; infinite where it says saturated."""
        return self.known / self.truth - 1


def against_truth(found: StudyFindings, plan: CheckedStudy, options: Mapping[str, Any]) -> Analysis:
    """The best model of a finished study held against the truth."""
    if found.rivals is None or found.fitted is None:
        return Analysis()
    model, system = found.fitted, plan.system
    if not isinstance(model, FittedWeb) or not isinstance(system, WebVirtualSystem):
        raise StudyError("analysis two-class.truth", "[[analysis]]", 'use it with [system] kind = "web-virtual"')
    recovered: list[RecoveredParameter] = []
    points: list[CoveragePoint] = []
    parts = parts_of(found, plan)
    for part in parts:
        host = system.options.host(part.factors)
        if part.kind == TRAINING:
            recovered += covered(part.name, model.of(part.factors), host)
        for rate in sorted({run.manifest["factors"]["rate_per_s"] for run in part.runs}):
            at = {**part.factors, "rate_per_s": rate}
            points += points_at(part.name, host, model, at, options.get("requests", REQUESTS), plan.seed)
    name = model.fitted.model.name
    sections = (_section(name, recovered, points), _hosts(parts, system, plan.seed))
    return Analysis((_line(name, recovered, points),), sections, parameters=tuple(recovered))


def covered(name: str, fitted: FittedModel, host: VirtualHost) -> list[RecoveredParameter]:
    """Each fitted parameter whose true value the host has."""
    given = true_parameters(host)
    interrupt_s, page_s = 1 / given["mu1_per_s"], 1 / given["mu2_per_s"]
    # one core has nobody to hand off to; the model's other delay is 0 here
    truth = {**given, "interrupt_s": interrupt_s, "page_s": page_s, "request_s": interrupt_s + page_s, "handoff_s": 0.0}
    return [
        RecoveredParameter(name, label.removesuffix("_s"), truth[label], *estimate)
        for label, estimate in parameters(fitted).items()
        if label in truth
    ]


def points_at(
    name: str, host: VirtualHost, fitted: FittedWeb, factors: Mapping[str, Any], requests: int, seed: int
) -> list[CoveragePoint]:
    """A long run at one rate beside the model."""
    rate = float(factors["rate_per_s"])
    own = run_seed(seed, f"truth {name} {rate:g}")
    run = simulate_host(host, rate_per_s=rate, duration_s=requests / rate, seed=own, sample_s=requests / rate / 20)
    known = _said(_at_the_truth(fitted.of(factors), host, rate))
    said = _said(fitted.predict(factors, fitted.level))
    place = f"{host.nics}/{host.cores}"
    return [
        CoveragePoint(
            name, place, rate, quantity, value, noise, known.get(quantity, np.nan), said.get(quantity, np.nan)
        )
        for quantity, (value, noise) in _seen(run).items()
    ]


def _at_the_truth(fitted: FittedModel, host: VirtualHost, rate: float) -> Metrics:
    """The model with the host's own demands in place of those that were found."""
    true: dict[str, Any] = true_parameters(host)
    station = cores_of(fitted)
    if station is None:
        mean_s = 1 / true["mu1_per_s"] + 1 / true["mu2_per_s"]
        return mmm(rate, mu_per_s=1 / mean_s, cores=host.cores, nics=host.nics)
    return two_class(rate, cores=host.cores, nics=host.nics, variant=station.variant, **true)


def _said(metrics: Metrics) -> dict[str, float]:
    rows = {(row["metric"], row["station"]): row["value"] for row in metrics.frame.iter_rows(named=True)}
    return {name: rows[key] for name, key in ROWS.items() if rows.get(key) is not None}


def _seen(run: VirtualHostRun) -> dict[str, tuple[float, float]]:
    """Mean response time and busy shares of a long run after its warm-up, each with its relative error."""
    response = run.response_s[int(WARM_UP * run.response_s.size) :]
    mean, low, high = batch_interval(response)
    busy = np.sum(list(run.states.values()), axis=0)
    inside = (run.sample_t_s >= WARM_UP * run.duration_s) & (run.sample_t_s <= run.duration_s)
    first, last = np.flatnonzero(inside)[[0, -1]]
    share = (busy[last] - busy[first]) / (run.sample_t_s[last] - run.sample_t_s[first])
    nics = run.host.nics
    found: dict[str, Any] = {"response": (mean, (high - low) / 2 / mean), "lead_busy": (share[:nics].mean(), 0.0)}
    if run.host.cores > nics:
        found["behind_busy"] = (share[nics:].mean(), 0.0)
    return {name: (float(value), float(noise)) for name, (value, noise) in found.items()}


def own_error(points: Sequence[CoveragePoint], quantity: str = "response") -> tuple[float, CoveragePoint] | None:
    """Mean over the points of |model with the true parameters / truth - 1|, and the point where it is largest; points
    where the model says "saturated" are not in it, and None is for nothing else."""
    known = [p for p in points if p.quantity == quantity and np.isfinite(p.known)]
    if not known:
        return None
    return float(np.mean([abs(p.own_error) for p in known])), max(known, key=lambda p: abs(p.own_error))


def said_saturated(points: Sequence[CoveragePoint]) -> tuple[int, int]:
    """At how many of how many rates the model with the true parameters is saturated, and the host is not."""
    known = [p for p in points if p.quantity == "response"]
    return sum(not np.isfinite(p.known) for p in known), len(known)


def _line(model: str, parameters: Sequence[RecoveredParameter], points: Sequence[CoveragePoint]) -> str:
    inside = sum(p.covered for p in parameters)
    text = f"truth known: {inside} of {len(parameters)} intervals of fitted parameters cover it"
    if found := own_error(points):
        mean, worst = found
        text += (
            f"; with the true parameters {model} is off by {percent(mean)} in response time on average, worst "
            f"{percent(worst.own_error, sign=True)} ({worst.configuration}, {worst.rate_per_s:g}/s, where the truth is "
            f"known to {percent(worst.noise)}): the model's own error"
        )
    wrong, of = said_saturated(points)
    return text + (f"; at {wrong} of {of} rates it says saturated where the host is not" if wrong else "")


def _section(model: str, parameters: Sequence[RecoveredParameter], points: Sequence[CoveragePoint]) -> Section:
    lead = (
        "The host is simulated, so its demands are known. The model's own error is what remains when it is given the "
        "true parameters; the rest of a prediction's error comes from estimating them."
    )
    rows = tuple(
        (p.configuration, p.name, 1e3 * p.truth, 1e3 * p.value, 1e3 * p.low, 1e3 * p.high, "yes" if p.covered else "no")
        for p in parameters
    )
    columns = ("fitted with", "parameter, ms", "truth", "fitted", "low", "high", "interval covers the truth")
    of_response = tuple(
        (p.configuration, p.rate_per_s, 1e3 * p.truth, p.noise, p.own_error, p.fitted / p.truth - 1)
        for p in points
        if p.quantity == "response"
    )
    heads = ("configuration", "rate, 1/s", "response of a long run, ms", "its sampling error", "error with the true parameters",
             "error as fitted")  # fmt: skip
    tables = (
        Table(f"Parameters of {model} and the truth", columns, rows),
        _table3(model, points),
        Table("Response times", heads, of_response, "", ("", ".0f", ".3f", ".1%", "+.1%", "+.1%")),
    )
    return Section("The model's error with the truth known", lead, tables)


def _table3(model: str, points: Sequence[CoveragePoint]) -> Table:
    places = sorted({p.place for p in points}, key=lambda place: [int(n) for n in place.split("/")])
    rows = []
    for key, label in QUANTITIES.items():
        here = [p for p in points if p.quantity == key and np.isfinite(p.own_error)]
        cells = [[abs(p.own_error) for p in here if p.place == place] for place in places]
        means = [float(np.mean(cell)) if cell else None for cell in cells]
        known = [mean for mean in means if mean is not None]
        rows.append((label, *means, float(np.mean(known)) if known else None))
    note = "Mean of |model with the true parameters / long run - 1| over the rates that were run"
    wrong, of = said_saturated(points)
    note += (
        f", except for {wrong} of {of}, where the model predicts saturation and the host is not saturated."
        if wrong
        else "."
    )
    title = f"The model's own error, {model}, in the form of Chen et al. 2014, Table 3"
    return Table(title, ("NICs/cores", *places, "overall"), tuple(rows), note, ("", *[".1%"] * (len(places) + 1)))


def _hosts(parts: Sequence[WebConfiguration], system: WebVirtualSystem, seed: int) -> Section:
    """What was simulated: the demands are the truth."""
    rows = []
    for part in parts:
        host = system.options.host(part.factors)
        order = f"turns of {seconds(host.quantum_s)}" if host.quantum_s else "shared exactly"
        threads = str(host.threads_per_core) if host.threads_per_core else "no limit"
        rows.append(
            (part.name, seconds(host.interrupt["mean"]), seconds(host.page["mean"]), host.placement["policy"],
             threads, order if host.threads_per_core != 1 else "one after the other", seconds(host.switch_s),
             seconds(host.crossing_s))
        )  # fmt: skip
    columns = ("configuration", "interrupt", "page", "placement", "threads a core", "pages of a core", "a turn costs",
               "crossing to another core")  # fmt: skip
    text = (
        "Requests are Poisson, from a seed, each to any NIC alike; NIC k interrupts core k. Interrupts are served first, in "
        "order, and preempt pages. Each page runs on the core that the placement gives it. The time that it loses to "
        "interrupts is added to its own "
        "time. Each run is {system.load.duration_s:g} s of simulated time; the saturation rate is the throughput of a "
        "closed loop without think time. Runs are judged, cut (MSER-5) and fitted as measured ones are. Client, collector and "
        "network cost nothing."
    )
    table = Table("The virtual hosts", columns, tuple(rows), f"Seed {seed}.")
    return Section("How it was simulated", "", (Text(text), table))
