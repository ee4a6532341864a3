"""The web shop as a system: what its points settle to; on a virtual host against the utilisation law, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sojourn.errors import InputError
from sojourn.lab.cpu_topology import cores
from sojourn.study.system import Point
from sojourn.table import Metrics
from sojourn_cases.web.web_shop import WebLoad, WebSystem, WebSystemOptions
from sojourn_cases.web.web_shop_simulated import WebVirtualOptions, WebVirtualSystem

HERE = len(cores())
INTERRUPT_S, PAGE_S = 5e-4, 3e-3


def web(**options: Any) -> WebSystem:
    load = WebLoad.model_validate({"for": "2s", "rate_per_s": 100, "connections": 8})
    return WebSystem(WebSystemOptions.model_validate(options), load, Path())


@pytest.fixture
def virtual() -> WebVirtualSystem:
    options = WebVirtualOptions(interrupt_s=INTERRUPT_S, page_s=PAGE_S, crossing_s=2e-4)
    return WebVirtualSystem(options, WebVirtualSystem.load_type.model_validate({"for": 200, "rate_per_s": 300}), Path())


def test_zero_means_all_cores_and_a_nic_for_each() -> None:
    system = web(page_s=0.002, interrupt_s=0.001)
    factors = system.settled({"cores": 0, "nics": 0}, "x")
    assert (factors["cores"], factors["nics"]) == (HERE, min(HERE, 4))
    assert factors["page_s"] == 0.002 and factors["rate_per_s"] == 100.0


def test_without_interrupt_work_none_is_asked_for() -> None:
    system = web(lab={"kind": "loopback"}, interrupt_s=0.001)
    factors = system.settled({"nics": 1}, "x")
    assert factors["interrupt_s"] == 0.0
    assert system.why_not(factors) == ""
    assert system.why_not({**factors, "nics": 2}) == "it needs 2 NICs, and loopback has 1"


def test_names_of_runs_have_what_was_changed_only() -> None:
    system = web(page_s=0.002, lab={"kind": "loopback"})
    usual = system.settled({}, "x")
    assert list(usual) == ["rate_per_s", "cores", "nics", "interrupt_s", "page_s"]
    assert system.settled({"pinned": True}, "x") == usual
    assert system.settled({"pinned": False}, "x") == {**usual, "pinned": False}


def test_exponential_interrupts_have_a_mean_that_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of itself with `auto`, bare runs too; one that cannot be had is told before anything is started."""
    monkeypatch.setattr(WebSystem, "most_nics", 4)
    system = web(interrupt="exponential")
    assert 0 < system.settled({}, "x")["interrupt_s"] <= 1.2e-3
    assert system.settled({"interrupt_s": 0.0}, "x")["interrupt_s"] == 0.0
    with pytest.raises(
        InputError, match=r"x: interrupt mean 0.0015 s; an exponential interrupt needs a mean below 1.2 ms"
    ):
        system.settled({"interrupt_s": 0.0015}, "x")


def test_bare_runs_are_runs_without_known_work() -> None:
    factors = web().settled({"interrupt_s": 0.0, "page_s": 0.0}, "x")
    assert factors["interrupt_s"] == factors["page_s"] == 0.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cores": HERE + 1, "nics": 1}, f"x: cores = {HERE + 1}; this machine offers {HERE}"),
        ({"cores": 1, "nics": 2}, "x: nics = 2; give 1 to 1"),
        ({"nics": 5}, "x: nics = 5; give a value in [0.0, 4.0]"),
        ({"page_s": 0.02}, "page_s = 0.02"),
        ({"core": 1}, "x: factor 'core'; did you mean cores? (use one of rate_per_s, users"),
        ({"users": 0, "rate_per_s": 0.0}, "give one of rate_per_s and users"),
    ],
)
def test_what_it_cannot_have(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        web(lab={"kind": "loopback"}).settled(given, "x")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cores": 1, "nics": 2}, "x: nics = 2; give 1 to 1, the number of cores"),
        ({"page_s": -1.0}, "x: page_s = -1.0"),
        ({"placement": "free"}, "x: placement = 'free'"),
    ],
)
def test_what_a_virtual_host_cannot_have(virtual: WebVirtualSystem, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as error:
        virtual.settled(given, "x")
    assert said in str(error.value)


def simulated(system: WebVirtualSystem, out: Path, **given: Any) -> Metrics:
    point = Point("s", system.settled(given, "x"))
    with system.place() as place, system.open(place) as session:
        folder = session.run(point, out, 1)
        assert session.conditions(point)["conditions"] == folder.manifest["conditions"]
    assert folder.manifest["simulated"] and folder.manifest["valid"], folder.manifest["reasons"]
    assert folder.manifest["factors"] == dict(point.factors)
    return Metrics.read(folder.path / "metrics.parquet")


def test_utilisation_law_on_a_virtual_host(virtual: WebVirtualSystem, tmp_path: Path) -> None:
    """Two cores, one NIC: all interrupts and half of the pages on core 0, the other half behind; U = X D."""
    metrics = simulated(virtual, tmp_path / "run", cores=2, nics=1)
    leading, trailing = INTERRUPT_S + PAGE_S / 2, PAGE_S / 2
    assert metrics.value("service_demand", "leading") == pytest.approx(leading, rel=0.03)
    assert metrics.value("service_demand", "trailing") == pytest.approx(trailing, rel=0.03)
    assert metrics.value("utilisation", "leading") == pytest.approx(300 * leading, rel=0.03)
    assert metrics.value("utilisation", "trailing") == pytest.approx(300 * trailing, rel=0.03)
    assert metrics.value("softirq_utilisation", "leading") == pytest.approx(300 * INTERRUPT_S, rel=0.03)
    assert set(metrics.frame["source"]) == {"simulated"}


def test_a_closed_loop_finds_the_saturation_rate(virtual: WebVirtualSystem, tmp_path: Path) -> None:
    """1/(S + A/2) with one NIC, 2/(S + A) with two."""
    for nics, most in ((1, 1 / (INTERRUPT_S + PAGE_S / 2)), (2, 2 / (INTERRUPT_S + PAGE_S))):
        metrics = simulated(virtual, tmp_path / str(nics), cores=2, nics=nics, users=32)
        assert metrics.value("throughput") == pytest.approx(most, rel=0.03)


def test_a_seed_repeats_a_run(virtual: WebVirtualSystem, tmp_path: Path) -> None:
    one, two = (simulated(virtual, tmp_path / name / "run", cores=2, nics=1) for name in ("one", "two"))
    assert one.frame.equals(two.frame)
