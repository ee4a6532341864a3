"""Random small networks: the simulator's intervals against the chain of the network, state by state.

Models are drawn by Hypothesis from a fixed sequence, seeds are fixed, and the level is so high that all intervals
together (about a hundred) fail once in some hundred sequences by chance.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj

LEVEL = 0.9999
DISCIPLINES = ("fcfs", "ps", "siro", "lcfs_pr")


@st.composite
def times(draw: Any) -> float | sj.Distribution:
    mean = draw(st.floats(0.05, 1.0))
    return draw(
        st.sampled_from([mean, sj.Erlang(mean, 2), sj.Hyperexponential((0.4, 0.6), (0.5 * mean, 4 / 3 * mean))])
    )


@st.composite
def networks(draw: Any) -> sj.Model:
    """One or two classes, closed or a mix, over one to three stations of any kind that both can do."""
    count = draw(st.integers(1, 3))
    stations: list[Any] = [
        sj.Queue(f"q{k}", draw(st.integers(1, 3)), draw(st.sampled_from(DISCIPLINES))) for k in range(count)
    ]
    if draw(st.booleans()):
        stations.append(sj.Delay("d"))
    if count > 1 and draw(st.booleans()):
        stations.append(sj.Pool("tokens", draw(st.integers(1, 3)), ("q0", "q1")))
    classes = [
        sj.Closed(f"c{j}", draw(st.integers(1, 3)), draw(st.floats(0.1, 2.0))) for j in range(draw(st.integers(1, 2)))
    ]
    served = [s.name for s in stations if not isinstance(s, sj.Pool)]
    return sj.Model(stations, classes, service_s={s: {c.name: draw(times()) for c in classes} for s in served})


@settings(max_examples=14, derandomize=True, deadline=None)
@given(networks())
def test_intervals_hold_what_the_chain_says(model: sj.Model) -> None:
    exact = sj.solve(model, "ctmc")
    found = sj.simulate(model, precision=0.03, level=LEVEL, seed=11, quantiles=())
    for c in model.classes:
        for metric in ("throughput", "response_time"):
            low, high = found.interval(metric, cls=c.name)
            value = exact.value(metric, cls=c.name)
            assert low is not None and high is not None and low <= value <= high, (model, metric, c.name)
    for s in model.stations:
        low, high = found.interval("queue_length", s.name) if not isinstance(s, sj.Pool) else (0.0, 1e9)
        assert low is not None and high is not None
        assert low <= exact.value("queue_length", s.name) <= high or isinstance(s, sj.Pool), (model, s.name)
