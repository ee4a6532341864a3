"""`kv.models`: the whole middleware as one station, and the names of configurations."""

from __future__ import annotations

import pytest
from kv_rows import row, rows_of

from sojourn_cases.kv.middleware import configurations, name_of
from sojourn_cases.kv.model_errors import station_table


def test_one_station_at_measured_rates() -> None:
    """Eight workers of 4 ms at 1000/s: M/M/1 at 2000/s answers in 1 ms; M/M/8 with 4 busy: Erlang's C is 0.0590, and
    the wait C · 4 ms / (8 - 4)."""
    seen = rows_of(
        row(1000.0, 5, service_s=4e-3, mw_throughput_per_s=1000.0, mw_response_s=5e-3, queue_s=1e-4),
        row(1900.0, 40, service_s=9e-3, mw_throughput_per_s=1900.0, mw_response_s=9e-3, queue_s=1e-3),
    )
    low, high = station_table(seen, seen)
    assert (low["mm1_response_s"], low["mm1_queue_s"]) == pytest.approx((1e-3, 0.5e-3))
    assert low["mmm_queue_s"] == pytest.approx(0.0590e-3, rel=2e-3)
    assert low["mmm_response_s"] == pytest.approx(4.059e-3, rel=1e-3)
    assert high["mm1_response_s"] == pytest.approx(1e-2), "the time of service is that of few clients"


def test_the_net_thread_lets_no_more_through() -> None:
    seen = rows_of(
        row(500.0, 5, service_s=4e-3, net_s=1e-3, mw_throughput_per_s=500.0, mw_response_s=5e-3, queue_s=1e-4)
    )
    (found,) = station_table(seen, seen)
    assert found["mm1_response_s"] == pytest.approx(1 / (1000 - 500))


def test_configurations_have_names() -> None:
    bare = row(1.0, design="none", servers=1, proxies=0, workers=0, sharded=True)
    behind = row(1.0, servers=2, value_bytes=128)
    assert [name_of(one) for one, _ in configurations(rows_of(bare, behind))] == [
        "none, 1 server, get, sharded", "staged, 2 servers, 1 proxy, 8 workers, get, 128 bytes",
    ]  # fmt: skip
