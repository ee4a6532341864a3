"""Points, factors and placeholders of a system; a virtual one from end to end, against M/M/1 and M/M/2 by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError
from sojourn.study.kinds.http_system import HttpLoad
from sojourn.study.kinds.placeholders import check_both_ways, filled
from sojourn.study.kinds.simulated_model import VirtualLoad, VirtualOptions, VirtualSystem
from sojourn.study.system import Factor, Point, all_factors, checked_names
from sojourn.table import Metrics

SHOP = """
[stations.cpu]
[classes.user]
kind = "open"
rate_per_s = 30.0
[demands_s]
cpu = { user = 0.02 }
"""


def test_names_of_points_are_unique_and_safe() -> None:
    points = [
        Point("ramp", {"workers": 2, "rate_per_s": 100.0}),
        Point("ramp", {"workers": 2, "rate_per_s": 100.0}, 2),
        Point("ramp", {"workers": 2, "rate_per_s": 100.5}),
        Point("peak", {"workers": 2, "rate_per_s": 100.0}),
        Point("ramp", {"cpus": "0,1"}),
        Point("ramp", {"cpus": "0_1"}),
        Point("ramp", {"path": "../../etc"}),
        Point("ramp", {"path": "x" * 300}),
        Point("ramp", {"path": "x" * 300 + "y"}),
    ]
    names = [point.name for point in points]
    assert names[0] == "ramp-workers=2-rate_per_s=100-1"
    assert len(set(names)) == len(names)
    assert all("/" not in name and len(name) < 120 and not name.startswith(".") for name in names)


def test_placeholders() -> None:
    assert filled('--n={n} {{n}} {"n": 1} {}', {"n": 3}, "x") == '--n=3 {n} {"n": 1} {}'
    assert filled("{on}", {"on": True}, "x") == "true"
    with pytest.raises(InputError, match="command: placeholder {m} has no factor; use one of the factors \\(n\\)"):
        filled("{m}", {"n": 1}, "command")
    with pytest.raises(InputError, match="factor n has no placeholder"):
        check_both_ways({"url": "http://x/{{n}}"}, ["n"], "factors")


@pytest.mark.parametrize(
    ("factor", "value", "said"),
    [
        ({"default": 2, "low": 1, "high": 4}, 8, "give a value in [1.0, 4.0]"),
        ({"default": 2}, 2.5, "give a whole number"),
        ({"default": 2}, True, "give a whole number"),
        ({"default": 2.0}, "2", "give a number"),
        ({"default": "a", "values": ["a", "b"]}, "c", "give one of a, b"),
    ],
)
def test_values_that_a_factor_cannot_have(factor: dict[str, Any], value: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        all_factors({"x": Factor(**factor)}, {"x": value}, "[[section]]")
    assert said in str(error.value) and "[[section]]: x = " in str(error.value)


def test_factors_of_short_form_and_unknown_ones() -> None:
    factors = {"workers": Factor.model_validate(2), "x": Factor.model_validate({"default": 1.5})}
    assert all_factors(factors, {"x": 2}, "here") == {"workers": 2, "x": 2.0}
    with pytest.raises(InputError, match="here: factor 'threads'; use one of workers, x"):
        all_factors(factors, {"threads": 1}, "here")
    with pytest.raises(InputError, match="factor 'value'; choose a name that is not a column of Metrics"):
        checked_names(["value"], "[system.factors]")


def test_one_level_of_load_is_at_work() -> None:
    load = HttpLoad.model_validate({"rate_per_s": 100, "think": "50ms"})
    assert load.settled(load.factors(), {}, "x") == {"rate_per_s": 100.0}
    assert load.settled(load.factors(), {"users": 4}, "x") == {"users": 4, "think_s": 0.05}
    with pytest.raises(InputError, match="give one of rate_per_s and users"):
        load.settled(load.factors(), {"users": 4, "rate_per_s": 3}, "x")
    with pytest.raises(InputError, match="give one of rate_per_s and users"):
        HttpLoad().settled(HttpLoad().factors(), {}, "x")


@pytest.fixture
def virtual(tmp_path: Path) -> VirtualSystem:
    (tmp_path / "shop.toml").write_text(SHOP)
    options = VirtualOptions(model="shop.toml", factors={"workers": "stations.cpu.servers"})
    return VirtualSystem(options, VirtualLoad.model_validate({"for": 4000}), tmp_path)


@pytest.mark.parametrize(("workers", "response_s"), [(1, 0.05), (2, 0.02 / (1 - 0.3**2))])
def test_a_virtual_system_is_the_model(virtual: VirtualSystem, tmp_path: Path, workers: int, response_s: float) -> None:
    """M/M/1 at a load of 0.6: R = S / (1 - rho); M/M/2 at 0.3: R = S / (1 - rho^2). The demand is 20 ms."""
    point = Point("s", virtual.settled({"workers": workers}, "x"))
    assert point.factors == {"rate_per_s": 30.0, "workers": workers}
    with virtual.open() as session:
        folder = session.run(point, tmp_path / "run", 1)
    metrics = Metrics.read(folder.path / "metrics.parquet")
    assert metrics.value("service_demand", "cpu") == pytest.approx(0.02, rel=0.03)
    assert metrics.value("utilisation", "cpu") == pytest.approx(0.6 / workers, rel=0.03)
    assert metrics.value("response_time") == pytest.approx(response_s, rel=0.06)
    assert metrics.frame["workers"].unique().to_list() == [workers]
    assert set(metrics.frame["source"]) == {"simulated"}
    assert folder.manifest["resources"] == {"cpu": {"capacity": workers, "station": "cpu"}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"stations.disk.servers": 2}, "'disk'; use one of cpu"),
        ({"threads": 2}, "factor 'threads'; use one of workers, rate_per_s, or a path"),
        ({"workers": 1.5}, "workers = 1.5; give a whole number"),
    ],
)
def test_paths_that_the_model_has_not(virtual: VirtualSystem, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        virtual.settled(given, "[[section]]")
    assert said in str(error.value) and str(error.value).startswith("[[section]]")
