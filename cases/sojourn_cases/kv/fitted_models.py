"""Models of all configurations together, as `[fit]` has them: the network of cores whose CPU times are sums of parts, and plain
interpolation. Both predict any configuration of a design that was fitted; `all_configurations_fit` fits them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import tomli_w

from sojourn import Metrics
from sojourn.files import parse_json, write_output
from sojourn.fit import FittedDefaults, ParameterEstimate
from sojourn_cases.kv.middleware import point_frame
from sojourn_cases.kv.middleware.affinity import assigned
from sojourn_cases.kv.middleware.run_table import WORK
from sojourn_cases.kv.models import DemandRegression, HostLimits, MeanValues, MiddlewareConfig, shape_of, shared_cores
from sojourn_cases.kv.models.component_speeds import ComponentSpeeds
from sojourn_cases.kv.models.leave_one_out import LeaveOneOutErrors
from sojourn_cases.kv.models.operation_costs import Parts
from sojourn_cases.kv.models.operation_work import CLIENT, NET, PARTS, SERVER, WORKERS, OperationWork
from sojourn_cases.kv.models.pinned_cores import demands, named, shares_of, solved
from sojourn_cases.kv.models.plain_interpolation import FACTORS, Lines, per_operation_s

PLAIN, SHARED, PLACED = "plain interpolation", "with shared cores", "with cores as placed"
LEVEL = 0.95
LEAST_SHARE = 0.05  # of a client's cycle that is response time
NAMED = {CLIENT: "client, CPU", SERVER: "server, CPU", NET: "net thread, CPU", WORKERS: "workers, CPU"}
ERROR_OF = "throughput, from whole configurations left out"
SAID = (
    "CPU times of an operation are sums of parts, fitted on all configurations of a design together; intervals are of fits of "
    "configurations drawn with replacement."
)
SAID_PLAIN = "Straight lines of 1/X in 1/clients and the other factors, by design, gets and sets each by themselves."


Errors = Mapping[
    str, tuple[LeaveOneOutErrors, ...]
]  # design → of throughput, of response time; none where nothing could be left out


def root_mean_square(errors: Errors) -> float:
    """Of the errors of throughput, every run alike."""
    both = [of for of, _ in errors.values()]
    count = sum(len(of.scores) for of in both)
    return math.sqrt(sum(of.error**2 * len(of.scores) for of in both) / count) if count else 0.0


@dataclass(frozen=True)
class FittedDesign:
    """One design: its costs, and the parts of fits of configurations drawn with replacement (none of fewer than three)."""

    costs: DemandRegression
    draws: tuple[Parts, ...] = ()

    def doubt(self, rows: pl.DataFrame) -> np.ndarray | None:
        """The standard deviation of the logarithm of the CPU time of an operation over the draws, a value a row."""
        if not self.draws:
            return None
        return spread(self.costs.design, self.draws, rows)


def spread(design: str, draws: tuple[Parts, ...], rows: pl.DataFrame) -> np.ndarray:
    """See `FittedDesign.doubt`."""
    work, total = OperationWork(rows), np.zeros((rows.height, len(draws)))
    for name, terms in PARTS[design].items():
        none = (0.0,) * len(terms)
        total += work.terms(terms) @ np.array([parts.get(name, none) for parts in draws]).T
    return np.asarray(np.std(np.log(np.maximum(total, 1e-12)), axis=1))


@dataclass(frozen=True)
class FittedCoreNetwork(FittedDefaults):
    """`cores`: those that the system ran on; `placed`: processes keep to theirs. `errors`: of throughput and response time, by
    design, where configurations were left out, for cores as fast as usual; `errors_at_speed`: as fast as they were."""

    designs: tuple[FittedDesign, ...]
    sent: HostLimits
    cores: tuple[int, ...]
    placed: bool
    errors: Errors
    errors_at_speed: Errors
    level: float = LEVEL
    message: str = SAID
    error_of: ClassVar[str] = ERROR_OF

    @property
    def model(self) -> str:
        return PLACED if self.placed else SHARED

    @property
    def model_error(self) -> float:
        return root_mean_square(self.errors)

    @cached_property
    def _by_name(self) -> dict[str, FittedDesign]:
        return {one.costs.design: one for one in self.designs}

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """By design, component and part, s."""
        return {
            f"{one.costs.design}: {NAMED[name]}: {PARTS[one.costs.design][name][k]}": self._estimate(one, name, k)
            for one in self.designs
            for name, own in one.costs.parts.items()
            for k in range(len(own))
        }

    def _estimate(self, one: FittedDesign, name: str, k: int) -> ParameterEstimate:
        drawn = [draw[name][k] for draw in one.draws if name in draw]
        ends = np.quantile(drawn, ((1 - self.level) / 2, (1 + self.level) / 2)) if drawn else (math.nan, math.nan)
        return ParameterEstimate(one.costs.parts[name][k], float(ends[0]), float(ends[1]))

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """Throughput, response time and utilisations at a point; nothing of a design that was not fitted. With `…_work_s` in `vary`
        (`system.kv.frame.WORK`) for cores of that speed, otherwise for the usual one."""
        one = self._by_name.get(str(vary["design"]))
        if one is None:
            return Metrics.of([])
        row = point_frame(vary)
        (found,), own = predictions(one.costs, row, self.cores, self.sent, self.placed)
        doubt = one.doubt(row)
        errors = (self.errors_at_speed if at_speed(vary) else self.errors).get(one.costs.design, ())
        factors = [None if doubt is None else of.factor(level, float(doubt[0])) for of in errors] or [None, None]
        return _metrics(found, float(own[0]), factors, level, self.model)

    def write(self, path: Path) -> None:
        """`[fit]`, a design a line."""
        head = _head(self) | {"cores": list(self.cores), "placed": self.placed, "sent": json.dumps(asdict(self.sent)),
                              "designs": [json.dumps(asdict(one)) for one in self.designs]}  # fmt: skip
        write_output(path, tomli_w.dumps({"fit": head}))


@dataclass(frozen=True)
class FittedLines:
    """One design: 1/X at the usual speed of its cores, how the speed changes it, and a straight line in the clients of what a client
    takes to read."""

    lines: Lines
    speeds: ComponentSpeeds
    own: tuple[float, ...]

    def per_operation_s(self, rows: pl.DataFrame) -> np.ndarray:
        """1/X, a value a row."""
        return per_operation_s(self.lines, self.speeds, rows)

    def own_s(self, rows: pl.DataFrame) -> np.ndarray:
        """What a client takes to read, a value a row."""
        return self.own[0] + self.own[1] * rows["clients"].to_numpy()


@dataclass(frozen=True)
class FittedInterpolation(FittedDefaults):
    """By design; errors as the other's."""

    lines: Mapping[str, FittedLines]
    errors: Errors
    errors_at_speed: Errors
    level: float = LEVEL
    message: str = SAID_PLAIN
    error_of: ClassVar[str] = ERROR_OF
    model: ClassVar[str] = PLAIN

    @property
    def model_error(self) -> float:
        return root_mean_square(self.errors)

    @property
    def estimates(self) -> dict[str, ParameterEstimate]:
        """By design, gets or sets and factor, s."""
        return {
            f"{design}, {kind}: {factor}": ParameterEstimate(value, math.nan, math.nan)
            for design, own in self.lines.items()
            for kind in ("get", "set")
            if kind in own.lines
            for factor, value in zip(FACTORS, own.lines[kind], strict=True)
        }

    def predict(self, vary: Mapping[str, Any], level: float) -> Metrics:
        """As the other's, without utilisations."""
        row, design = point_frame(vary), str(vary["design"])
        each = self.lines[design].per_operation_s(row)[0] if design in self.lines else math.nan
        if not math.isfinite(each):
            return Metrics.of([])
        own_s = float(self.lines[design].own_s(row)[0])
        errors = (self.errors_at_speed if at_speed(vary) else self.errors).get(design, ())
        factors = [of.factor(level, 0.0) for of in errors] or [None, None]
        return _metrics(MeanValues(int(vary["clients"]), 1 / each, {}), own_s, factors, level, self.model)

    def write(self, path: Path) -> None:
        """`[fit]`."""
        of = {"lines": json.dumps({name: asdict(lines) for name, lines in self.lines.items()})}
        write_output(path, tomli_w.dumps({"fit": _head(self) | of}))


