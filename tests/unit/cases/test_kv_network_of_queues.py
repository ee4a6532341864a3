"""The network of queues of the report's section 7: against its published Tables 17 and 18 (recomputed), and as a section of a report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from kv_rows import row, rows_of

from sojourn.report import Figure, Table
from sojourn.solve import sweep
from sojourn_cases.kv.network_of_queues import POPULATION, WORKER, NetworkTimes, network_model, network_sections

DATA = Path(__file__).parents[2] / "published/data"


def published(case: str) -> tuple[dict[str, float], dict[str, float]]:
    found = [
        pl.read_csv(DATA / f"asl_noq_{name}.csv").filter(case=case).row(0, named=True)
        for name in ("inferred_parameters", "mva")
    ]
    return found[0], found[1]


def test_the_network_of_table_17() -> None:
    """One middleware of 64 workers, sets: 66 clients, every digit of the recomputed table."""
    given, expected = published("T17 write")
    times = NetworkTimes(0.0, *(given[f"S_{name}_ms"] / 1e3 for name in ("network", "netthread1", "worker1")))
    clients = int(given["N_clients"])
    solved = sweep(network_model(times, 1, 64), POPULATION, [clients])
    assert solved.value("throughput", **{POPULATION: clients}) == pytest.approx(expected["X_per_s"], rel=1e-9)
    assert solved.value("utilisation", "net thread 1", **{POPULATION: clients}) == pytest.approx(
        expected["U_netthread1"], rel=1e-9
    )
    assert solved.value("utilisation", WORKER, **{POPULATION: clients}) == pytest.approx(
        expected["U_worker1"], rel=1e-9
    )


def seen(x: float, clients: int, workers: int = 64, **more: float) -> dict[str, object]:
    times = {"own_s": 0.0, "mw_response_s": clients / x - 1e-3, "net_s": 1e-4, "service_s": 2e-3} | more
    return row(x, clients, workers=workers, **times)


def test_curves_beside_what_was_measured() -> None:
    """A lone client waits for nobody: its response time is the sum, 1 + 0.1 + 2 ms. Never more than the net thread does, 10 000/s."""
    rows = rows_of(
        seen(1 / 3.1e-3, 1), seen(900.0, 3), seen(9000.0, 400), seen(300.0, 1, 8), seen(900.0, 3, 8), seen(999.0, 9, 8)
    )
    (section,) = network_sections(rows)
    throughput, response, table = section.blocks
    assert isinstance(throughput, Figure) and isinstance(response, Figure) and isinstance(table, Table)
    measured, told = throughput.series
    assert measured.y == pytest.approx((1 / 3.1e-3, 900.0, 9000.0)) and "64 workers" in throughput.title
    assert told.y[0] == pytest.approx(1 / 3.1e-3) and 9900 < (told.y[-1] or 0) <= 10000
    assert response.series[1].y[0] == pytest.approx(3.1)
    assert [line[0] for line in table.rows] == ["network", "net thread 1 of 1", "a worker"]


def test_nothing_without_times_or_with_few_numbers_of_clients() -> None:
    assert network_sections(rows_of(seen(100.0, 1), seen(200.0, 3))) == ()
    assert network_sections(rows_of(*(row(100.0 * n, n) for n in (1, 2, 3)))) == ()
