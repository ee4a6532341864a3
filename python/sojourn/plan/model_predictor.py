"""What a plan asks of a model file or of one that was fitted: any metric, in many configurations, at many loads, for many draws of
the fitted parameters. Networks are copied with the numbers that change and solved together, as in a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sojourn.errors import FitError, InputError, ModelError
from sojourn.file_errors import meant
from sojourn.fit.factor_mapping import FactorMapping, applied, factors_of, path_of
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.measured_range import is_inside
from sojourn.fit.model_evaluation import loads
from sojourn.metric_names import UNITS
from sojourn.model import Closed, Distribution, Model, Multicore, Open
from sojourn.model.network_arrays import Network
from sojourn.model.parameters import NumberByFactor
from sojourn.model.unknown_parameters import WHOLE, unknowns
from sojourn.parallel import Workers
from sojourn.plan.objective import Quantity
from sojourn.plan.planned_points import BUDGET_S, PlannedPoints, solved_points
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.parameter_variation import Edit, edit
from sojourn.solve.solve import answer

Array = NDArray[np.float64]
Settings = Mapping[str, Any]


class ModelPredictor:
    """`vary`: names of what is varied, each with its values. Raises ModelError, InputError or FitError for what the model lacks."""

    def __init__(self, it: Model | FittedModel, vary: Mapping[str, Sequence[Any]]) -> None:
        self.workers: Workers | None = None  # that solve; None: this process
        self.given = (it, dict(vary))
        self.fitted = it if isinstance(it, FittedModel) else None
        self.model = it.model if isinstance(it, FittedModel) else it
        if free := list(unknowns(self.model)):
            raise InputError(
                f"unknown: {', '.join(free)}", "plan", "fit the model first: sojourn fit RUNS --model FILE"
            )
        self.mappings = self._mappings(vary)
        paths = [m.path for m in self.mappings]
        if self.fitted is not None:
            _all_said(self.fitted, {*vary, *paths})
        self.edits = {path: _edit(self.model, path) for path in dict.fromkeys(paths)}
        self.own = list(self.fitted.paths) if self.fitted else []
        self.own_edits = [edit(self.model, path) if _editable(self.model, path) else None for path in self.own]
        self.lowered = any(e is None for e in (*self.edits.values(), *self.own_edits))
        self.methods: set[str] = set()
        self.base = self.model.network
        _ = self.base.demands_s, self.base.same_chain, self.base.remarkable

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels as what it was made of."""
        return type(self), self.given

    def _mappings(self, vary: Mapping[str, Sequence[Any]]) -> list[FactorMapping]:
        short = {name: values for name, values in vary.items() if "." not in name}
        cases = {v.of for v in self.model.parameters.values() if isinstance(v, NumberByFactor)}
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
                remedy = f'give a path as stations.NAME.servers, or [factors] {name} = "PATH" in the model; '
                raise ModelError(f"no factor {name}", "--vary", remedy + meant(name, sorted(known)))
        # two configurations that differ in each factor, so that one that changes nothing is refused
        found = factors_of(self.model, [short, dict.fromkeys(short, ())]) if short else []
        found += [path_of(name) for name in vary if "." in name]
        for mapping in found:
            _whole(mapping, vary.get(mapping.name, ()))
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
    def notes(self) -> list[str]:
        """How it was solved, and what is not in the draws."""
        told = [f"solved by {', '.join(sorted(self.methods))}"]
        if self.fitted is not None and self.fitted.model_error is None:
            told.append("the model's own error is not known and not in the draws: chances are too sure")
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
        return is_inside(self.fitted, dict(settings) if load is None else {**settings, self.load_name: load})

    def values(
        self, configurations: Sequence[Settings], levels: Array, wanted: Sequence[Quantity], draws: int = 0
    ) -> dict[Quantity, Array]:
        """Each quantity, draws x configurations x levels; without draws 1 x …, at the values that were fitted. NaN where there is
        none (an unstable queue), InputError where the method does not tell it."""
        shape = (1, len(configurations), max(len(levels), 1))
        longer = np.ones(shape)
        drawn: list[Sequence[float] | None] = [None]
        if draws and self.fitted is not None:
            chosen = np.linspace(0, len(self.fitted.draws) - 1, draws).round().astype(int)
            drawn = [tuple(map(float, self.fitted.draws[i])) for i in chosen]
            longer = self._longer(self.fitted, configurations, levels)[chosen]
            shape = (draws, *shape[1:])
        points = PlannedPoints(self, list(configurations), levels, drawn, longer)
        found, methods = solved_points(points, wanted, self.workers)
        self.methods |= methods
        return {q: _scaled(q, found[q].reshape(shape), longer) for q in wanted}

    def _longer(self, fitted: FittedModel, configurations: Sequence[Settings], levels: Array) -> Array:
        """Draws x configurations x levels, by what all times are longer by the model's own error, as far from what was fitted."""
        points = [
            {**settings, **load}
            for settings in configurations
            for load in ([{self.load_name: float(level)} for level in levels] or [{}])
        ]
        shares = loads(self.networks(configurations, levels))[0] if fitted.loads else np.zeros(len(points))
        each = [fitted.longer_at(point, float(share)) for point, share in zip(points, shares, strict=True)]
        return np.stack(each, axis=1).reshape(-1, len(configurations), max(len(levels), 1))

    def busiest(self, settings: Settings, level: float | None) -> list[tuple[str, float, int]]:
        """(station, utilisation, servers), the busiest first."""
        network = self.networks([settings], np.array([] if level is None else [level]))[0]
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
        self, configurations: Sequence[Settings], levels: Array, drawn: Sequence[float] | None = None
    ) -> list[Network]:
        """Configurations outermost; `drawn`: values of the fitted parameters, None: as fitted."""
        found = []
        base = self.base
        if drawn is not None and not self.lowered:
            for change, value in zip(self.own_edits, drawn, strict=True):
                assert change is not None
                base = change(base, value)
        for settings in configurations:
            one = self._lowered(settings, drawn) if self.lowered else self._edited(base, settings)
            found += [self._at(one, float(level)) for level in levels] if len(levels) else [one]
        return found

    def _edited(self, network: Network, settings: Settings) -> Network:
        for mapping in self.mappings:
            change = self.edits[mapping.path]
            assert change is not None
            network = change(network, _put(mapping, settings))
        return network

    def _lowered(self, settings: Settings, drawn: Sequence[float] | None) -> Network:
        own = dict(zip(self.own, drawn or (), strict=bool(drawn)))
        return applied(self.model, self.mappings, settings, own).network

    def _at(self, network: Network, level: float) -> Network:
        """The network under a load: arrivals scaled together, or the number of users."""
        if self.load_name == "rate_per_s":
            by = level / network.rate_per_s.sum()
            arrivals = tuple(_faster(a, by) for a in network.arrivals)
            return network.altered(rate_per_s=network.rate_per_s * by, arrivals=arrivals)
        if len(network.population) > 1:
            classes = ", ".join(network.classes)
            raise InputError(f"users of {classes}", "--load", "leave it out, and vary classes.NAME.population")
        return network.altered(population=np.array([round(level)]))


