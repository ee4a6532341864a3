"""Throughput by who handles the writes, as ratios: those of the second source document, by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sojourn.errors import StudyError
from sojourn.report import Figure, Table
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import metrics_row
from sojourn.table import Metrics
from sojourn_cases.ntier.factor_ratios import ratios_analysis
from sojourn_cases.ntier.simulated_bulletin import SimulatedBulletinOptions, shares

PLAN: Any = SimpleNamespace(system=SimpleNamespace(factors={"strategy": None}))
OPTIONS = {"section": "io", "factor": "strategy"}


def run(path: Path, strategy: str, x: float, busy: float, repetition: int = 1, valid: bool = True) -> RunFolder:
    rows = [
        metrics_row("throughput", x, unit="1/s"), metrics_row("utilisation", busy, station="cpu", unit="1"),
        metrics_row("service_demand", busy / x, station="database"),
    ]  # fmt: skip
    resources = {"cpu": {"capacity": 4}, "database": {"capacity": 4}}
    about = {"valid": valid, "repetition": repetition, "factors": {"strategy": strategy, "page_work_s": 0.0}}
    folder = RunFolder.create(path, {**about, "resources": resources})
    Metrics.of(rows, "measured").write(path / "metrics.parquet")
    return folder


def analysed(*runs: RunFolder) -> Any:
    return ratios_analysis(SimpleNamespace(of=lambda *names: list(runs)), PLAN, OPTIONS)  # type: ignore[arg-type]


def test_three_ways_in_order_of_what_they_complete(tmp_path: Path) -> None:
    """As section V has them: Xen 1.22 times the commercial hypervisor, that 2.1 times KVM, with 1.17 and 1.9 times its CPU."""
    found = analysed(
        run(tmp_path / "a", "batch", 122.0, 0.4446), run(tmp_path / "b", "one_core", 100 / 2.1, 0.2),
        run(tmp_path / "c", "spread", 100.0, 0.38),
        run(tmp_path / "d", "one_core", 9999.0, 1.0, 2, valid=False),
    )  # fmt: skip
    assert found.lines == (
        "io, strategy spread against one_core: throughput 2.10 times, busy share of the cores 1.90 times",
        "io, strategy batch against spread: throughput 1.22 times, busy share of the cores 1.17 times",
    )
    bars, table = found.sections[0].blocks
    assert isinstance(bars, Figure) and isinstance(table, Table)
    assert bars.x_names == ("one_core", "spread", "batch") and bars.series[0].y == pytest.approx(
        (100 / 2.1, 100.0, 122.0)
    )
    assert table.rows[1][1:4] == (pytest.approx(1.22), None, None)


def test_repetitions_are_pairs(tmp_path: Path) -> None:
    """Ratios 2 and 2: an interval of no width; the third has no partner."""
    found = analysed(
        run(tmp_path / "a", "one_core", 10.0, 0.2), run(tmp_path / "b", "one_core", 30.0, 0.2, 2),
        run(tmp_path / "c", "spread", 20.0, 0.4), run(tmp_path / "d", "spread", 60.0, 0.4, 2), run(tmp_path / "e", "spread", 1e3, 0.4, 3),
    )  # fmt: skip
    (line,) = found.lines
    ratio = "2.00 times (2.00 to 2.00)"
    assert line == f"io, strategy spread against one_core: throughput {ratio}, busy share of the cores {ratio}"


def test_one_value_has_no_ratio_and_wrong_options_are_named(tmp_path: Path) -> None:
    assert analysed(run(tmp_path / "a", "spread", 10.0, 0.2)).lines == ()
    with pytest.raises(StudyError, match="give section and factor"):
        ratios_analysis(SimpleNamespace(of=lambda *names: []), PLAN, {"section": "io"})  # type: ignore[arg-type]
    with pytest.raises(StudyError, match="stratgy"):
        ratios_analysis(SimpleNamespace(of=lambda *names: []), PLAN, OPTIONS | {"factor": "stratgy"})  # type: ignore[arg-type]


def test_the_simulated_site_has_the_ratio_that_was_put_in() -> None:
    """A write each 0.19 requests, 17.5 and 8.6 ms at the disk: 2.03 times; the document has more than two."""
    o = SimulatedBulletinOptions()
    point = {
        "mix": "readwrite",
        "mix_seed": 0,
        "cores": 4,
        "numbering": "0-3|4-7",
        "placement": "numbered",
        "page_work_s": 0.0,
    }
    one, spread = (o.most_per_s({**point, "strategy": strategy}) for strategy in ("one_core", "spread"))
    assert spread / one == pytest.approx(17.5 / 8.6, rel=0.01)
    assert shares({"mix": "readwrite", "mix_seed": 0}) @ [0, 0, 0, 0, 0, 1, 1, 1] == pytest.approx(0.19)
