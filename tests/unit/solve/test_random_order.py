"""The chain with random order and fitted phases: its fits, where it is exact, and that `auto` takes it."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.errors import MethodRefused
from sojourn.solve.markov.fitted_phases import MOST, fitted
from sojourn.solve.markov.phase_type import phases


@pytest.mark.parametrize(
    "law",
    [sj.Uniform(0.5, 1.5), sj.Lognormal(2.0, 0.3), sj.Lognormal(2.0, 0.7), sj.Weibull(1.0, 0.7), sj.Pareto(1.0, 2.5)],
)  # fmt: skip
def test_fitted_phases_keep_mean_and_scv(law: sj.Distribution) -> None:
    found = fitted(law)
    assert phases(found) is not None
    assert found.first == pytest.approx(law.first, rel=1e-12)
    assert found.scv == pytest.approx(max(law.scv, 1 / MOST), rel=1e-9)


@pytest.mark.parametrize("law", [sj.Lognormal(2.0, 4.0), sj.Lognormal(1.0, 25.0), sj.Weibull(1.0, 0.7)])
def test_above_one_the_third_moment_is_kept(law: sj.Distribution) -> None:
    assert fitted(law).third == pytest.approx(law.third, rel=1e-9)


def test_erlang_2_of_tijms() -> None:
    """scv 1/2 is Erlang's law of two phases: nothing is left out (Tijms 2003, p. 442)."""
    law = fitted(sj.Lognormal(1.0, 0.5))
    assert isinstance(law, sj.PhaseType) and law.start == pytest.approx((1.0, 0.0), abs=1e-9)


def crowd(*numbers: int, means: tuple[float, ...], servers: int = 1) -> sj.Model:
    names = "abc"[: len(numbers)]
    return sj.Model(
        [sj.Queue("cpu", servers=servers), sj.Queue("disk", discipline="ps")],
        [sj.Closed(c, n, think_s=2.0) for c, n in zip(names, numbers, strict=True)],
        service_s={"cpu": dict(zip(names, means, strict=True)), "disk": dict.fromkeys(names, 0.05)},
    )


def test_order_does_not_matter_where_means_are_equal() -> None:
    model = crowd(4, 3, means=(0.2, 0.2))
    found, exact = sj.solve(model, "random-order"), sj.solve(model, "mva-multiclass")
    assert found.status == "approximate"
    for c in "ab":
        assert found.value("response_time", cls=c) == pytest.approx(exact.value("response_time", cls=c), rel=1e-8)


@pytest.mark.parametrize(("numbers", "servers"), [((5, 2), 1), ((6, 3), 1), ((6, 3), 2), ((2, 4), 2)])
def test_close_to_the_chain_of_all_orders(numbers: tuple[int, int], servers: int) -> None:
    """Means 1 : 8; `amva-fcfs` is 17 % off at the first."""
    model = crowd(*numbers, means=(0.05, 0.4), servers=servers)
    found, exact = sj.solve(model, "random-order"), sj.solve(model, "ctmc")
    for c in "ab":
        assert found.value("response_time", cls=c) == pytest.approx(exact.value("response_time", cls=c), rel=0.04)
        assert found.value("throughput", cls=c) == pytest.approx(exact.value("throughput", cls=c), rel=0.02)


def test_issue_26_auto_takes_it_where_orders_are_too_many() -> None:
    found = sj.solve(crowd(8, 8, means=(0.05, 0.4)))
    assert (found.method, found.status) == ("random-order", "approximate")
    assert "no exact method" in found.message and "`sojourn simulate model.toml" in found.message


def test_issue_26_what_is_far_off_at_times_offers_the_simulator() -> None:
    found = sj.solve(crowd(200, 200, 200, means=(0.05, 0.4, 0.1)))
    assert found.method == "amva-fcfs"
    assert "off by 11.0 % in half of the models" in found.message
    assert "`sojourn simulate model.toml --precision 0.01`" in found.message
    # an approximation that is always near does not
    near = sj.solve(sj.Model.read("examples/offices.toml"), "linearizer")
    assert "sojourn simulate model.toml" not in near.message


def test_where_only_a_large_chain_would_do_auto_says_at_once_how_long_it_takes() -> None:
    """It was begun and given up after some seconds, before its cost was looked at."""
    model = sj.Model(
        [sj.Queue("q", discipline="ps")], [sj.Open("a", arrivals=sj.Lognormal(1.0, 2.0)), sj.Closed("b", 30, think_s=1.0)],
        service_s={"q": {"a": sj.Lognormal(0.6, 3.0), "b": sj.Lognormal(0.6, 3.0)}},
    )  # fmt: skip
    with pytest.raises(MethodRefused, match=r"random-order.*it takes about .* s and 1 s are allowed.*or simulate"):
        sj.solve(model)


def test_what_needs_no_change_is_refused() -> None:
    with pytest.raises(MethodRefused, match="`ctmc` can solve the model without this approximation"):
        sj.solve(
            sj.Model([sj.Queue("q", discipline="ps")], [sj.Closed("c", 3, 1.0)], service_s={"q": {"c": 1.0}}),
            "random-order",
        )


def test_several_servers_with_gaps_and_services_of_any_law() -> None:
    """LN(.3)/LN(.5)/2 at .7."""
    model = sj.Model(
        [sj.Queue("q", servers=2)], [sj.Open("c", arrivals=sj.Lognormal(1.0, 0.3))], service_s={"q": {"c": sj.Lognormal(1.4, 0.5)}}
    )  # fmt: skip
    found = sj.solve(model, "random-order", exact_time_limit_s=10.0)
    run = sj.simulate(model, precision=0.005, seed=26, quantiles=())
    assert found.value("response_time") == pytest.approx(run.value("response_time"), rel=0.02)
    assert found.value("waiting_time", "q") == pytest.approx(run.value("waiting_time", "q"), rel=0.08)
