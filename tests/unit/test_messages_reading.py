"""The row of a live run of the message study, from records made by hand: what lies outside the window does not count."""

from __future__ import annotations

import math

import polars as pl
import pytest

from sojourn.study.messages.points import Point
from sojourn.study.messages.reading import Window, seen

POINT = Point("clients", 8, 4, 20, 0.1, 1, seconds=1.0)
PUT, TAKE, EMPTY = 0, 1, 2


def client(*rows: tuple[float, float, int, int]) -> pl.DataFrame:
    """(sent, done, class, failure)"""
    return pl.DataFrame(rows, schema=["sent_s", "done_s", "class", "failure"], orient="row")


def service(*rows: tuple[float, float, float, float, float, float, int]) -> pl.DataFrame:
    """(received, dispatch, parse, wait, database, respond, weight)"""
    names = ["received_s", "dispatch_s", "parse_s", "wait_s", "database_s", "respond_s", "weight"]
    return pl.DataFrame(rows, schema=names, orient="row")


def window(records: pl.DataFrame, requests: list[pl.DataFrame], levels: list[pl.DataFrame], **more: object) -> Window:
    end = {"completions": 1000, "seconds": 2.0, "cpu_by_thread_s": {"msg-dispatcher": 0.02, "msg-worker-0": 0.1}}
    summary = {
        "sample_every": 1,
        "failed": 3,
        "messages": {"wrong": 1, "twice": 1},
        "lanes": [{"cpu_s": 0.5, "wall_s": 2.0}],
    }
    cpu = {"client": 0.25, "service": 0.5, "database": 1.0, "machine": 2.0}
    return Window(10.0, 12.0, records, summary | more, requests, levels, [end] * len(requests), cpu)


RECORDS = client(
    (9.0, 9.5, PUT, 0),  # before the window
    (9.9, 10.0, PUT, 0),
    (10.0, 10.2, TAKE, 0),
    (10.0, 10.3, EMPTY, 0),
    (10.0, 10.4, EMPTY, 2),  # failed
    (11.0, 11.4, TAKE, 0),
    (11.9, 12.0, PUT, 0),  # after it
)
REQUESTS = service(
    (9.0, 0.1, 0.1, 0.1, 0.1, 0.1, 1), (10.0, 0.01, 0.02, 0.03, 0.04, 0.05, 1), (10.5, 0.04, 0.02, 0.03, 0.07, 0.05, 2)
)
NO_LEVELS = pl.DataFrame({"t_s": [10.5], "connections_in_use": [1]})


def test_the_client_s_side() -> None:
    row = seen(POINT, window(RECORDS, [REQUESTS], [NO_LEVELS]))
    assert row.throughput_per_s == pytest.approx(4 / 2)
    assert row.messages_per_s == pytest.approx(2 / 2)
    assert row.empty_share == pytest.approx(1 / 4)
    assert row.response_s == pytest.approx((0.1 + 0.2 + 0.3 + 0.4) / 4)
    assert (row.put_s, row.take_s) == pytest.approx((0.1, 0.3))
    assert row.p50_s == pytest.approx(0.25)
    assert (row.errors, row.wrong) == (2, 2)  # a wrong message is a failure of the load, told apart here
    assert row.client_share == pytest.approx(0.25)
    assert row.client_cpu_s == pytest.approx(0.25 / 4)
    assert row.others_cores == pytest.approx((2.0 - 1.75) / 2)


def test_the_service_s_side_with_weights() -> None:
    """Means of the two requests in the window, the second of which stands for two; the dispatcher's CPU over all."""
    row = seen(POINT, window(RECORDS, [REQUESTS], [NO_LEVELS]))
    assert row.queue_s == pytest.approx((0.01 + 2 * 0.04) / 3)
    assert row.database_s == pytest.approx((0.04 + 2 * 0.07) / 3)
    assert (row.parse_s, row.wait_s, row.respond_s) == pytest.approx((0.02, 0.03, 0.05))
    assert row.dispatch_s == pytest.approx(0.02 / 1000)
    assert row.dispatch_share == pytest.approx(0.01)
    assert row.mw_response_s == pytest.approx(0.03 + 0.06 + 0.02 + 0.03 + 0.05 + 2e-5)
    assert math.isnan(row.in_use)  # one sample says nothing


def test_connections_of_all_services() -> None:
    """Two services with 1 and 3 in use, alternately one more: means 1.5 and 3.5; batches of an even number agree."""
    levels = [
        pl.DataFrame(
            {"t_s": [10 + 0.02 * k for k in range(100)], "connections_in_use": [low + k % 2 for k in range(100)]}
        )
        for low in (1, 3)
    ]
    row = seen(POINT, window(RECORDS, [REQUESTS, REQUESTS], levels))
    assert row.in_use == pytest.approx(5.0)
    assert row.in_use_error == pytest.approx(0.0, abs=1e-12)


def test_a_run_without_requests_has_no_numbers() -> None:
    row = seen(POINT, window(RECORDS.clear(), [REQUESTS.clear()], [NO_LEVELS]))
    assert row.throughput_per_s == 0
    assert math.isnan(row.response_s) and math.isnan(row.empty_share) and math.isnan(row.database_s)


def test_a_sampled_record_counts_for_all() -> None:
    row = seen(POINT, window(RECORDS, [REQUESTS], [NO_LEVELS], sample_every=5))
    assert row.throughput_per_s == pytest.approx(5 * 4 / 2)
