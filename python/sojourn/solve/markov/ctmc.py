"""Any small network, state by state: a continuous-time Markov chain.

Source: W. J. Stewart, Introduction to the Numerical Solution of Markov Chains (1994), chapters 1, 3, 6; G. Bolch et al.,
Queueing Networks and Markov Chains, 2nd ed. (2006), chapters 2 and 3. Blocking after service: H. G. Perros, Queueing
Networks with Blocking (1994), ch. 1. The distribution comes from `crates/solve/src/markov` (elimination without
subtractions for small chains, multilevel aggregation for large ones; all its sums have one sign).

| letters            | here                                        | unit |
|--------------------|---------------------------------------------|------|
| Q                  | generator, from `network_chain`             | 1/s  |
| pi                 | stationary distribution                     | 1    |
| ‖pi Q‖/sum pi_i q_i | residual: share of the flow out of balance  | 1    |

Limits: exponential and phase-type service, thinking and arrivals (MAP too); at most 2 million states. Open customers
without a bound are cut off at a number N; what the geometric tail beyond it would add to a mean number or to its second
moment is at most 1e-7 of it, and the message says how much (`answer.truncation`); where no such N fits, it refuses. A
customer that finds a region or a pool full
waits outside it: it counts for the system, and for the row of the pool, but for no station.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from sojourn.errors import MethodRefused
from sojourn.model.network_arrays import Array, Network
from sojourn.model.network_points import as_points
from sojourn.solve.markov.chain_applicability import refuses
from sojourn.solve.markov.chain_solution import ChainMeasures, answer
from sojourn.solve.markov.network_chain import CYCLES, TOLERANCE, network_chain, same_chains, unchanged
from sojourn.solve.markov.network_spec import UNLIMITED
from sojourn.solve.markov.open_truncation import MOST_CUSTOMERS, wanted_bound
from sojourn.solve.markov.stability import saturation, unstable
from sojourn.solve.markov.state_count import MOST_STATES, states
from sojourn.solve.method import Method, RequestedOutputs
from sojourn.solve.solution import Solution

GOOD = 1e-9
AIM, GOOD_CUT = 1e-10, 1e-7  # cut off of any number that is told, relative: aimed at, and at most
STATE_S = 7e-5  # to find a state, and its share of all cycles
SLOW = 30  # cycles, from which on a small residual does not say enough
OVER = 1.5  # of the time allowed, after which an iteration that was thought to fit is given up
FEW_STATES = 60_000  # to which it is aimed at
AT_ONCE = 1_000_000  # states of all points that are solved without a pause, in which Ctrl-C waits


def run(networks: Sequence[Network], wanted: RequestedOutputs) -> Solution:
    points = as_points(networks)
    found: dict[int, ChainMeasures] = {}
    for network, own, speeds in same_chains(points):
        solved = _closed(network, speeds, wanted) if network.closed.all() else [_open(points[p], wanted) for p in own]
        found.update(zip(own, solved, strict=True))
    return answer(points, [found[p] for p in range(len(points))], wanted)


def _closed(network: Network, speeds: Array, wanted: RequestedOutputs) -> list[ChainMeasures]:
    """Of `network` at each of `speeds`, as `same_chains` gives them."""
    try:
        return _solved(network, UNLIMITED, OVER * wanted.budget_s, speeds)
    except TimeoutError:
        raise _late(wanted) from None


def _late(wanted: RequestedOutputs) -> MethodRefused:
    value = f"its iteration had not converged after {OVER * wanted.budget_s:g} s"
    remedy = f"request it by name, give an exact_time_limit_s above {wanted.budget_s:g}, or simulate"
    return MethodRefused(value, "method ctmc", remedy)


def _open(network: Network, wanted: RequestedOutputs) -> ChainMeasures:
    if text := unstable(network):
        return ChainMeasures.unstable(text)
    try:
        most = max(wanted_bound(network), 2 * (wanted.state_probabilities or 0))
        found = _widened(network, _fitting(network, most), wanted.budget_s)
    except TimeoutError:
        raise _late(wanted) from None
    if found.status == "unstable" or found.truncation <= GOOD_CUT:
        return found
    raise MethodRefused(
        f"with as many open customers as fit into {MOST_STATES} states, or into the time allowed, a share of "
        f"{found.truncation:.1e} of the numbers would be cut off", "method ctmc", "lower the load, or simulate",
    )  # fmt: skip


def _widened(network: Network, most: int, budget_s: float) -> ChainMeasures:
    """With at most `most` open customers, or more, until what is cut off is little or no more fit into states and time."""
    started = time.monotonic()
    (found,) = _solved(network, most, OVER * budget_s)
    while found.truncation > AIM and (more := _fitting(network, _enough(found, most))) > most:
        count = states(network, more) * found.states / states(network, most)  # as the estimate was off so far
        late = found.truncation <= GOOD_CUT and count > FEW_STATES
        if late or time.monotonic() - started + STATE_S * count > budget_s:
            break
        left_s = OVER * budget_s - (time.monotonic() - started)
        try:
            last, most, (found,) = found, more, _solved(network, more, left_s)
        except TimeoutError:
            break
        if last.piled_up and found.piled_up and saturation(network) is None:
            return ChainMeasures.unstable(
                f"nearly all of {most} open customers are inside, as of half as many: they pile up"
            )
    return found


def _enough(found: ChainMeasures, most: int) -> int:
    """How many open customers the geometric tail asks for; at most twice as many as now."""
    if not 0 < found.ratio < 1:
        return 2 * most
    return min(2 * most, most + 2 + int(np.ceil(1.2 * np.log(found.truncation / AIM) / -np.log(found.ratio))))


def _solved(network: Network, most_open: int, limit_s: float, speeds: Array | None = None) -> list[ChainMeasures]:
    """Of `network` at each of `speeds` (None: as it is). TimeoutError where the iteration of one is not at its end after `limit_s`."""
    started = time.monotonic()
    chain = network_chain(network, most_open)
    speeds = unchanged(network) if speeds is None else speeds
    left_s = limit_s - (time.monotonic() - started)  # of each point: all together may take longer than one

    def measured(some: Array, skewed: bool) -> list[tuple[dict[str, Any], float, int]]:
        return chain.points(some, TOLERANCE, CYCLES, skewed, left_s * len(some))

    at_once = max(AT_ONCE // len(chain), 1)
    found = [one for i in range(0, len(speeds), at_once) for one in measured(speeds[i : i + at_once], False)]
    slow = [i for i, (_, _, cycles) in enumerate(found) if cycles > SLOW]
    apart = dict.fromkeys(range(len(found)), 0.0)
    for i in slow:
        apart[i] = _apart(found[i][0], measured(speeds[i : i + 1], True)[0][0])
    return [
        ChainMeasures.of(m, len(chain), most_open, residual, residual <= GOOD and apart[i] <= GOOD_CUT, apart[i])
        for i, (m, residual, _) in enumerate(found)
    ]


def _apart(one: dict[str, Any], other: dict[str, Any]) -> float:
    """The largest relative difference of mean numbers: where a chain is nearly in parts, about how wrong they are."""
    a, b = np.array(one["present"]), np.array(other["present"])
    there = a > 0
    return float(np.abs(b[there] / a[there] - 1).max(initial=0.0))


def _fitting(network: Network, most: int) -> int:
    """`most`, or the largest number below it whose states are not too many; at least 1."""
    most = min(most, MOST_CUSTOMERS - int(network.population[network.closed].sum()))
    if states(network, most) <= MOST_STATES:
        return most
    low = 1
    while most - low > 1:
        middle = (low + most) // 2
        low, most = (middle, most) if states(network, middle) <= MOST_STATES else (low, middle)
    return low


@lru_cache(maxsize=64)
def count(network: Network) -> float:
    """About how many states an exact answer needs; none is made where there is no steady state."""
    if network.closed.all():
        return states(network)
    return 1.0 if unstable(network) else states(network, wanted_bound(network))


def _cost_s(network: Network) -> float:
    """Long chains take more cycles: measured 4e-6 to 2e-4 s a state."""
    levels = 1 if network.closed.all() or unstable(network) else wanted_bound(network)
    return 1e-3 + (STATE_S + 4e-9 * levels) * count(network)


METHOD = Method(
    name="ctmc",
    title="Markov chain of the whole network, state by state",
    exact=True,
    sources=(
        "W. J. Stewart: Introduction to the Numerical Solution of Markov Chains (1994), chapters 1, 3, 6",
        "G. Horton, S. T. Leutenegger: SIGMETRICS 1994, pp. 191-200 (multilevel)",
    ),
    refuses=refuses,
    run=run,
    cost_s=_cost_s,
    memory_bytes=lambda n: 400 * count(n),
)
