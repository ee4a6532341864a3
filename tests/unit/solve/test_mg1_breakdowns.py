"""One server that breaks down: an example by hand, limits, a simulation, and who is refused."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.errors import MethodRefused


def queue(rate: float, service: sj.Distribution, up: sj.Distribution, down: sj.Distribution, **more: int) -> sj.Model:
    breaks = sj.Breakdowns(up, down)
    return sj.Model([sj.Queue("q", breakdowns=breaks, **more)], [sj.Open("c", rate)], service_s={"q": {"c": service}})


def test_an_example_by_hand() -> None:
    """4 ms at 125/s, repairs exponential of 50 ms after 1.5 s of work: A = 30/31, W = 3.000 ms, (W + S)/A = 7.2333 ms, and (1 - A) 50 ms
    (1 + 0.5/A) = 2.4462 ms. Full at A/S = 241.94/s."""
    found = sj.solve(queue(125.0, sj.Deterministic(0.004), sj.Exponential(1.5), sj.Exponential(0.05)))
    assert found.method.startswith("mg1-breakdowns")
    assert found.value("response_time") == pytest.approx(7.2333e-3 + 2.4462e-3, rel=1e-4)
    assert found.value("saturation_rate", "q") == pytest.approx(30 / 31 / 0.004)
    assert found.value("utilisation", "q") == pytest.approx(0.5)
    late = sj.solve(queue(245.0, sj.Deterministic(0.004), sj.Exponential(1.5), sj.Exponential(0.05)))
    assert late.status == "unstable"


def test_without_load_and_without_repairs() -> None:
    """Who comes alone waits for what is left of a repair, and is interrupted as often as it works: (1 - A) d2/(2 d1) + S/A. Repairs that
    take no time leave M/G/1."""
    alone = sj.solve(queue(1e-9, sj.Exponential(0.1), sj.Exponential(1.0), sj.Deterministic(0.25)))
    assert alone.value("response_time") == pytest.approx(0.2 * 0.125 + 0.1 / 0.8, rel=1e-6)
    short = sj.solve(queue(5.0, sj.Erlang(0.1, 2), sj.Exponential(1.0), sj.Deterministic(1e-12)))
    plain = sj.Model([sj.Queue("q")], [sj.Open("c", 5.0)], service_s={"q": {"c": sj.Erlang(0.1, 2)}})
    assert short.value("response_time") == pytest.approx(sj.solve(plain, "mg1").value("response_time"), rel=1e-9)


def test_against_a_simulation() -> None:
    model = queue(180.0, sj.Exponential(0.004), sj.Exponential(0.5), sj.Exponential(0.03))
    simulated = sj.simulate(model, precision=0.02, level=0.99, seed=11)
    low, high = simulated.interval("response_time")
    assert low is not None and high is not None and low <= sj.solve(model).value("response_time") <= high


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (queue(1.0, sj.Exponential(0.1), sj.Exponential(1.0), sj.Exponential(0.1), servers=2), "2 servers"),
        (queue(1.0, sj.Exponential(0.1), sj.Deterministic(1.0), sj.Exponential(0.1)), "is not exponential"),
        (sj.Model([sj.Queue("q")], [sj.Open("c", 5.0)], service_s={"q": {"c": 0.1}}), "has no breakdowns"),
    ],
)
def test_who_is_refused(model: sj.Model, words: str) -> None:
    with pytest.raises(MethodRefused, match=words):
        sj.solve(model, "mg1-breakdowns")
