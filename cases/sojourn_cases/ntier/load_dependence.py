"""Whether the demand of a request depends on the load: a regression with a permutation test.

Demands are constant in the laws of operational analysis; where processes sleep between requests, waking them costs, and the demand
falls as the load grows. Tested is the slope of ln(demand) on the utilisation, over runs of several groups (of one layout and one
mix each), which differ in level and share the slope. A utilisation is U = X D/c, so that an error of D is in both: each run has the
mean utilisation of its configuration instead of its own. Under the hypothesis of a constant demand runs of a group are exchangeable:
the p-value is the share of permutations within groups whose slope falls as steeply (B. F. J. Manly, Randomization, Bootstrap and Monte
Carlo Methods in Biology (1997), sections 1.3 and 8.1). The interval is Student's t.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from sojourn.errors import FitError
from sojourn.fit import ParameterEstimate

Array = NDArray[np.float64]
PERMUTATIONS = 1999
LEAST_SPREAD = 0.1  # of the utilisations of a group: runs that are all as busy say nothing of a slope


@dataclass(frozen=True)
class LoadDependence:
    """`slope`: of ln(demand) on utilisation, with its interval; `p_value`: one-sided, of a demand that falls so much by chance;
    `runs`: how many told it."""

    slope: ParameterEstimate
    p_value: float
    runs: int

    @property
    def change(self) -> ParameterEstimate:
        """Relative change of the demand from an idle to a full machine: -0.3 where it falls by 30 %."""
        return ParameterEstimate(*(float(np.expm1(value)) for value in self.slope))


def load_dependence(
    groups: Sequence[Hashable], utilisation: ArrayLike, demand_s: ArrayLike, level: float = 0.95, seed: int = 1
) -> LoadDependence:
    """Of runs: their groups, utilisations (0 to 1, the same for runs of one configuration), demands > 0; 1-d, of one length.

    Raises:
        FitError: no group with utilisations that differ by a tenth, or fewer than three runs beyond the groups.
    """
    u, y = np.asarray(utilisation, float), np.log(np.asarray(demand_s, float))
    numbers = {name: k for k, name in enumerate(dict.fromkeys(groups))}
    of_group = np.array([numbers[name] for name in groups])
    wide = [k for k in numbers.values() if np.ptp(u[of_group == k]) >= LEAST_SPREAD]
    kept = np.isin(of_group, wide)
    u, y, of_group = u[kept], y[kept], of_group[kept]
    spare = len(y) - len(wide) - 1
    if not wide or spare < 2:
        raise FitError(
            f"{len(y)} runs that differ in utilisation", "load dependence", "vary the users, from few to many"
        )
    x, y = _centred(u, of_group), _centred(y, of_group)
    slope = float(x @ y / (x @ x))
    error = float(np.sqrt(np.sum((y - slope * x) ** 2) / spare / (x @ x)))
    half = float(stdtrit(spare, (1 + level) / 2)) * error
    draw = np.random.default_rng(seed)
    others = np.array([x @ _shuffled(y, of_group, draw) for _ in range(PERMUTATIONS)])
    as_steep = np.count_nonzero(others <= x @ y + 1e-12 * np.abs(x) @ np.abs(y))  # the same sums in another order
    p_value = (1 + as_steep) / (1 + PERMUTATIONS)
    return LoadDependence(ParameterEstimate(slope, slope - half, slope + half), p_value, len(y))


def _centred(values: Array, of_group: NDArray[np.int_]) -> Array:
    return values - (np.bincount(of_group, values) / np.maximum(np.bincount(of_group), 1))[of_group]


def _shuffled(values: Array, of_group: NDArray[np.int_], draw: np.random.Generator) -> Array:
    """In another order within each group."""
    order = np.lexsort((draw.random(len(values)), of_group))
    found = np.empty_like(values)
    found[np.argsort(of_group, kind="stable")] = values[order]
    return found
