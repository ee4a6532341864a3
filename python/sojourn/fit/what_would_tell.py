"""Of unknowns that no run so far tells apart where the search begins: which other runs, or which resource watched, would tell them.

Each is asked of the model itself: the slopes of what a run would measure have full rank with it, or they have not (a service time and
its visits are only ever seen as their product, at any load).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import FitError, ModelError, SojournError
from sojourn.fit import nonlinear_least_squares
from sojourn.fit.model_evaluation import Key, ModelEvaluator
from sojourn.model import Model, Queue

Array = NDArray[np.float64]
SAME = 1e-6  # least singular value over the greatest
OF_STATIONS = ("demands_s.", "service_s.", "stations.")  # paths of unknowns
TIMES = (0.5, 2.0)  # as large as it is now


class WhatWouldTell:
    """`configurations` and `keys` of the runs so far; `at`: values of the unknowns, where the search begins."""

    def __init__(
        self, model: Model, configurations: Sequence[Mapping[str, Any]], keys: Sequence[Key], at: Array
    ) -> None:
        self.model, self.configurations, self.at = model, [dict(one) for one in configurations], at
        self.keys = list(dict.fromkeys(keys))

    def resources(self) -> list[str]:
        """Stations whose busy servers would."""
        watched = {station for station, _, metric in self.keys if metric == "busy"}
        queues = [s.name for s in self.model.stations if isinstance(s, Queue) and s.name not in watched]
        return [name for name in queues if self._tells(self.configurations, [*self.keys, (name, "", "busy")])]

    def factors(self, names: Sequence[str]) -> list[str]:
        """Of some factors that were not varied, those that would; one that stands nowhere as a number is taken to."""
        return [name for name in names if self._varied(name)]

    def further(self, names: Sequence[str]) -> list[str]:
        """Of some factors that were varied, those that would beyond the levels that they had."""
        return [
            name for name in names if all(_number(one.get(name)) for one in self.configurations) and self._varied(name)
        ]

    def _varied(self, name: str) -> bool:
        """Whether all levels that a factor had, halved and doubled too, would."""
        given = dict.fromkeys(one.get(name) for one in self.configurations)
        levels = [level for level in given if isinstance(level, int | float) and not isinstance(level, bool) and level]
        if len(levels) < len(given):
            return True
        others = [[type(now)(max(now * by, 1) if isinstance(now, int) else now * by) for now in levels] for by in TIMES]
        return any(self._tells(self._with(name, some), self.keys) for some in (*others, others[0] + others[1]))

    def _with(self, name: str, levels: Sequence[float]) -> list[Mapping[str, Any]]:
        return [*self.configurations, *({**one, name: level} for one in self.configurations for level in levels)]

    def _tells(self, configurations: Sequence[Mapping[str, Any]], keys: Sequence[Key]) -> bool:
        try:
            evaluator = ModelEvaluator(self.model, configurations)
        except (FitError, ModelError):
            return False  # there is no such configuration
        except SojournError:
            return True  # such a run cannot be asked of the model: nothing is known against it
        scale = nonlinear_least_squares.ParameterScale.of(list(evaluator.unknowns.values()), self.at)

        def predicted(values: Array) -> Array:
            found = evaluator.at(values).values
            rows = [np.reshape(found[key], (-1, len(configurations))) for key in keys if key in found]
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.nan_to_num(np.log(np.concatenate(rows, axis=1)), nan=50.0, posinf=50.0, neginf=-50.0)

        sizes = np.linalg.svd(nonlinear_least_squares.slopes(predicted, scale, scale.begun(self.at)), compute_uv=False)
        return bool(sizes[-1] > SAME * sizes[0])


def unwatched(model: Model, keys: Sequence[Key], paths: Sequence[str]) -> list[str]:
    """Queues whose busy servers no run observed, of the stations that these unknowns are of; of all where one is of no station."""
    watched = {station for station, _, metric in keys if metric == "busy"}
    named = {path.split(".")[1] if path.startswith(OF_STATIONS) else "" for path in paths}
    queues = [s.name for s in model.stations if isinstance(s, Queue) and s.name not in watched]
    return [name for name in queues if name in named or "" in named]


def to_watch(stations: Sequence[str]) -> list[str]:
    """The remedy, where there are any."""
    return [f"measure the resource of station {' or '.join(stations)} and name it in [observed]"] if stations else []


def _number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)
