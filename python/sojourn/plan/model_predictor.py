"""What a plan asks of a model file or of one that was fitted: any metric, in many configurations, at many loads, for many draws of
the fitted parameters. All of them are solved together, as arrays where what changes is a number in the arrays of a network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import FitError, InputError, ModelError
from sojourn.file_errors import meant
from sojourn.fit.factor_mapping import FactorMapping, applied, factors_of, path_example, path_of
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.measured_range import is_inside
from sojourn.fit.model_evaluation import loads
from sojourn.metric_names import UNITS
from sojourn.model import Closed, Model, Multicore, Open
from sojourn.model.network_arrays import Network
from sojourn.model.network_points import NetworkPoints, Points
from sojourn.model.parameters import NumberByFactor
from sojourn.model.unknown_parameters import WHOLE, unknowns
from sojourn.parallel import Workers
from sojourn.plan.checked_numbers import all_said, check_scaled, check_told, check_whole
from sojourn.plan.objective import Quantity
from sojourn.plan.planned_points import BUDGET_S, PlannedPoints, solved_points
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.parameter_variation import NumberEdit, edit
from sojourn.solve.solve import answer

Array = NDArray[np.float64]
Settings = Mapping[str, Any]


class ModelPredictor:
    """`vary`: names of what is varied, each with its values. Raises ModelError, InputError or FitError for what the model lacks."""

    averages = False

    def __init__(self, it: Model | FittedModel, vary: Mapping[str, Sequence[Any]]) -> None:
        self.workers: Workers | None = None  # that solve; None: this process
        self.given = (it, dict(vary))
        self.fitted = it if isinstance(it, FittedModel) else None
        self.model = it.model if isinstance(it, FittedModel) else it
        if free := list(unknowns(self.model)):
            raise InputError(
                f"unknown: {', '.join(free)}", "plan", "fit the model first: sojourn fit RUNS --model FILE"
            )
        if self.fitted is not None:
            check_told(self.fitted, vary)
        self.mappings = self._mappings(vary)
        paths = [m.path for m in self.mappings]
        if self.fitted is not None:
            all_said(self.fitted, {*vary, *paths})
        self.edits = {path: _edit(self.model, path) for path in dict.fromkeys(paths)}
        self.own = list(self.fitted.paths) if self.fitted else []
        self.own_edits = [edit(self.model, path) if _editable(self.model, path) else None for path in self.own]
        self.lowered = any(e is None for e in (*self.edits.values(), *self.own_edits))
        self.methods: set[str] = set()
        self.known: dict[tuple[str, Any], bool] = {}  # name and value → whether it lies in what was measured
        self.results: dict[tuple[Any, ...], Any] = {}  # what a mapping puts, by the values that it reads
        self.base = self.model.network
        _ = self.base.demands_s, self.base.same_chain, self.base.remarkable
        self.arrays = self._in_arrays(vary)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as what it was made of."""
        return type(self), self.given

    def _in_arrays(self, vary: Mapping[str, Sequence[Any]]) -> bool:
        """Whether all that changes is a number in the arrays of a network."""
        points = NetworkPoints((self.base,))
        told = all(e is not None and points.takes(e.place) for e in (*self.edits.values(), *self.own_edits))
        return told and all(isinstance(value, int | float) for values in vary.values() for value in values)

    def _mappings(self, vary: Mapping[str, Sequence[Any]]) -> list[FactorMapping]:
        short = {name: values for name, values in vary.items() if "." not in name}
        cases = {v.factor for v in self.model.parameters.values() if isinstance(v, NumberByFactor)}
        known = {
            *self.model.factors,
            *self.model.parameters,
            *self.model.where,
            *cases,
            "users",
            "think_s",
            "rate_per_s",
        }
        for name in short:
            if name not in known:
                remedy = f'give a path as {path_example(self.model, name)}, or [factors] {name} = "PATH" in the model; '
                raise ModelError(f"no factor {name}", "--vary", remedy + meant(name, sorted(known)))
        # two configurations that differ in each factor, so that one that changes nothing is refused
        found = factors_of(self.model, [short, dict.fromkeys(short, ())]) if short else []
        found += [path_of(name) for name in vary if "." in name]
        for mapping in found:
            check_whole(mapping, vary.get(mapping.name, ()))
        return found

    def affordable(self, wanted: Sequence[Quantity]) -> int:
        """How many networks it solves in a few seconds."""
        return 10_000 if self.lowered else 30_000

    @property
    def load_name(self) -> str:
        """`rate_per_s` of a model with arrivals from outside, `users` of one with a number of users."""
        return "rate_per_s" if any(isinstance(c, Open) for c in self.model.classes) else "users"

    @property
    def draws(self) -> int:
        """How many there are; 0 without a fit."""
        return 0 if self.fitted is None else len(self.fitted.draws)

    @property
    def cautions(self) -> list[str]:
        """What the fit said against trust in predictions; nothing without a fit."""
        return [] if self.fitted is None else self.fitted.cautions

    @property
    def notes(self) -> list[str]:
        """How it was solved, and what is not in the draws."""
        told = [f"solved by {', '.join(sorted(self.methods))}"]
        if self.fitted is not None and self.fitted.model_error is None:
            told.append("the model's own error is not known and not in the draws: the probabilities are too optimistic")
        return told

    def current_load(self) -> float | None:
        """The load in the model file."""
        open_ = float(self.base.rate_per_s.sum())
        users = float(sum(c.population for c in self.model.classes if isinstance(c, Closed)))
        return (open_ if self.load_name == "rate_per_s" else users) or None

    def impossible(self, settings: Settings) -> ModelError | FitError | None:
        """What the model says against it."""
        try:
            self._lowered(settings, None) if self.lowered else self._edited(self.base, settings)
        except (ModelError, FitError) as error:
            return error
        return None

    def inside(self, settings: Settings, load: float | None) -> bool | None:
        """Whether each factor lies between the least and the most that was measured; None where nothing was."""
        if self.fitted is None:
            return None
        every = dict(settings) if load is None else {**settings, self.load_name: load}
        for one in every.items():  # each by itself, and few values many times
            if one not in self.known:
                self.known[one] = is_inside(self.fitted, dict([one]))
        return all(self.known[one] for one in every.items())

    def values(
        self, configurations: Sequence[Settings], levels: Array, wanted: Sequence[Quantity], draws: int = 0
    ) -> dict[Quantity, Array]:
        """Each quantity, draws x configurations x levels; without draws 1 x …, at the values that were fitted. NaN where there is
        none (an unstable queue), InputError where the method does not tell it."""
        shape = (1, len(configurations), max(len(levels), 1))
        longer = np.ones(shape)
        drawn: Array | None = None
        if draws and self.fitted is not None:
            chosen = np.linspace(0, len(self.fitted.draws) - 1, draws).round().astype(int)
            drawn = self.fitted.draws[chosen]
            longer = self._longer(self.fitted, configurations, levels)[chosen]
            shape = (draws, *shape[1:])
        method = None if self.fitted is None else self.fitted.solve_method
        points = PlannedPoints(self, list(configurations), levels, drawn, longer, method=method)
        found, methods = solved_points(points, wanted, self.workers)
        self.methods |= methods
        return {q: _scaled(q, found[q].reshape(shape), longer) for q in wanted}

    def _longer(self, fitted: FittedModel, configurations: Sequence[Settings], levels: Array) -> Array:
        """Draws x configurations x levels, by what all times are longer by the model's own error, as far from what was fitted."""
        count = max(len(levels), 1)
        if fitted.fitted_saturation_shares is None:
            at = [{self.load_name: float(level)} for level in levels] or [{}]
            each_at = [[fitted.longer_at({**settings, **load}) for load in at] for settings in configurations]
            return np.moveaxis(np.array(each_at), 2, 0)
        of = np.repeat(np.arange(len(configurations)), count)
        each = np.tile(levels, len(configurations)) if len(levels) else None
        shares = loads(self.networks(configurations, of, each))[0].reshape(-1, count, 1)
        found = [fitted.longer_at(settings, share) for settings, share in zip(configurations, shares, strict=True)]
        return np.moveaxis(np.array(found), 2, 0)

    def busiest(self, settings: Settings, level: float | None) -> list[tuple[str, float, int]]:
        """(station, utilisation, servers), the busiest first."""
        network = self.networks([settings], np.zeros(1, np.intp), None if level is None else np.array([level]))[0]
        frame = answer([network], "auto", RequestedOutputs(()), BUDGET_S, {}).frame
        rows = frame.filter(
            (pl.col("metric") == "utilisation") & (pl.col("station") != "") & pl.col("value").is_not_null()
        )
        used = rows.group_by("station").agg(
            pl.col("value").filter(pl.col("class") == "").first(), every=pl.col("value").sum()
        )
        found = []
        for row in used.iter_rows(named=True):
            name = row["station"]  # a pool is none of the stations
            servers = int(network.servers[network.stations.index(name)]) if name in network.stations else 1
            found.append((name, row["value"] or row["every"], servers))
        return sorted(found, key=lambda one: -one[1])

    def networks(
        self, configurations: Sequence[Settings], of: Points, levels: Array | None = None,
        drawn: Array | None = None, draw: Points | None = None,
    ) -> NetworkPoints:  # fmt: skip
        """P networks: `of` P, which of the configurations; `levels` P, loads, None: as the model has it; `drawn` draws x fitted parameters
        and `draw` P, which of them, None: as fitted."""
        values = None if drawn is None or draw is None else drawn[draw]
        made = (
            self._in_points(configurations, of, values) if self.arrays else self._one_by_one(configurations, of, values)
        )
        return made if levels is None else self._at(made, levels)

    def _in_points(self, configurations: Sequence[Settings], of: Points, drawn: Array | None) -> NetworkPoints:
        points = NetworkPoints((self.base,), np.zeros(len(of), np.intp))
        for change, column in zip(self.own_edits, () if drawn is None else drawn.T, strict=drawn is not None):
            assert change is not None
            points = change.every(points, column)
        for mapping in self.mappings:
            change = self.edits[mapping.path]
            assert change is not None
            points = change.every(points, np.array([self._put(mapping, settings) for settings in configurations])[of])
        return points

    def _one_by_one(self, configurations: Sequence[Settings], of: Points, drawn: Array | None) -> NetworkPoints:
        """Each configuration and draw once."""
        keys = of[:, None] if drawn is None else np.column_stack([of, drawn])
        _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        bases = []
        for at in first:
            settings, values = configurations[of[at]], None if drawn is None else drawn[at]
            bases.append(
                self._lowered(settings, values) if self.lowered else self._edited(self._drawn(values), settings)
            )
        return NetworkPoints(bases, which.ravel())

    def _drawn(self, values: Array | None) -> Network:
        network = self.base
        for change, value in zip(self.own_edits, () if values is None else values.tolist(), strict=values is not None):
            assert change is not None
            network = change(network, value)
        return network

    def _edited(self, network: Network, settings: Settings) -> Network:
        for mapping in self.mappings:
            change = self.edits[mapping.path]
            assert change is not None
            network = change(network, self._put(mapping, settings))
        return network

    def _put(self, mapping: FactorMapping, settings: Settings) -> Any:
        key = (mapping.path, *map(settings.get, mapping.value.names))
        if key not in self.results:
            value = mapping.result(settings)
            self.results[key] = round(value) if mapping.path.rpartition(".")[2] in WHOLE else value
        return self.results[key]

    def _lowered(self, settings: Settings, drawn: Array | None) -> Network:
        own = {} if drawn is None else dict(zip(self.own, drawn.tolist(), strict=True))
        return applied(self.model, self.mappings, settings, own).network

    def _at(self, points: NetworkPoints, levels: Array) -> NetworkPoints:
        """The networks under a load: arrivals scaled together, or the number of users."""
        if self.load_name == "rate_per_s":
            for arrivals in self.base.arrivals:
                check_scaled(arrivals)
            rates = points.column("rate_per_s")
            return points.altered(rate_per_s=rates * (levels / rates.sum(axis=1))[:, None])
        if len(self.base.population) > 1:
            classes = ", ".join(self.base.classes)
            raise InputError(f"users of {classes}", "--load", "leave it out, and vary classes.NAME.population")
        return points.altered(population=np.rint(levels).astype(np.int64)[:, None])


def _editable(model: Model, path: str) -> bool:
    part, _, rest = path.partition(".")
    if part == "stations":
        return any(isinstance(s, Multicore) and rest.startswith(f"{s.name}.") for s in model.stations)
    return part in ("demands_s", "service_s", "classes") and path.count(".") == 2


def _edit(model: Model, path: str) -> NumberEdit | None:
    try:
        return edit(model, path)
    except ModelError as error:
        raise ModelError(error.value, "--vary", error.remedy) from None


def _scaled(quantity: Quantity, values: Array, longer: Array) -> Array:
    """Seen from the slower clock of `slower_clocks`."""
    unit = UNITS.get(quantity.metric, "1")
    return values * longer if unit == "s" else values / longer if unit == "1/s" else values
