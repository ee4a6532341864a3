"""Work beside the customers: R = D/(1 - b - XD) of processor sharing, whose other class has the load b (Kelly 1979, 3.3)."""

import pytest

import sojourn as sj
from sojourn.errors import ModelError
from sojourn.model import Closed, Delay, Open, Queue

DEMAND_S, RATE_PER_S, OTHER = 0.01, 40.0, 0.2


def _model(background: float, servers: int = 1, discipline: str = "ps") -> sj.Model:
    queue = Queue("cpu", servers, discipline, background=background)
    return sj.Model([queue], [Open("page", RATE_PER_S)], demands_s={"cpu": {"page": DEMAND_S}})


def test_it_is_as_a_class_that_shares_the_processor() -> None:
    other = sj.Model(
        [Queue("cpu", 1, "ps")],
        [Open("page", RATE_PER_S), Open("other", 20.0)],
        demands_s={"cpu": {"page": DEMAND_S, "other": 0.01}},
    )
    beside, shared = sj.solve(_model(OTHER)), sj.solve(other)
    assert beside.value("response_time") == pytest.approx(DEMAND_S / (1 - OTHER - RATE_PER_S * DEMAND_S))
    assert beside.value("response_time") == pytest.approx(shared.value("response_time", cls="page"))
    assert beside.value("utilisation", station="cpu") == pytest.approx(shared.value("utilisation", station="cpu"))
    assert beside.value("utilisation", station="cpu", cls="page") == pytest.approx(0.4)
    full = sj.sweep(_model(OTHER), {"classes.page.rate_per_s": [79.0, 81.0]}).frame  # (1 - b)/D = 80
    assert set(full.filter(full["classes.page.rate_per_s"] == 81.0)["status"]) >= {"unstable"}
    assert "unstable" not in set(full.filter(full["classes.page.rate_per_s"] == 79.0)["status"])


def test_of_a_closed_network_too() -> None:
    """Ten users: the machine repair model with times longer by 1/(1 - b) (Lazowska et al. 1984, 6.3: the shadow CPU)."""
    stations = [Queue("cpu", 1, background=OTHER), Delay("net")]
    demands = {"cpu": {"user": 0.04}, "net": {"user": 0.1}}
    found = sj.solve(sj.Model(stations, [Closed("user", 10, 0.3)], demands_s=demands))
    plain = sj.solve(
        sj.Model(
            [Queue("cpu"), Delay("net")],
            [Closed("user", 10, 0.3)],
            demands_s={"cpu": {"user": 0.05}, "net": {"user": 0.1}},
        )
    )
    assert found.value("throughput") == pytest.approx(plain.value("throughput"))
    assert found.value("utilisation", station="cpu") == pytest.approx(0.04 * plain.value("throughput") + OTHER)


def test_it_can_be_varied_from_none_on() -> None:
    told = sj.sweep(_model(0.0), {"stations.cpu.background": [0.0, 0.1, 0.3]}).frame
    rows = told.filter((told["metric"] == "response_time") & (told["station"] == ""))
    values = dict(rows.select("stations.cpu.background", "value").iter_rows())
    assert values == pytest.approx({b: DEMAND_S / (1 - b - 0.4) for b in (0.0, 0.1, 0.3)})


def test_simulated_as_slower_servers() -> None:
    found = sj.simulate(_model(OTHER, 2, "fcfs"), seed=7)
    right = sj.solve(_model(OTHER, 2, "fcfs"))
    for metric, station in (("response_time", ""), ("utilisation", "cpu")):
        low, high = found.interval(metric, station=station)
        assert low is not None and high is not None and low < right.value(metric, station=station) < high


@pytest.mark.parametrize("wrong", [-0.1, 1.0, 2.0])
def test_more_than_there_is_cannot_be(wrong: float) -> None:
    with pytest.raises(ModelError, match=r"stations\.cpu\.background"):
        _model(wrong)


def test_a_time_that_depends_on_the_load_sees_the_share_of_what_it_leaves() -> None:
    """By hand: u = X 0.1 (1 + u) / (1 - 0.1) = (1 + u) / 9 = 1/8; the whole server is busy 0.1 + 0.9 / 8."""
    model = sj.Model.parse(
        '[stations.cpu]\nbackground = 0.1\n[classes.a]\nkind = "open"\nrate_per_s = 1.0\n[demands_s.cpu]\na = "0.1 * (1 + u)"\n'
    )
    assert sj.solve(model).value("utilisation", station="cpu") == pytest.approx(0.1 + 0.9 / 8, rel=1e-6)