def _all_said(fitted: FittedModel, said: set[str]) -> None:
    """Raises InputError for a factor that varied between the runs, stands in the model and is not varied; the load may be."""
    for name, given in fitted.model.factors.items():
        known = {repr(run[name]) for run in fitted.configurations if name in run}
        paths = {text.partition("=")[0].strip() for text in ((given,) if isinstance(given, str) else given)}
        if len(known) > 1 and name not in said and not paths & said and name not in ("rate_per_s", "users"):
            raise _not_said(name)
    parameters = {v.of if isinstance(v, NumberByFactor) else name for name, v in fitted.model.parameters.items()}
    for name in sorted(parameters):
        known = {repr(run[name]) for run in fitted.configurations if name in run}
        if len(known) > 1 and not {name, f"parameters.{name}"} & said:
            raise _not_said(name)


def _not_said(name: str) -> InputError:
    return InputError(f"no {name}", "--vary", f"say it, as in {name}=4: it varied between the runs")


def _editable(model: Model, path: str) -> bool:
    part, _, rest = path.partition(".")
    if part == "stations":
        return any(isinstance(s, Multicore) and rest.startswith(f"{s.name}.") for s in model.stations)
    return part in ("demands_s", "service_s", "classes") and path.count(".") == 2


def _edit(model: Model, path: str) -> Edit | None:
    try:
        return edit(model, path)
    except ModelError as error:
        raise ModelError(error.value, "--vary", error.remedy) from None


def _whole(mapping: FactorMapping, values: Sequence[Any]) -> None:
    """Raises InputError for a part of a server that is given as it is: what is computed from a factor is rounded."""
    if mapping.path.rpartition(".")[2] in WHOLE and set(mapping.value.names) == {mapping.name}:
        for value in values:
            if isinstance(value, float) and value != round(value) and mapping.result({mapping.name: value}) == value:
                raise InputError(f"{mapping.name} = {value:g}", "--vary", "give whole numbers, as 1..16")


def _put(mapping: FactorMapping, settings: Settings) -> Any:
    value = mapping.result(settings)
    return round(value) if mapping.path.rpartition(".")[2] in WHOLE else value


def _faster(arrivals: Any, by: float) -> Any:
    if arrivals is None or by == 1:
        return arrivals
    if isinstance(arrivals, Distribution) and hasattr(arrivals, "mean"):
        return replace(arrivals, mean=arrivals.mean / by)  # type: ignore[call-arg]
    raise InputError(
        f"arrivals {type(arrivals).__name__}",
        "--load",
        "leave --load out, or give rate_per_s in the model and no arrivals",
    )


def _scaled(quantity: Quantity, values: Array, longer: Array) -> Array:
    """Seen from the slower clock of `slower_clock`."""
    unit = UNITS.get(quantity.metric, "1")
    return values * longer if unit == "s" else values / longer if unit == "1/s" else values
