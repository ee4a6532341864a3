"""A model at many values of its unknowns and in many configurations at once: what the runs would have measured.

The networks are arrays (`evaluated_networks`), and one method answers all of them in one call. Above
0.99 of what an open network can do it is asked at 0.99, and the response grows from there on by a smooth penalty, so that
a search finds its way back; `predict` asks without that, and is told where it saturates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.evaluated_networks import EvaluatedNetworks
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.model import Model
from sojourn.model.network_arrays import Network
from sojourn.model.network_points import as_points, outline, stacked
from sojourn.model.unknown_parameters import replaced, unknowns
from sojourn.parallel import On, Workers, blocks, open_workers, run_pieces
from sojourn.solve import automatic_method, registry
from sojourn.solve.load_dependent_times import at_load, at_rest
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.open.open_rates import TrafficSolution
from sojourn.solve.solution import Solution

Array = NDArray[np.float64]
Key = tuple[str, str, str]  # station, class, metric: response_time, throughput or busy (servers at work)
NEAREST, STEEP = 0.99, 20.0
BLOCK = 250  # networks of a piece of work, on workers


@dataclass(frozen=True)
class ModelEvaluation:
    """P points: `values` by key, `share` of the busiest station of an open network (0 where nothing is open), and
    `saturation` (1/s, all open classes; infinite where nothing is)."""

    values: Mapping[Key, Array]
    share: Array
    saturation: Array


class ModelEvaluator:
    """`model` with its unknowns in the order of `paths`, in `configurations` (factor → value)."""

    def __init__(self, model: Model, configurations: Sequence[Mapping[str, Any]]) -> None:
        self.model, self.unknowns, self.configurations = model, unknowns(model), list(configurations)
        self.workers: Workers | None = None  # that solve many values at once; None: this process
        self.handle: Any = None
        self.paths = list(self.unknowns)
        self.factors = factors_of(model, configurations)
        self.of = EvaluatedNetworks(model, self.paths, self.factors, self.configurations)
        self.networks, self.formulas = self.of.networks, self.of.formulas
        # chosen at numbers none of which equals another: two classes whose times begin alike need not stay so
        apart = np.array([float(u) for u in self.unknowns.values()]) * (1 + 0.137 * np.arange(1, len(self.paths) + 1))
        low, high = (np.array([getattr(u, end) for u in self.unknowns.values()]) for end in ("low", "high"))
        self.method, self.why = _method(self.networks_at(np.clip(apart, np.maximum(low, 1e-9), high)[None]))

    def at(self, values: Array, which: Sequence[int] | None = None, nearest: bool = True) -> ModelEvaluation:
        """`values` B x unknowns; each of the B in each configuration (of `which`): P = B · configurations, B outermost."""
        if len(values) > 1 and (values == values[0]).all():  # as where refits begin
            return joined([self.at(values[:1], which, nearest)] * len(values))
        rows = max(1, BLOCK // len(self.networks))
        if self.workers is None or which is not None or not nearest or len(values) <= rows:
            found = self.solved(self.networks_at(values, which), nearest)
            return replace(found, values={**found.values, **self.of.measured(values, which)})
        pieces = [values[block.start : block.stop] for block in blocks(len(values), rows)]
        return joined(run_pieces(self.workers, ModelEvaluator.at, self.handle, pieces))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as what it was made of."""
        return ModelEvaluator, (self.model, self.configurations)

    @contextmanager
    def on_workers(self, on: On) -> Iterator[None]:
        """Inside, many values at once are solved on workers, in blocks; None: here."""
        if on is None:
            yield
            return
        with open_workers(on) as self.workers:
            self.handle = self.workers.send(self)
            try:
                yield
            finally:
                self.workers.drop(self.handle)
                self.workers = None

    def networks_at(self, values: Array, which: Sequence[int] | None = None) -> Sequence[Network]:
        """The networks of `at`, in its order."""
        return self.of.at(values, which)

    def configured(self, values: Array, which: int) -> Model:
        """The model with numbers, in one of the configurations; `values`: unknowns."""
        found = dict(zip(self.paths, map(float, np.ravel(values)), strict=True))
        return applied(replaced(self.model, found), self.factors, self.configurations[which])

    def solved(self, networks: Sequence[Network], nearest: bool = True) -> ModelEvaluation:
        """What each network says; NaN where it is unstable and `nearest` is not asked for."""
        share, saturation = loads(networks)
        over = np.maximum(share / NEAREST, 1.0) if nearest else np.ones(len(networks))
        asked = at_load(_slowed(networks, over), self._answer)
        solution = self._answer(asked)
        return ModelEvaluation(_values(asked, solution, over), share, saturation)

    def _answer(self, networks: Sequence[Network]) -> Solution:
        return self.method.run(networks, RequestedOutputs((), None, registry.BUDGET_S, further=False))


