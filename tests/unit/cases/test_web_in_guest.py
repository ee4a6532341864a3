"""The web shop in a guest: what its points are, and whose CPU time is whose; nothing is booted here."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sojourn.errors import InputError
from sojourn.study.checked_study import read_plan
from sojourn_cases.web import web_guest
from sojourn_cases.web.web_guest import WebGuestLoad, WebGuestOptions, WebGuestSystem

STUDY = Path(__file__).parents[3] / "studies/web-vm"


def test_the_study_fits_one_nic_and_predicts_two() -> None:
    plan, quick = read_plan(STUDY), read_plan(STUDY, quick=True)
    assert len(plan.measured) > len(quick.measured)
    assert {point.factors["nics"] for point in plan.measured} == {1}
    assert {point.factors["nics"] for point in plan.predicted} == {2}


def system(**options: Any) -> WebGuestSystem:
    return WebGuestSystem(WebGuestOptions(**options), WebGuestLoad(**{"for": 5.0}), Path())


def test_a_point_has_cores_nics_and_no_interrupt_work() -> None:
    found = system(page_s=0.001).settled({"rate_per_s": 50.0, "nics": 2}, "here")
    assert found["cores"] == 2 and found["nics"] == 2 and found["interrupt_s"] == 0.0 and found["page_s"] == 0.001
    with pytest.raises(InputError, match=r"nics = 5"):
        system().settled({"rate_per_s": 50.0, "nics": 5}, "here")
    with pytest.raises(InputError, match=r"interrupt_s = 0.001"):
        system().settled({"rate_per_s": 50.0, "interrupt_s": 0.001}, "here")


def test_interrupts_go_round_the_virtual_cpus() -> None:
    assert web_guest._interrupts(2, 1) == [0] and web_guest._interrupts(2, 4) == [0, 1, 0, 1]


def test_each_nic_has_its_port_and_an_equal_share_of_the_rate() -> None:
    session = web_guest.WebGuestSession(system(port=9000, network="user"), SimpleNamespace(), "tcg", SimpleNamespace())  # type: ignore[arg-type]
    point = SimpleNamespace(factors={"nics": 2, "rate_per_s": 30.0})
    load = session._load(point, 1)  # type: ignore[arg-type]
    assert system(network="lab").urls(2) == ["http://10.0.1.15:80/item/7", "http://10.0.2.15:80/item/7"]
    assert len(load["lanes"]) == 2 and "9000" in str(load["lanes"][0]) and "9001" in str(load["lanes"][1])


def folder(cpu_s: dict[str, float], wait_s: dict[str, float], **shares: float) -> Any:
    rows = [
        {"station": name.replace("_", " "), "class": "", "metric": "utilisation", "value": value}
        for name, value in shares.items()
    ]
    rows.append({"station": "", "class": "", "metric": "throughput", "value": 100.0})
    return SimpleNamespace(
        frame=lambda _: pl.DataFrame(rows),
        manifest={"service": {"cpu_s": cpu_s, "wait_s": wait_s}, "pids": {"guest": 7}, "at_rest": {"1": 0.05}},
    )


def test_what_the_hypervisor_used_and_what_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine used 1.1 cores in the window, of 110 s in 100 s. CPU 0 had 0.6 for a guest that was busy 50 %, so 0.1 was the
    hypervisor's; CPU 1 had 0.2 and waited for 0.25, as the guest was busy 40 % beside the 5 % at rest; other threads had 0.3. 0.4 cores of
    2, and 4 ms for each of 100 requests a second."""
    monkeypatch.setattr(web_guest, "busy_per_s", lambda _: {("procs", "7", "run_s"): 1.1})
    one = folder(
        {"CPU 0": 60.0, "CPU 1": 20.0, "others": 30.0},
        {"CPU 0": 0.0, "CPU 1": 25.0, "others": 1.0},
        core_0=0.5,
        core_1=0.4,
    )
    found = {(row["station"], row["metric"]): row["value"] for row in web_guest._hypervisor(one, 2)}
    assert found == {
        ("stolen 0", "utilisation"): 0.0,
        ("stolen 1", "utilisation"): pytest.approx(0.25),
        ("hypervisor", "utilisation"): pytest.approx(0.2),
        ("hypervisor", "service_demand"): pytest.approx(0.004),
    }
