"""How long the next run of a search must be, for the interval to be as narrow as asked.

The variance of the logarithm of the answer is that of the logarithm of a measured figure over the square of its steepness, d ln figure/d ln
rate (delta method), and falls as one over the length of the run (c-optimal design for a root: V. V. Fedorov, Theory of Optimal Experiments
(1972), chapter 2). What a second tells is taken from the run with the most load: near saturation error and steepness grow
alike, so that their ratio hardly changes with the rate.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from sojourn.capacity.capacity_result import CapacityRun
from sojourn.capacity.objective_limit import quantity_of
from sojourn.capacity.rate_interval import machine_part
from sojourn.capacity.search_state import SearchState
from sojourn.capacity.steepness import steepness
from sojourn.errors import SojournError
from sojourn.fit import FittedModel
from sojourn.fit.drawn_quantiles import of_mean
from sojourn.plan.objective import Quantity
from sojourn.plan.predictor import predictor_of
from sojourn.query.objectives import Objective

LEAST_STEEPNESS = 0.2  # below it a run tells next to nothing
DRAWS = 20
LEAST_LIMIT = 1e-9
LEAST_OWN = 0.5  # of the machine's part: more precision than that is not asked of runs


def lacking_s(
    known: SearchState, lengths_s: Sequence[float], objectives: Sequence[Objective], aim: float, level: float
) -> float:
    """Seconds that a run at the answer needs until half of the interval is `aim` of it; where the interval has no
    upper end, as if nothing were known yet."""
    assert known.rate is not None and known.fitted is not None
    z = float(ndtri((1 + level) / 2))
    floor = machine_part(level)  # that no run takes away
    wanted, now = (z**2 / max(width**2 - floor**2, (LEAST_OWN * floor) ** 2) for width in (aim, known.rate.half_width))
    runs = known.runs
    k = int(np.argmax([run.achieved_per_s for run in runs]))
    told = _told_a_second(known.fitted, runs[k], lengths_s[k], _binding(runs[k], objectives))
    # as many requests a second as the rate has
    return max(wanted - now, 0.0) / (told * known.rate.value / runs[k].rate_per_s)


def _binding(run: CapacityRun, objectives: Sequence[Objective]) -> Objective | None:
    """The one that the run is nearest to its limit of, or furthest beyond."""
    above = [one for one in objectives if one.relation.startswith("<") and one.limit > 0] or objectives
    return max(
        above, key=lambda one: (run.objective_values.get(one.figure) or 0.0) / max(one.limit, LEAST_LIMIT), default=None
    )


def _told_a_second(fitted: FittedModel, run: CapacityRun, length_s: float, one: Objective | None) -> float:
    """Inverse variance of the logarithm of the answer, for each second of a run."""
    error = run.response_error
    if one is not None and one.figure != "mean":
        error = run.objective_value_errors.get(one.figure) or error * of_mean(one.q)
    return (_steepness(fitted, run.rate_per_s, one) / error) ** 2 / length_s


def _steepness(fitted: FittedModel, rate_per_s: float, one: Objective | None) -> float:
    """d ln figure/d ln rate by the model; of the mean where it does not tell the figure."""
    predictor, mean = predictor_of(fitted, {}), Quantity("response_time")
    for quantity in (quantity_of(one) if one else mean, mean):
        try:
            risen = float(steepness(predictor, np.array([rate_per_s]), quantity, DRAWS)[1][0])
        except SojournError:
            continue
        if np.isfinite(risen):
            return max(risen, LEAST_STEEPNESS)
    return LEAST_STEEPNESS