def at_speed(vary: Mapping[str, Any]) -> bool:
    """Whether it says how fast the cores were."""
    return any(vary.get(name) is not None for name in WORK)


def predictions(
    costs: DemandRegression, rows: pl.DataFrame, cores: tuple[int, ...], sent: HostLimits, placed: bool
) -> tuple[list[MeanValues], np.ndarray]:
    """Throughput and utilisations of rows of one design, within the limits of the hosts; what their clients take to read, s."""
    times = costs.times(rows)
    x, at_client = np.zeros(rows.height), times.get(CLIENT, np.zeros(rows.height))
    if placed:
        of = solved(rows, times, np.full(rows.height, costs.delay_s), cores)
        x, at_client = of.throughput_per_s, of.at_client_s
    found = []
    for k, row in enumerate(rows.iter_slices(1)):
        here = {name: float(value[k]) for name, value in times.items()}
        shape = shape_of(row.row(0, named=True))
        clients = int(row["clients"][0])
        if placed:
            free = MeanValues(clients, float(x[k]), _used(here, shape, float(x[k]), cores))
        else:
            free = shared_cores(here, costs.rest_s, costs.network_s, shape, clients, len(cores))
        found.append(sent.limits(row).on(free, here.get(SERVER, 0.0)) if sent.rate_bit_per_s or sent.cores else free)
    return found, costs.own_s(rows, at_client)


