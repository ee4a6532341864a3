"""A study on a virtual host held against the truth: do the intervals of the fitted parameters cover it, and by how much
is the model wrong when it is given the true parameters.

The second is the model's own error: what remains of it when nothing has to be estimated. The truth about response
times and utilisations is a long run of the same host with another seed, its sampling error beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.fit import Fitted
from sojourn.fit.forward import Spec
from sojourn.measure.stationary import batch_interval
from sojourn.report import Section, Table
from sojourn.simulate.host import Host, HostRun, simulate_host
from sojourn.study.points import run_seed
from sojourn.testbed import VirtualTestbed
from sojourn.units import percent

if TYPE_CHECKING:
    from sojourn.study.phases import Findings
    from sojourn.study.plan import Configuration, Plan

REQUESTS = 500_000
WARM_UP = 0.1
QUANTITIES = {
    "response": "Response Time",
    "lead_busy": "Util. Core 0 to m-1",
    "behind_busy": "Util. Core m to n-1",
}


@dataclass(frozen=True)
class Parameter:
    """A fitted parameter and its true value: demands and delays, s."""

    configuration: str
    name: str
    truth: float
    value: float
    low: float
    high: float

    @property
    def covered(self) -> bool:
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class Point:
    """One quantity at one rate: the truth with its sampling error (relative, 95 %), the model with the true parameters,
    the model as fitted."""

    configuration: str
    cores: int
    nics: int
    rate_per_s: float
    quantity: str
    truth: float
    noise: float
    known: float
    fitted: float


@dataclass(frozen=True)
class Truth:
    """`model`: the variant that is judged."""

    model: str
    parameters: tuple[Parameter, ...]
    points: tuple[Point, ...]

    def own_error(self, quantity: str = "response") -> tuple[float, Point] | None:
        """Mean over the points of |model with the true parameters / truth - 1|, and the point where it is largest; points
        where the model says "saturated" are not in it, and None is for nothing else."""
        points = [p for p in self.points if p.quantity == quantity and np.isfinite(p.known)]
        if not points:
            return None
        return float(np.mean([abs(_own(p)) for p in points])), max(points, key=lambda p: abs(_own(p)))

    @property
    def said_saturated(self) -> tuple[int, int]:
        """At how many of how many points the model with the true parameters is saturated, and the host is not."""
        points = [p for p in self.points if p.quantity == "response"]
        return sum(not np.isfinite(p.known) for p in points), len(points)

    def lines(self) -> list[str]:
        """For the verdict."""
        inside = sum(p.covered for p in self.parameters)
        text = f"truth known: {inside} of {len(self.parameters)} intervals of fitted parameters cover it"
        found = self.own_error()
        if found:
            mean, worst = found
            text += (
                f"; with the true parameters {self.model} is off by {percent(mean)} in response time on average, worst "
                f"{percent(_own(worst), sign=True)} ({worst.configuration}, {worst.rate_per_s:g}/s, where the truth is "
                f"known to {percent(worst.noise)}): the model's own error"
            )
        wrong, of = self.said_saturated
        if wrong:
            text += f"; at {wrong} of {of} rates it says saturated where the host is not"
        return [text]

    def section(self) -> Section:
        """For the report."""
        lead = (
            "The host is simulated, so its demands are known. The model's own error is what remains when it is given the "
            "true parameters; the rest of a prediction's error comes from estimating them."
        )
        tables = (self._parameters(), self._table3(), self._points())
        return Section("The model's error with the truth known", lead, tables)

    def _parameters(self) -> Table:
        rows = tuple(
            (p.configuration, p.name, 1e3 * p.truth, 1e3 * p.value, 1e3 * p.low, 1e3 * p.high, "yes" if p.covered else "no")
            for p in self.parameters
        )  # fmt: skip
        columns = ("fitted with", "parameter, ms", "truth", "fitted", "low", "high", "interval covers the truth")
        return Table(f"Parameters of {self.model} and the truth", columns, rows)

    def _table3(self) -> Table:
        places = sorted({(p.nics, p.cores) for p in self.points})
        rows = []
        for key, label in QUANTITIES.items():
            cells = [self._mean(key, nics, cores) for nics, cores in places]
            known = [cell for cell in cells if cell is not None]
            rows.append((label, *cells, float(np.mean(known)) if known else None))
        heads = ("NICs/cores", *(f"{nics}/{cores}" for nics, cores in places), "overall")
        note = "Mean of |model with the true parameters / long run - 1| over the rates that were run"
        wrong, of = self.said_saturated
        note += f", but for {wrong} of {of} at which the model says saturated and the host is not." if wrong else "."
        title = f"The model's own error, {self.model}, in the form of the document's Table 3"
        return Table(title, heads, tuple(rows), note, ("", *[".1%"] * (len(places) + 1)))

    def _mean(self, quantity: str, nics: int, cores: int) -> float | None:
        here = [abs(_own(p)) for p in self.points if (p.quantity, p.nics, p.cores) == (quantity, nics, cores)]
        here = [error for error in here if np.isfinite(error)]
        return float(np.mean(here)) if here else None

    def _points(self) -> Table:
        rows = tuple(
            (p.configuration, p.rate_per_s, 1e3 * p.truth, p.noise, _own(p), p.fitted / p.truth - 1)
            for p in self.points
            if p.quantity == "response"
        )
        columns = ("configuration", "rate, 1/s", "response of a long run, ms", "its sampling error",
                   "error with the true parameters", "error as fitted")  # fmt: skip
        return Table("Response times", columns, rows, "", ("", ".0f", ".3f", ".1%", "+.1%", "+.1%"))


def _own(point: Point) -> float:
    return point.known / point.truth - 1


def against_truth(plan: Plan, found: Findings, requests: int = REQUESTS) -> Truth:
    """Holds the best model of a finished study on a virtual host against the truth; `requests` a long run."""
    parameters: list[Parameter] = []
    points: list[Point] = []
    for group in found.groups:
        fitted = group.fits[found.best]
        parameters += covered(group.baseline.name, fitted, plan.host(group.baseline))
        parts = [(group.baseline, group.observations)]
        parts += [(prediction.configuration, prediction.observations) for prediction in group.predictions]
        for configuration, observations in parts:
            rates = observations["rate_per_s"].unique().sort().to_list()
            for rate in rates:
                points += _points(plan, configuration, fitted, rate, requests)
    return Truth(found.best, tuple(parameters), tuple(points))


def covered(name: str, fitted: Fitted, host: Host) -> list[Parameter]:
    """Each fitted parameter whose true value the host has."""
    truth = true_parameters(fitted.spec.model, host)
    found = []
    for parameter, e in fitted.parameters.items():
        if parameter not in truth:
            continue
        if parameter.endswith("_per_s"):
            label = {"mu1_per_s": "interrupt", "mu2_per_s": "page", "mu_per_s": "request"}[parameter]
            found.append(Parameter(name, label, 1 / truth[parameter], 1 / e.value, 1 / e.high, 1 / e.low))
        else:
            found.append(Parameter(name, parameter.removesuffix("_s"), truth[parameter], e.value, e.low, e.high))
    return found


def true_parameters(model: str, host: Host) -> dict[str, float]:
    """What the model's parameters are on this host."""
    truth = VirtualTestbed.truth(host)
    if model == "mmm":
        return {"mu_per_s": 1 / (1 / truth["mu1_per_s"] + 1 / truth["mu2_per_s"])}
    # one core has nobody to hand off to; the model's other delay is 0 here
    return truth | {"handoff_s": 0.0}


def _points(plan: Plan, configuration: Configuration, fitted: Fitted, rate: float, requests: int) -> list[Point]:
    host = plan.host(configuration)
    seed = run_seed(plan.study.load.seed, f"truth {configuration.name} {rate:g}")
    run = simulate_host(host, rate_per_s=rate, duration_s=requests / rate, seed=seed, sample_s=requests / rate / 20)
    truth = _seen(run)
    true = true_parameters(fitted.spec.model, host)
    spec = Spec(fitted.spec.model, fitted.spec.variant, {k: v for k, v in fitted.given.items() if k not in true})
    known = spec.solve(true, rate, host.cores, host.nics)
    said = fitted.spec.solve({k: e.value for k, e in fitted.parameters.items()}, rate, host.cores, host.nics)
    return [
        Point(
            configuration.name, host.cores, host.nics, rate, name, value, noise, float(known[name]), float(said[name])
        )
        for name, (value, noise) in truth.items()
    ]


def _seen(run: HostRun) -> dict[str, tuple[float, float]]:
    """Mean response time and busy shares of a long run after its warm-up, each with its relative error at 95 %."""
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
