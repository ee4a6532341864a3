"""What an autoscaler has to be told so that a planned objective is kept: bounds of the replicas, and the load of one of them.

For each number of replicas m the model has a largest rate at which the objective is met; L(m) is the lower end of its interval. An
autoscaler that aims at t a replica runs ceil(rate/t) of them, so that t <= L(m)/m for every m that it may run keeps the objective. It
acts only when it is off by more than its tolerance (a tenth: Kubernetes documentation, Horizontal Pod Autoscaling, algorithm details),
so t is that much less. The same for the busy share of the station that is busiest at L(m).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.errors import InputError, ObjectiveMissed
from sojourn.plan.load import Load
from sojourn.plan.objective import Objective
from sojourn.plan.predictor import Predictor, predictor_of
from sojourn.units import USUAL_LEVEL

DRAWS, STEPS, NARROWINGS = 100, 24, 3
TOLERANCE = 0.1
MOST_REPLICAS = 1000


@dataclass(frozen=True)
class ScalingRule:
    """`least` to `most` replicas for rates of `lowest_per_s` to `highest_per_s`; a replica is to have `rate_per_s` requests a second, and
    `utilisation` (in (0, 1)) of `station`, both with room for the tolerance. `draws`: 0 where the model has none, and so no interval.
    `inside`: whether both ends lie in what was measured, None where nothing was."""

    factor: str
    objective: str
    least: int
    most: int
    lowest_per_s: float
    highest_per_s: float
    rate_per_s: float
    utilisation: float
    station: str
    level: float
    draws: int
    scale_down_s: float = 300.0
    inside: bool | None = None


def scaling_rule(
    model: Any,
    vary: Mapping[str, Iterable[Any]],
    objective: str,
    load: float | str | None,
    *,
    level: float = USUAL_LEVEL,
    scale_down_s: float = 300.0,
) -> ScalingRule:
    """`vary`: the number of replicas, the only thing that is varied; `load`: rates as of `plan`. `scale_down_s`: how long the highest
    number that was asked for is kept, in [0, 3600].

    Raises:
        InputError: something else is varied, no load, or one that is a number of users. ObjectiveMissed: no number of replicas meets it.
    """
    lists = {name: list(values) for name, values in vary.items()}
    if len(lists) != 1:
        raise InputError(
            ", ".join(lists) or "nothing", "--vary", "vary one number, that of the replicas, as workers=1..16"
        )
    ((factor, values),) = lists.items()
    counts = sorted({int(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool) and v == int(v)})
    if len(counts) != len(set(values)) or not counts or not 1 <= counts[0] <= counts[-1] <= MOST_REPLICAS:
        raise InputError(values, f"--vary {factor}", f"give whole numbers of replicas from 1 to {MOST_REPLICAS}")
    if not 0 <= scale_down_s <= 3600:
        raise InputError(scale_down_s, "--scale-down-window", "give 0s to 1h")
    if load is None:
        raise InputError("no load", "--load", "say for which rates: 200..900, or a .csv with a column rate_per_s")
    asked, wanted, rates = predictor_of(model, lists), Objective.read(objective), Load.read(load)
    if asked.load_name != "rate_per_s":
        raise InputError(
            "a model with users",
            "--manifest-kind",
            "give a model with a rate: an autoscaler aims at a load of a replica",
        )
    able = {m: _largest(asked, {factor: m}, wanted, rates, level) for m in counts}
    lowest, highest = float(rates.levels[0]), rates.most
    least, enough = (next((m for m in counts if able[m] >= rate), None) for rate in (lowest, highest))
    if least is None or enough is None:
        said = f"{counts[-1]} of {factor} carry {able[counts[-1]]:.4g}/s within {wanted.text}"
        raise ObjectiveMissed(said, f"--load up to {highest:g}", "give more of them, or a lower load")
    among = [m for m in counts if least <= m <= enough]
    a_replica = min(able[m] / m for m in among)
    shares = [next(iter(asked.busiest({factor: m}, able[m])), ("", 1.0, 1)) for m in among]
    station, share, _ = min(shares, key=lambda one: one[1])
    room = 1 + TOLERANCE
    known = [asked.inside({factor: m}, rate) for m, rate in ((least, lowest), (enough, highest))]
    return ScalingRule(
        factor, wanted.text, least, max(enough, math.ceil(highest / (a_replica / room) - 1e-9)), lowest, highest, a_replica / room,
        share / room, station, level, min(DRAWS, asked.draws), scale_down_s, None if None in known else all(known),
    )  # fmt: skip


def _largest(asked: Predictor, settings: Mapping[str, Any], wanted: Objective, rates: Load, level: float) -> float:
    """The lower end of the largest rate at which the objective is met; 0 where it is met at none of those looked at."""
    low, high = rates.most / MOST_REPLICAS, rates.most * 2
    draws = min(DRAWS, asked.draws)
    for _ in range(NARROWINGS):
        grid = np.linspace(low, high, STEPS)
        met = wanted.judge(asked.values([settings], grid, wanted.quantities, draws)).met[:, 0, :]
        up_to = np.minimum.accumulate(met, axis=1).sum(
            axis=1
        )  # of each draw: how many rates meet it, from the lowest on
        count = int(np.quantile(up_to, (1 - level) / 2, method="lower"))
        if count == STEPS:
            return float(high)
        low, high = float(grid[count - 1]) if count else 0.0, float(grid[count])
    return low