def _used(seconds: Mapping[str, float], shape: MiddlewareConfig, x: float, cores: tuple[int, ...]) -> dict[str, float]:
    affinity = assigned(cores, shape.servers, shape.proxies)
    each = demands(shares_of(affinity, shape.workers > 0), {name: np.array([value]) for name, value in seconds.items()})
    return {named(where, affinity): x * float(value[0]) / len(where) for where, value in each.items()}


def response_s(cycle_s: float, own_s: float) -> float:
    """A client's cycle less what it takes to read."""
    return max(cycle_s - own_s, LEAST_SHARE * cycle_s)


def _metrics(found: MeanValues, own_s: float, factors: list[float | None], level: float, name: str) -> Metrics:
    values = (("throughput", found.throughput_per_s), ("response_time", response_s(found.cycle_s, own_s)))
    rows: list[dict[str, Any]] = [
        {"metric": metric, "value": v}
        | ({"status": "no_interval"} if wide is None else {"low": v / wide, "high": v * wide, "level": level})
        for (metric, v), wide in zip(values, factors, strict=True)
    ]
    used = [{"metric": "utilisation", "station": s, "value": u} for s, u in found.utilisation.items()]
    return Metrics.of([*rows, *used], name)


def _head(one: FittedCoreNetwork | FittedInterpolation) -> dict[str, Any]:
    def told(errors: Errors) -> str:
        return json.dumps({design: [asdict(each) for each in both] for design, both in errors.items()})

    return {
        "model": one.model, "level": one.level, "message": one.message, "errors": told(one.errors),
        "errors_at_speed": told(one.errors_at_speed),
    }  # fmt: skip


def read_whole(table: Mapping[str, Any]) -> FittedCoreNetwork | FittedInterpolation:
    """From `[fit]` of what `write` wrote."""
    said: dict[str, Any] = {"errors": _errors(table["errors"]), "errors_at_speed": _errors(table["errors_at_speed"])}
    said |= {"level": table["level"], "message": table["message"]}
    if table["model"] == PLAIN:
        lines = {design: _lines(of) for design, of in parse_json(table["lines"]).items()}
        return FittedInterpolation(lines, **said)
    sent = parse_json(table["sent"])
    designs = tuple(_design(parse_json(line)) for line in table["designs"])
    return FittedCoreNetwork(
        designs, HostLimits(**sent | {"bits": tuple(sent["bits"])}), tuple(table["cores"]), table["placed"], **said
    )


def _errors(told: str) -> dict[str, tuple[LeaveOneOutErrors, ...]]:
    return {
        design: tuple(LeaveOneOutErrors(**of | {"scores": tuple(of["scores"])}) for of in both)
        for design, both in parse_json(told).items()
    }


def _lines(given: dict[str, Any]) -> FittedLines:
    lines = {kind: tuple(values) for kind, values in given["lines"].items()}
    return FittedLines(lines, ComponentSpeeds(**given["speeds"]), tuple(given["own"]))


def _design(given: dict[str, Any]) -> FittedDesign:
    def parts(of: Mapping[str, list[float]]) -> Parts:
        return {name: tuple(values) for name, values in of.items()}

    own = given["costs"]
    costs = DemandRegression(
        **own | {"parts": parts(own["parts"]), "speeds": ComponentSpeeds(**own["speeds"]), "reads": tuple(own["reads"])}
    )
    return FittedDesign(costs, tuple(parts(draw) for draw in given["draws"]))
