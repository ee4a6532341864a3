"""The web shop as a system, live: on loopback, and in a lab with its interrupts spread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sojourn.lab.cleanup_registry import only_one
from sojourn.lab.cpu_topology import cores
from sojourn.runs.run_folder import RunFolder
from sojourn.study.system import Point
from sojourn.table import Metrics
from sojourn_cases.web.web_shop import WebLoad, WebSystem, WebSystemOptions

pytestmark = pytest.mark.live
PAGE_S, RATE_PER_S = 0.002, 100.0


def run(out: Path, kind: str, *points: dict[str, Any], length_s: float = 2, **more: Any) -> list[RunFolder]:
    lab = {"kind": kind, "spinners": kind == "namespaces", **more.pop("lab", {})}
    options = {"port": 18183, "page_s": PAGE_S, "interrupt_s": 0.0, "page": "deterministic", "lab": lab, **more}
    load = WebLoad.model_validate({"for": length_s, "rate_per_s": RATE_PER_S, "connections": 16})
    system = WebSystem(WebSystemOptions.model_validate(options), load, Path())
    found = []
    with only_one("the web system's tests"), system.place() as place, system.open(place) as session:
        for given in points:
            point = Point("s", system.settled(given, "x"))
            like = session.conditions(point)
            found.append(session.run(point, out / point.name, 1))
            assert like["conditions"] == found[-1].manifest["conditions"]
            assert {**like["load"], "seed": 1} == found[-1].manifest["load"]
    return found


@pytest.mark.alone
def test_on_loopback(tmp_path: Path) -> None:
    one, bare = run(tmp_path, "loopback", {"cores": 1}, {"cores": 1, "page_s": 0.0})
    metrics = Metrics.read(one.path / "metrics.parquet")
    assert metrics.value("service_time", "app") == pytest.approx(PAGE_S, rel=0.5)
    assert metrics.value("utilisation", "leading") >= 0.9 * RATE_PER_S * PAGE_S
    assert one.manifest["factors"] == {
        "rate_per_s": RATE_PER_S, "cores": 1, "nics": 1, "interrupt_s": 0.0, "page_s": PAGE_S,
    }  # fmt: skip
    assert {"leading", "trailing"} >= set(one.manifest["resources"])
    assert Metrics.read(bare.path / "metrics.parquet").value("service_time", "app") < PAGE_S
    assert {path.name for path in tmp_path.iterdir()} == {one.path.name, bare.path.name}, "nothing is left beside them"


@pytest.mark.lab
@pytest.mark.skipif(len(cores()) < 2, reason="spreading needs two cores")
@pytest.mark.alone
def test_in_a_lab_with_interrupts_spread(tmp_path: Path) -> None:
    (spread,) = run(tmp_path, "namespaces", {"cores": 2, "nics": 2}, interrupt_s=1e-3)
    assert len(spread.manifest["load"]["lanes"]) == len(set(spread.manifest["placement"]["interrupts"])) == 2
    work = spread.manifest["service"]["interrupt work"]
    assert work["packets"] == spread.manifest["generator"]["ok"]
    metrics = Metrics.read(spread.path / "metrics.parquet")
    assert metrics.value("service_demand", "leading") >= PAGE_S + 1e-3, "pages and interrupts are all on these cores"


@pytest.mark.lab
@pytest.mark.skipif(len(cores()) < 2, reason="spreading needs two cores")
def test_every_value_of_an_option_is_run(tmp_path: Path) -> None:
    """What docs/howto/write-a-study.md allows and the tests above do not run, each value once, with the bare run of each."""
    bare = {"interrupt_s": 0.0, "page_s": 0.0, "cores": 1, "nics": 1}
    loose = {"cores": 2, "nics": 1, "pinned": False, "threads_per_core": 3, "page_bytes": 1024}
    loose |= {"users": 2, "think_s": 0.005}
    given = {"interrupt": "exponential", "page": "exponential", "lab": {"mtu_bytes": 576, "spinners": False}}
    folders = run(
        tmp_path, "namespaces", bare, loose, {"cores": 2, "nics": 2}, length_s=0.6,
        interrupt_s="auto", page_s="auto", path="/search?q=lamp", **given,
    )  # fmt: skip
    for folder in folders:
        told = folder.manifest["generator"]
        assert told["ok"] > 20 and told["failed"] == 0, folder.path.name