def joined(parts: Sequence[ModelEvaluation]) -> ModelEvaluation:
    """One after another."""
    return ModelEvaluation(
        {key: np.concatenate([part.values[key] for part in parts]) for key in parts[0].values},
        np.concatenate([part.share for part in parts]),
        np.concatenate([part.saturation for part in parts]),
    )


def _method(given: Sequence[Network]) -> tuple[Method, str]:
    """One method for all configurations: the best that applies to each, as `auto` ranks them; but no approximate chain, which takes as
    long as an exact one and refuses while it is solved: a fit asks for hundreds."""
    networks = at_rest(given)
    for method, why in automatic_method.preferred(networks):
        if not method.exact and registry.family(method) == "markov":
            continue
        if all(registry.refusal(method, n) is None for n in networks):
            return method, why
    raise automatic_method.too_dear(networks, registry.BUDGET_S) or automatic_method.nothing_applies(networks[0])


def loads(networks: Sequence[Network]) -> tuple[Array, Array]:
    """P shares of the saturation rate, and P saturation rates (1/s); 0 and infinite where a class is closed or nothing saturates."""
    first = outline(networks)
    if first.closed.any():
        return np.zeros(len(networks)), np.full(len(networks), np.inf)
    traffic = TrafficSolution.of(networks)
    saturation = traffic.saturation
    with np.errstate(divide="ignore"):
        return traffic.passes.sum(axis=1) / saturation, saturation


def slower_clocks(networks: Sequence[Network], factors: Array) -> Sequence[Network]:
    """All service times longer by a factor, P, seen from a clock that is as much slower: more arrivals, less thinking. Times of
    the answer are to be multiplied by the factor, rates to be divided."""
    points, by = as_points(networks), np.asarray(factors, float)[:, None]
    return points.altered(rate_per_s=points.column("rate_per_s") * by, think_s=points.column("think_s") / by)


def _slowed(networks: Sequence[Network], factors: Array) -> Sequence[Network]:
    """Arrivals as many times as slow, P; only their rates count here, so that what is no distribution of times is left as it is."""
    if not (factors > 1).any():
        return networks
    points = as_points(networks)
    return points.altered(rate_per_s=points.column("rate_per_s") / factors[:, None])


def _values(networks: Sequence[Network], s: Solution, over: Array) -> dict[Key, Array]:
    """Response times and throughputs of classes and of all, and servers at work by station."""
    first = networks[0]
    found: dict[Key, Array] = {}
    rate = s.throughput @ first.same_chain
    with np.errstate(divide="ignore", invalid="ignore"):
        residence = s.queue_length / rate[:, None, :] if s.residence_s is None else s.residence_s
        spent = np.where(first.visits > 0, residence, 0.0).sum(axis=1)
        if s.outside is not None:
            spent = spent + s.outside / rate
        grown = np.exp(np.minimum(STEEP * (over - 1), 50.0))
        for c, name in enumerate(first.classes):
            found["", name, "response_time"] = spent[:, c] * grown
            found["", name, "throughput"] = s.throughput[:, c] * over
        whole = s.throughput.sum(axis=1)
        found["", "", "throughput"] = whole * over
        found["", "", "response_time"] = (
            np.where(s.throughput > 0, spent * s.throughput, 0.0).sum(axis=1) / whole
        ) * grown
        servers, background = stacked(networks, "servers"), stacked(networks, "background")
        for k, station in enumerate(first.stations):
            left = servers[:, k] - background[:, k]  # of which a method tells the utilisation
            used = s.queue_length[:, k] if first.kind[k] == "delay" else s.utilisation[:, k] * left[:, None]
            found[station, "", "busy"] = np.where(first.visits[k] > 0, used, 0.0).sum(axis=1) * over + background[:, k]
    for name, busy in s.busy_of.items():
        found[name, "", "busy"] = busy * over
    return found
