"""Chen et al.'s Figures 3 and 7 on our data: interrupts of each core by hand; the chain of a core by hand and against the closed form."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import metrics_row
from sojourn.table import Metrics
from sojourn_cases.web.chen_figures import interrupts_by_core
from sojourn_cases.web.known_demands import KnownDemands, RequestOverheads
from sojourn_cases.web.leading_core_chain import mean_requests
from sojourn_cases.web.web_configurations import WebConfiguration, measured_means

CPU0 = Path(__file__).parents[2] / "published/data/chen_cpu0.csv"
INTERRUPT_S = 5e-4


def run(path: Path, rate: float, shares: dict[str, float], valid: bool = True) -> RunFolder:
    folder = RunFolder.create(path, {"valid": valid, "factors": {"cores": 2, "nics": 1, "rate_per_s": rate}})
    rows = [metrics_row("softirq_utilisation", share, station=name, unit="1") for name, share in shares.items()]
    rows += [metrics_row("utilisation", 0.5, station=name, unit="1") for name in shares]
    Metrics.of([*rows, metrics_row("throughput", rate, unit="1/s")], "measured").write(path / "metrics.parquet")
    return folder


def configuration(runs: list[RunFolder]) -> WebConfiguration:
    known = KnownDemands(INTERRUPT_S, 1e-3, RequestOverheads())
    return WebConfiguration("a", "training", {"cores": 2, "nics": 1}, runs, measured_means(runs), known)


def test_interrupts_of_each_core_against_the_rate(tmp_path: Path) -> None:
    """The utilisation law: 0.5 ms a request are 5 and 10 % of core 0; of two runs the mean; core 10 is after core 2."""
    one = run(tmp_path / "1", 100.0, {"core 0": 100 * INTERRUPT_S, "core 10": 0.01, "core 2": 0.02})
    two = run(tmp_path / "2", 200.0, {"core 0": 200 * INTERRUPT_S - 0.02, "core 10": 0.01, "core 2": 0.02})
    again = run(tmp_path / "3", 200.0, {"core 0": 200 * INTERRUPT_S + 0.02, "core 10": 0.01, "core 2": 0.02})
    wrong = run(tmp_path / "4", 300.0, {"core 0": 0.9}, valid=False)
    figure = interrupts_by_core(configuration([one, two, again, wrong]))
    assert figure is not None
    assert [series.name for series in figure.series] == ["core 0", "core 2", "core 10"]
    assert figure.series[0].x == (100.0, 200.0)
    assert figure.series[0].y == pytest.approx((0.05, 0.1))
    assert figure.series[1].y == pytest.approx((0.02, 0.02))


def test_without_meters_by_core_there_is_no_figure(tmp_path: Path) -> None:
    assert interrupts_by_core(configuration([run(tmp_path / "1", 100.0, {})])) is None


def test_the_chain_of_a_core_with_room_for_one_and_two() -> None:
    """Loads alpha = 1/2 and beta = p lambda/mu2 = 1/3: weights 1; 1/2, 1/3; 1/4, 1/6, 1/9, by i + j."""
    one, two = (mean_requests(1.0, 2.0, 1.5, 0.5, room) for room in (1, 2))
    assert one == pytest.approx((5 / 6) / (1 + 5 / 6))
    assert two == pytest.approx((5 / 6 + 2 * 19 / 36) / (1 + 5 / 6 + 19 / 36))
    assert mean_requests(1.0, 2.0, 1.5, 0.0, 1) == pytest.approx((1 / 2) / (3 / 2)), "no page stays"


@pytest.mark.parametrize("row", pl.read_csv(CPU0).to_dicts(), ids=lambda r: f"{r['lambda_per_s']}-{r['p']}-{r['N']}")
def test_the_chain_of_chen_et_al(row: dict[str, float]) -> None:
    found = mean_requests(row["lambda_per_s"], row["mu1_per_s"], row["mu2_per_s"], row["p"], int(row["N"]))
    assert found == pytest.approx(row["Ek_jobs"], rel=1e-9)
