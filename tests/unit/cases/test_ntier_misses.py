"""Misses of the last-level cache: what is put into the simulated site, and what its analysis finds, beside the second source document."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sojourn.errors import StudyError
from sojourn.report import Figure, Table
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import metrics_row
from sojourn.study.system import Point
from sojourn.table import Metrics
from sojourn_cases.ntier.bulletin_board_simulated import SimulatedBulletin, SimulatedBulletinLoad
from sojourn_cases.ntier.cache_misses import misses_analysis
from sojourn_cases.ntier.simulated_bulletin import SimulatedBulletinOptions

GAIN, MORE_MISSES = (
    0.22,
    1.28,
)  # second source document, section III: of one package against two, and of two against one
MAPPING = {"section": "by cores", "mapping": "mapping", "factor": "placement", "values": ["same_package", "spread"]}
PLAN: Any = SimpleNamespace(system=SimpleNamespace(factors={"placement": None, "cores": None}))


def factors(**given: Any) -> dict[str, Any]:
    site = SimulatedBulletin(SimulatedBulletinOptions(), SimulatedBulletinLoad(users=200, think=0.1), Path())
    return site.settled(given, "test")


def total(**given: Any) -> float:
    """Misses of all cores, 1/s, where all are busy."""
    o = SimulatedBulletinOptions()
    point = factors(**given)
    return float(o.misses(point).sum()) * int(point["cores"]) / o.stall_factor(point)


def test_what_is_put_in_has_the_chain_of_the_second_source() -> None:
    """22 % of throughput come with 128 % more misses in all (section III)."""
    o = SimulatedBulletinOptions()
    same, spread = (factors(cores=4, placement=placement) for placement in ("same_package", "spread"))
    assert o.most_per_s(same) / o.most_per_s(spread) - 1 == pytest.approx(GAIN, abs=0.005)
    more = total(cores=4, placement="spread") / total(cores=4, placement="same_package") - 1
    assert more == pytest.approx(MORE_MISSES, abs=0.01)


def test_misses_of_each_core_by_hand() -> None:
    """4 + 1 cores: 0.18/5 of each, and of 4 pairs of 0.08 half on the lone core and an eighth on each of the others."""
    o = SimulatedBulletinOptions()
    found = o.misses(factors(cores=5)) * o.miss_s
    assert found == pytest.approx([0.036 + 0.04] * 4 + [0.036 + 0.16])
    assert o.misses(factors(cores=3)) * o.miss_s == pytest.approx([0.06] * 3), "none cross in one package"


def test_a_simulated_run_counts_the_misses_that_were_put_in(tmp_path: Path) -> None:
    load = SimulatedBulletinLoad(users=200, think=0.1, duration_s=4.0)
    site = SimulatedBulletin(SimulatedBulletinOptions(), load, Path())
    point = site.settled({"cores": 4, "placement": "spread"}, "test")
    with site.open() as session:
        frame = session.run(Point("test", point), tmp_path / "run", seed=3).frame("metrics")
    assert frame is not None
    misses = frame.filter(metric="cache_miss_rate")
    assert misses["station"].to_list() == ["core 0", "core 1", "core 4", "core 5"]
    assert misses["value"].sum() == pytest.approx(total(cores=4, placement="spread"), rel=0.02)


def counted(path: Path, x: float, demand_s: float, missed: dict[int, float], **given: Any) -> RunFolder:
    rows = [
        metrics_row("throughput", x, unit="1/s"), metrics_row("utilisation", 1.0, station="cpu", unit="1"),
        metrics_row("service_demand", demand_s, station="database"), metrics_row("service_demand", 1.0, station="client"),
        *(metrics_row("cache_miss_rate", each, station=f"core {core}", unit="1/s") for core, each in missed.items()),
    ]  # fmt: skip
    repetition = given.pop("repetition", 1)
    manifest = {
        "valid": True, "repetition": repetition, "factors": {"page_work_s": 0.0, "users": 400, "cores": 4, **given},
        "resources": {"cpu": {"capacity": 4}, "database": {"capacity": 4}, "client": {"capacity": 2}},
    }  # fmt: skip
    folder = RunFolder.create(path, manifest)
    Metrics.of(rows, "measured").write(path / "metrics.parquet")
    return folder


def test_what_a_miss_costs_is_by_how_much_a_request_takes_longer_for_it(tmp_path: Path) -> None:
    """1000 and 800/s, 4 and 5 ms of CPU time; 10 and 20 million misses/s are 10 000 and 25 000 a request: 1 ms by 15 000."""
    runs = []
    for k in (1, 2):
        one = {"placement": "same_package", "repetition": k}
        runs.append(counted(tmp_path / f"a{k}", 1000.0, 4e-3, {0: 4e6, 1: 6e6}, **one))
        two = {"placement": "spread", "repetition": k}
        runs.append(counted(tmp_path / f"b{k}", 800.0, 5e-3, {0: 12e6, 5: 8e6}, **two))
    study: Any = SimpleNamespace(of=lambda *names: runs if "mapping" in names else [])
    found = misses_analysis(study, PLAN, MAPPING)
    assert "throughput -20.0 %" in found.lines[0] and "misses +100.0 %" in found.lines[0]
    assert found.lines[1].startswith("CPU time of a request grows by 66.7 ns")
    (table,) = found.sections[0].blocks
    assert isinstance(table, Table)
    told = {row[0]: row[1] for row in table.rows}
    assert told["misses of a request"] == pytest.approx(2.5)
    assert told["misses of core 0"] == pytest.approx(3.0) and "misses of core 5" not in told


def test_misses_by_cores_and_of_each_core(tmp_path: Path) -> None:
    """The counts of the most users alone; a core that was not used has none."""
    runs = [
        counted(tmp_path / str(n), 1000.0, 4e-3, dict.fromkeys(range(n), 1e6 * n), cores=n, placement="numbered")
        for n in (4, 5)
    ]
    runs.append(counted(tmp_path / "few", 1.0, 4e-3, {0: 9e9}, cores=5, users=100, placement="numbered"))
    study: Any = SimpleNamespace(of=lambda *names: runs if "by cores" in names else [])
    whole, each = misses_analysis(study, PLAN, MAPPING).sections[0].blocks
    assert isinstance(whole, Figure) and isinstance(each, Figure)
    assert whole.x_names == ("4", "5") and whole.series[0].y == pytest.approx((16.0, 25.0))
    four, five = each.series
    assert four.y == pytest.approx((4.0, 4.0, 4.0, 4.0, 0.0)) and five.y == pytest.approx((5.0,) * 5)


def test_a_machine_without_counters_says_so_and_wrong_options_are_named() -> None:
    nothing: Any = SimpleNamespace(of=lambda *names: [])
    assert "not counted" in misses_analysis(nothing, PLAN, MAPPING).lines[0]
    with pytest.raises(StudyError, match="give section, mapping, factor and two values"):
        misses_analysis(nothing, PLAN, {"section": "s"})
    with pytest.raises(StudyError, match="plaecment"):
        misses_analysis(nothing, PLAN, MAPPING | {"factor": "plaecment"})


def test_the_share_that_misses_take_leaves_throughput_as_it_was() -> None:
    """Misses are part of the time that stalls take, not more of it."""
    o, none = SimulatedBulletinOptions(), SimulatedBulletinOptions(missed=0.0)
    assert o.most_per_s(factors(cores=4)) == none.most_per_s(factors(cores=4))
    assert np.all(none.misses(factors(cores=4)) == 0.0)
