"""What a number that the other configurations foretell is off by where the model is right: the variance of its logarithm.

Two parts. Of sampling: what its runs state, smooth over all of them, less what the count of their arrivals explains. A model of one open
class tells it too (`sampling_error`), and the larger counts: runs that saw little queueing by chance state too little, and where all of
a fit near saturation did no smoothing shows it. Of the unknowns: what they vary by where these runs are left out, to first order. It is
largest at the ends, where a rate is foretold from lower ones (leverage: R. D. Cook, S. Weisberg: Residuals and Influence in Regression
(1982), 2.2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.errors_within_runs import counted
from sojourn.fit.fit_problem import BUSY, FitProblem
from sojourn.fit.sampling_error import delay_s, of_one_request, work_scv
from sojourn.model import Open
from sojourn.model.network_points import as_points

Array = NDArray[np.float64]
TIME = "response_time"


def foretold(data: FitProblem, x: Array, jacobian: Array) -> tuple[dict[str, float], ...]:
    """A row a configuration, in the order of `held_out` and with its names; unknowns `x`, as they are searched."""
    sampling = _sampling(data, x) ** 2
    rows = []
    for number in range(len(data.each)):
        weight = np.where(data.of == number, 0.0, data.weight)
        back = np.linalg.pinv(weight[:, None] * jacobian)
        groups: dict[str, list[int]] = {}
        for i in np.flatnonzero(data.of == number):
            groups.setdefault(_name(data, int(i)), []).append(int(i))
        rows.append(
            {
                name: float(((jacobian[own].mean(axis=0) @ back) ** 2).sum() + sampling[own].sum() / len(own) ** 2)
                for name, own in groups.items()
            }
        )
    return tuple(rows)


def _name(data: FitProblem, i: int) -> str:
    station, _, metric = data.seen[i].key
    run = data.runs.runs[data.seen[i].run]
    return BUSY + ", ".join(run.watched(data.model)[station]) if metric == "busy" else metric


def _sampling(data: FitProblem, x: Array) -> Array:
    """n, relative standard errors; 0 of busy resources, of which `left_out_errors` knows."""
    growth = data.growth(x)
    stated = np.sqrt(np.maximum(data.stated**2 - data.beside**2, 0.0))
    found = np.hypot(np.maximum(stated, _modelled(data, x, growth - 1)), data.beside)
    return np.where([s.key[2] == "busy" for s in data.seen], 0.0, data.rates.left(found, growth))


def _modelled(data: FitProblem, x: Array, steepness: Array) -> Array:
    """n, of mean response times by the model; 0 where it is not of one open class, or nobody knows how many requests there were."""
    classes = data.model.classes
    if len(classes) != 1 or not isinstance(classes[0], Open):
        return np.zeros(len(data.seen))
    points = as_points(data.evaluator.networks_at(data.scale.outward(x)[None]))
    mean_s = data.evaluator.solved(points).values["", "", TIME]
    scv = np.array([work_scv(network) for network in points])
    waits = np.array([1 - delay_s(network) / mean for network, mean in zip(points, mean_s, strict=True)])
    one = of_one_request(steepness, scv[data.at], waits[data.at])
    return np.where([s.key[2] == TIME for s in data.seen], one * counted(data), 0.0)
