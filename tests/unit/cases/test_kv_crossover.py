"""Which number of workers is better by the number of clients: published maxima, and crossings by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from kv_rows import row, rows_of

from sojourn.report import Figure, Table
from sojourn_cases.kv.crossover import crossover_blocks, worker_ratios

PUBLISHED = Path(__file__).parents[3] / "cases/sojourn_cases/kv/published/asl_sec4_2_max_throughput_full_system.csv"


def full(workers: int, clients: int, x: float, **more: object) -> dict[str, object]:
    return row(x, clients, workers=workers, servers=3, proxies=2, workload="set", **more)


def published() -> dict[int, float]:
    """Throughput at the clients, by workers: section 4.2 of the report."""
    table = pl.read_csv(PUBLISHED)
    return dict(zip(table["worker_threads"].to_list(), table["throughput_client_ops_per_s"].to_list(), strict=True))


def test_neighbouring_numbers_of_workers_are_compared() -> None:
    """The report's maxima at 198 clients; with 30 all are alike, from 78 to 126 clients 32 are ahead of 64, as its section 4.1.2 says."""
    most = published()
    rows = rows_of(
        *(full(workers, 198, x) for workers, x in most.items()),
        *(full(workers, 30, 4000.0) for workers in most),
        *(full(workers, 102, 7000.0 if workers == 32 else 6500.0) for workers in most),
        full(64, 198, 99999.0, valid=False),
    )
    found = worker_ratios(rows)
    assert [(one.fewer, one.more) for one in found] == [(8, 16), (16, 32), (32, 64)]
    last = found[-1]
    assert last.where == "staged, 3 servers, 2 proxies, set"
    assert last.ratios["throughput"][198].value == pytest.approx(8204.04 / 8053.64)
    assert last.ratios["response time"][198].value == pytest.approx(8053.64 / 8204.04), "N/X"
    assert last.crossings == [(102, 198)]
    table, figure = crossover_blocks("full", rows)
    assert isinstance(table, Table) and isinstance(figure, Figure)
    assert "64 over 32: throughputs cross between 102 and 198 clients." in figure.note
    assert [one.name for one in figure.series] == ["16 over 8", "32 over 16", "64 over 32", "equal"]
    assert figure.series[2].y == pytest.approx((1.0, 6500 / 7000, 8204.04 / 8053.64))


def test_repetitions_are_pairs_and_say_what_may_be_equal() -> None:
    """Ratios 1.1 and 1/1.1: their geometric mean is 1, which its interval contains."""
    rows = rows_of(
        *(full(w, n, 1000.0 * n, repetition=k) for w in (8, 32) for n in (6, 30) for k in (1, 2)),
        full(8, 102, 1000.0), full(32, 102, 1100.0), full(8, 102, 1100.0, repetition=2), full(32, 102, 1000.0, repetition=2),
    )  # fmt: skip
    (one,) = worker_ratios(rows)
    ratio = one.ratios["throughput"][102]
    assert ratio.value == pytest.approx(1.0) and ratio.low < 1 < ratio.high
    _, figure = crossover_blocks("full", rows)
    assert isinstance(figure, Figure) and "may be equal with 6, 30, 102" in figure.note


def test_one_number_of_workers_or_few_clients_have_none() -> None:
    alone = rows_of(*(full(8, n, 1000.0) for n in (6, 30, 102)))
    few = rows_of(*(full(w, n, 1000.0) for w in (8, 32) for n in (6, 30)))
    bare = rows_of(*(row(1000.0, n, design="none", workers=0) for n in (6, 30, 102)))
    for rows in (alone, few, bare):
        assert list(crossover_blocks("s", rows)) == []
