"""Queries with known answers, asked of the model and of simulated runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from query_golden import NUMBERS, SETS, YES, model

import sojourn as sj
from sojourn.query.query import as_source
from sojourn.query.sources.analytic import AnalyticSource
from sojourn.query.sources.simulated import SimulatedSource
from sojourn.query.sources.source import Source
from sojourn.simulate.simulated_run import as_run

SOURCE = AnalyticSource(model())


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_number(text: str, value: float) -> None:
    found = sj.query(text, SOURCE)
    # the values are given to ten or more digits, but one to nine significant ones
    assert found.value == pytest.approx(value, rel=1e-8 if value > 0.05 else 3e-9, abs=6e-11), found.reason
    assert found.low == found.value == found.high


@pytest.mark.parametrize(("text", "states"), SETS.items())
def test_states(text: str, states: str) -> None:
    assert sj.query(text, SOURCE).reason == states


@pytest.mark.parametrize("text", YES)
def test_yes(text: str) -> None:
    assert sj.query(text, SOURCE).verdict == "yes"


@pytest.fixture(scope="module", params=["simulated", "run folder"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Source:
    """About 30 000 requests, simulated in memory, or as a run folder."""
    if request.param == "simulated":
        return SimulatedSource(model(), seed=1, until_s=200.0)
    return as_source(as_run(model(), Path(tmp_path_factory.mktemp("runs")) / "m4", seed=2, until_s=200.0))


def test_recorded(recorded: Source) -> None:
    """The same queries: all are answered, and 90 % intervals contain the truth about as often as they say: at most 6 of 29 miss
    it; more have a probability of 0.022 if misses were independent."""
    missed = []
    for text, value in NUMBERS.items():
        found = sj.query(text, recorded)
        assert found.value == pytest.approx(value, rel=0.2), text
        low, high = (bound if known is None else known for known, bound in ((found.low, -1e9), (found.high, 1e9)))
        missed += [] if low <= value <= high else [text]
    assert len(missed) <= 6, missed


def test_recorded_sets(recorded: Source) -> None:
    for text in SETS:
        assert sj.query(text, recorded).reason.startswith("{1, 2, 3, 4}")
    assert sj.query("p95 < 60ms", recorded).verdict == "no"
    assert sj.query("p95 < 120ms and not mean > 50ms", recorded).verdict == "yes"


FURTHER = (
    "mean(passage(from within {n() >= 4} to {n() < 4}))",
    "mean(passage(from within {n() == 0} to {n() >= 8}))",
    "probability(passage(from {n() == 4} to {n() == 0} avoiding {n() >= 8}) < 1h)",
    "mean(passage(from {n() >= 2} to {n() >= 2}))",
    "probability(passage(from {n() == 4} to {n() >= 2}) < 20ms)",
    "p50(passage(from {n() == 0} to {n() >= 8}))",
    "sd(n())",
    "moment(3, wait)",
    "probability(wait in (0, 10ms])",
    "p90(service_time)",
    "mean(busy(cpu))",
    "probability(n() in [2, 5))",
    "probability({busy(cpu) < 4 and not n() == 0})",
    "mean(2 * n() - busy(cpu))",
    "p90(convolve(passage(from {n() == 0} to {n() >= 4}), passage(from {n() >= 4} to {n() < 4})))",
)


def test_analytic_and_recorded_agree(recorded: Source) -> None:
    """What a passage starts from, a start within the target, excluded states, functions of the state: two independent ways."""
    missed = []
    for text in FURTHER:
        value, found = sj.query(text, SOURCE).value, sj.query(text, recorded)
        assert value is not None and found.low is not None and found.high is not None
        missed += [] if found.low <= value <= found.high else [text]
    assert len(missed) <= 3, missed


def test_ruin() -> None:
    """From 4 the queue empties before it reaches 8 with the probability of the gambler's ruin with these rates (W. Feller, An
    Introduction to Probability Theory, vol. 1, XIV.2, state by state): h(n) = sum of d_k from n on, d_k = prod mu_i/lambda."""
    rates = [50.0 * min(n, 4) / 150 for n in range(8)]
    steps = [1.0]
    for n in range(1, 8):
        steps.append(steps[-1] * rates[n])
    expected = sum(steps[4:8]) / sum(steps)
    found = sj.query("probability(passage(from {n() == 4} to {n() == 0} avoiding {n() >= 8}) < 1h)", SOURCE)
    assert found.value == pytest.approx(expected, rel=1e-10)


def test_a_network_by_its_chain() -> None:
    """Means over states are those of the convolution algorithm, which knows no states."""
    shop = sj.Model.read(Path(__file__).parents[3] / "examples/shop.toml")
    for station in ("cpu", "disk"):
        found = sj.query(f"mean(n({station})) / queue_length{{station={station}}}", shop)
        assert found.value == pytest.approx(1, rel=1e-9)
    assert sj.query("p99 < 5s", shop).verdict == "cannot tell"
    assert "method convolution knows none" in sj.query("p99", shop).reason


def test_quantiles_of_a_method_turned_round() -> None:
    """G/M/1: where only quantiles are known, the probability of a time is the level whose quantile it is."""
    regular = sj.Model.read(Path(__file__).parents[3] / "examples/regular.toml")
    at = sj.query("p95", regular).value
    assert sj.query(f"probability(response <= {at}s)", regular).value == pytest.approx(0.95, abs=1e-8)
