"""A model at many values of its unknowns and in many configurations at once: what the runs would have measured.

Networks are copied with the entries that change (`solve.vary`), and one method answers all of them in one call. Above
0.99 of what an open network can do it is asked at 0.99, and the response grows from there on by a smooth penalty, so that
a search finds its way back; `predict` asks without that, and is told where it saturates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, ModelError
from sojourn.fit.closed_times import ClosedTimes
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.formula_values import PART, FormulaValues
from sojourn.model import Distribution, Model
from sojourn.model.model import as_model
from sojourn.model.network_arrays import Network
from sojourn.model.unknown_parameters import replaced, unknowns
from sojourn.parallel import On, Workers, blocks, open_workers, run_pieces
from sojourn.solve import automatic_method, registry
from sojourn.solve.load_dependent_times import at_load, at_rest
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.open.open_rates import TrafficSolution
from sojourn.solve.parameter_variation import edit
from sojourn.solve.solution import Solution

Array = NDArray[np.float64]
Key = tuple[str, str, str]  # station, class, metric: response_time, throughput or busy (servers at work)
NEAREST, STEEP = 0.99, 20.0
BLOCK = 250  # networks of a piece of work, on workers
TIMES = ("service_s", "service", "think_s", "think")  # of a network: what unknown times change


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
        models = [applied(model, self.factors, c) for c in configurations]
        self.networks = [m.network for m in models]
        self.formulas = FormulaValues(model, models, _edits)
        self.edits = [self._edit(path) for path in self.paths]
        self.alike = self._alike()
        self.of_stations = [i for i, path in enumerate(self.paths) if path.startswith("stations.")]
        # chosen at numbers none of which equals another: two classes whose times begin alike need not stay so
        apart = np.array([float(u) for u in self.unknowns.values()]) * (1 + 0.137 * np.arange(1, len(self.paths) + 1))
        low, high = (np.array([getattr(u, end) for u in self.unknowns.values()]) for end in ("low", "high"))
        self.method, self.why = _method(self.networks_at(np.clip(apart, np.maximum(low, 1e-9), high)[None]))
        self.times = ClosedTimes.of(self.networks, self.paths, self.formulas, self.method.name)

    def at(self, values: Array, which: Sequence[int] | None = None, nearest: bool = True) -> ModelEvaluation:
        """`values` B x unknowns; each of the B in each configuration (of `which`): P = B · configurations, B outermost."""
        if self.times is not None:
            answers = self.times.at(values, which)
            count = len(answers["", "", "throughput"])
            return ModelEvaluation(answers, np.zeros(count), np.full(count, np.inf))
        rows = max(1, BLOCK // len(self.networks))
        if self.workers is None or which is not None or not nearest or len(values) <= rows:
            found = self.solved(self.networks_at(values, which), nearest)
            return replace(found, values={**found.values, **self._parameters(values, which)})
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

    def networks_at(self, values: Array, which: Sequence[int] | None = None) -> list[Network]:
        """The networks of `at`, in its order."""
        chosen = list(range(len(self.networks)) if which is None else which)
        rows, networks = np.atleast_2d(values), [self.networks[i] for i in chosen]
        if not self.formulas.targets:
            return [n for row in rows for n in self._put(networks, row)]
        own = {p.removeprefix(PART): rows[:, i] for i, p in enumerate(self.paths) if p.startswith(PART)}
        changes = [self.formulas.changes(own, i, len(rows)) for i in chosen]
        return [
            self.formulas.put(network, change, number)
            for number, row in enumerate(rows)
            for network, change in zip(self._put(networks, row), changes, strict=True)
        ]

    def configured(self, values: Array, which: int) -> Model:
        """The model with numbers, in one of the configurations; `values`: unknowns."""
        found = dict(zip(self.paths, map(float, np.ravel(values)), strict=True))
        return applied(replaced(self.model, found), self.factors, self.configurations[which])

    def _parameters(self, values: Array, which: Sequence[int] | None) -> dict[Key, Array]:
        """Parameters that were measured."""
        rows, chosen = np.atleast_2d(values), list(range(len(self.networks)) if which is None else which)
        own = {p.removeprefix(PART): rows[:, i] for i, p in enumerate(self.paths) if p.startswith(PART)}
        return self.formulas.seen(own, chosen, len(rows))

    def _edit(self, path: str) -> Callable[[Network, float], Network] | None:
        """How a value of an unknown goes into a network; a parameter does by the formulas that need it."""
        if not path.startswith(PART):
            return _edits(self.model, path)
        return None if self.formulas.lowered(path) else lambda network, value: network

    def _put(self, networks: Sequence[Network], row: Array) -> list[Network]:
        lowered = [i for i, change in enumerate(self.edits) if change is None]
        if lowered:  # before the others, which change the network and not its model
            networks = [self._lowered(n, lowered, row) for n in networks]
        first = self._edited(networks[0], row)
        if not self.alike or lowered:
            return [first, *(self._edited(n, row) for n in networks[1:])]
        times = {name: getattr(first, name) for name in TIMES}
        return [first, *(self._edited(n.altered(**times), row, self.of_stations) for n in networks[1:])]

    def _lowered(self, network: Network, which: Sequence[int], row: Array) -> Network:
        return replaced(as_model(network.model), {self.paths[i]: float(row[i]) for i in which}).network

    def _edited(self, network: Network, row: Array, which: Sequence[int] | None = None) -> Network:
        for i in range(len(self.edits)) if which is None else which:
            change = self.edits[i]
            network = network if change is None else change(network, float(row[i]))
        return network

    def _alike(self) -> bool:
        """Whether unknowns are times and numbers of stations only, and no configuration has times of its own: those go in once."""
        first = self.networks[0]
        if self.formulas.targets:
            return False
        own = all(p.startswith(("demands_s.", "service_s.", "stations.")) or ".think_s" in p for p in self.paths)
        return own and all(
            np.array_equal(n.service_s, first.service_s) and np.array_equal(n.think_s, first.think_s)
            and n.service == first.service and n.think == first.think for n in self.networks
        )  # fmt: skip

    def solved(self, networks: Sequence[Network], nearest: bool = True) -> ModelEvaluation:
        """What each network says; NaN where it is unstable and `nearest` is not asked for."""
        share, saturation = loads(networks)
        over = np.maximum(share / NEAREST, 1.0) if nearest else np.ones(len(networks))
        asked = [_slowed(n, float(o)) if o > 1 else n for n, o in zip(networks, over, strict=True)]
        asked = at_load(asked, self._answer)
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


def _edits(model: Model, path: str) -> Callable[[Network, float], Network] | None:
    """How one value goes into a network: an entry changed, or the distribution that it is a part of; None: by its model."""
    part = path.partition(".")[0]
    for holder in (path, path.rpartition(".")[0]) if part in ("demands_s", "service_s", "classes", "stations") else ():
        try:
            change = edit(model, holder)
        except ModelError:
            continue
        if change is None:
            break
        if holder == path:
            return change
        now = _current(model, holder)  # what other unknowns have made of it
        field = path[len(holder) + 1 :]
        return lambda network, value: change(network, _with(now(network), field, value, path))
    return None


def _current(model: Model, path: str) -> Callable[[Network], Any]:
    """The distribution at `path` as a network has it now."""
    part, _, rest = path.partition(".")
    name, _, key = rest.rpartition(".")
    if part == "classes":
        number = model.network.classes.index(name)
        return lambda network: network.think[number] if key == "think_s" else network.arrivals[number]
    at = model.network.stations.index(name), model.network.classes.index(key)
    return lambda network: network.service[at[0]][at[1]]


def _with(whole: Any, name: str, value: float, path: str) -> Distribution:
    if not isinstance(whole, Distribution):
        raise FitError(
            path, "unknowns", "put an unknown in place of a number, or of a parameter of a distribution of times"
        )
    return replace(whole, **{name if name in whole.__dataclass_fields__ else f"{name}_": value})


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
    first = networks[0]
    if first.closed.any():
        return np.zeros(len(networks)), np.full(len(networks), np.inf)
    traffic = TrafficSolution.of(networks)
    saturation = traffic.saturation
    with np.errstate(divide="ignore"):
        return traffic.passes.sum(axis=1) / saturation, saturation


def slower_clock(network: Network, factor: float) -> Network:
    """All service times longer by `factor`, seen from a clock that is as much slower: more arrivals, less thinking. Times
    of the answer are to be multiplied by `factor`, rates to be divided."""
    think = tuple(None if d is None else d.scaled(1 / factor) for d in network.think)
    arrivals = tuple(_longer(a, 1 / factor) for a in network.arrivals)
    return network.altered(
        rate_per_s=network.rate_per_s * factor, arrivals=arrivals, think_s=network.think_s / factor, think=think
    )


def _slowed(network: Network, factor: float) -> Network:
    """Arrivals `factor` times as slow; only their rates count here, so that their law is left as it is for Poisson."""
    arrivals = tuple(_longer(a, factor) for a in network.arrivals)
    return network.altered(rate_per_s=network.rate_per_s / factor, arrivals=arrivals)


def _longer(arrivals: Any, factor: float) -> Any:
    return arrivals.scaled(factor) if isinstance(arrivals, Distribution) else arrivals


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
        servers = np.stack([n.servers for n in networks])
        for k, station in enumerate(first.stations):
            used = s.queue_length[:, k] if first.kind[k] == "delay" else s.utilisation[:, k] * servers[:, k, None]
            found[station, "", "busy"] = np.where(first.visits[k] > 0, used, 0.0).sum(axis=1) * over
    for name, busy in s.busy_of.items():
        found[name, "", "busy"] = busy * over
    return found
