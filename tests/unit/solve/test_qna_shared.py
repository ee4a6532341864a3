"""QNA with stations that are shared: a queue in order of arrival with general service beside one (issue 29, point 12)."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.errors import MethodRefused

LAW = sj.Lognormal(0.03, 2.0)
RATE = 20.0


def row(discipline: str, servers: int = 1, web: object = 0.02, db: object = LAW) -> sj.Model:
    return sj.Model(
        [sj.Queue("web", servers, discipline=discipline), sj.Queue("db")],
        [sj.Open("user", RATE)],
        demands_s={"web": {"user": web}, "db": {"user": db}},
        routing={"user": {"source": {"web": 1.0}, "web": {"db": 1.0}, "db": {"exit": 1.0}}},
    )


@pytest.mark.parametrize("discipline", ["ps", "lcfs_pr"])
@pytest.mark.parametrize(
    "web", [0.02, sj.Pareto(0.02, 1.9), sj.Deterministic(0.02)], ids=["exponential", "pareto", "constant"]
)
def test_a_queue_behind_a_shared_station_is_pollaczek_and_khinchine(discipline: str, web: object) -> None:
    """M/G/1-PS answers in s/(1 - rho), whatever the law, and lets a Poisson stream out (Kelly, Reversibility and Stochastic
    Networks (1979), section 3.3): behind it is M/G/1, W = rate E[S²]/(2 (1 - rho))."""
    assert sj.solve(row(discipline, web=web)).method in ("qna", "random-order")  # by itself
    found = sj.solve(row(discipline, web=web), "qna")
    assert found.status == "approximate"
    assert found.value("response_time", "web") == pytest.approx(0.02 / (1 - RATE * 0.02), rel=1e-9)
    wait = RATE * 0.03**2 * (1 + 2.0) / 2 / (1 - RATE * 0.03)
    assert found.value("waiting_time", "db") == pytest.approx(wait, rel=1e-9)
    whole = 0.02 / (1 - RATE * 0.02) + wait + 0.03
    assert found.value("response_time") == pytest.approx(whole, rel=1e-9)


def test_classes_stay_in_proportion_to_their_own_service() -> None:
    """s_c/(1 - rho) of each class (Kleinrock, Queueing Systems II (1976), section 4.4)."""
    model = sj.Model(
        [sj.Queue("cpu", discipline="ps"), sj.Queue("disk")],
        [sj.Open("small", 10.0), sj.Open("large", 5.0)],
        demands_s={"cpu": {"small": 0.01, "large": 0.08}, "disk": {"small": LAW, "large": sj.Deterministic(0.02)}},
    )
    found = sj.solve(model, "qna")
    for name, service in (("small", 0.01), ("large", 0.08)):
        assert found.value("response_time", "cpu", name) == pytest.approx(service / (1 - 0.1 - 0.4), rel=1e-9)


def test_several_servers_are_those_of_exponential_service() -> None:
    """As many present as in M/M/m: the same answer as the product form, where there is one."""
    exponential = row("ps", servers=3, web=0.1, db=0.03)
    exact = sj.solve(exponential, "jackson")
    assert sj.solve(exponential, "qna").value("response_time") == pytest.approx(exact.value("response_time"), rel=1e-9)


def test_priorities_are_still_refused() -> None:
    with pytest.raises(MethodRefused, match="`ps` or `lcfs_pr`, but the station `web` has `priority`"):
        sj.solve(row("priority"), "qna")


def test_no_wait_is_below_0_by_rounding() -> None:
    """A visit that returns at once and hardly ever meets another: the wait is a difference of nearly equal numbers."""
    network = sj.Model(
        [sj.Queue("web", 2, discipline="lcfs_pr"), sj.Queue("db")],
        [sj.Open("user", 1e-3)],
        service_s={"web": {"user": sj.Deterministic(7e-6)}, "db": {"user": LAW}},
        routing={"user": {"source": {"web": 1.0}, "web": {"web": 0.1, "db": 0.5}}},
    )
    assert sj.solve(network, "qna").value("waiting_time", "web") >= 0
