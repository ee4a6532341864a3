"""Self times of small traces, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from traces.otlp_spans import CLIENT, CONSUMER, PRODUCER, SERVER, Spans, span, written

from sojourn.traces import read_traces


def self_ms(tmp_path: Path, *spans: Spans) -> dict[tuple[str, str], float]:
    found = read_traces([written(tmp_path / "traces.json", spans)])
    return {(one.station, one.name): round(one.self_s * 1e3, 6) for one in found.operations}


def test_children_side_by_side_count_once(tmp_path: Path) -> None:
    """[0, 10] with children [1, 4], [2, 6] and [8, 9]: their union is 5 + 1 ms, so 4 ms are left."""
    found = self_ms(
        tmp_path,
        span("shop", 1, 1, 0, (0, 10), SERVER, "page"),
        span("shop", 1, 2, 1, (1, 4), name="a"),
        span("shop", 1, 3, 1, (2, 6), name="b"),
        span("shop", 1, 4, 1, (8, 9), name="c"),
    )
    assert found == {("shop", "page"): 4.0, ("shop", "a"): 3.0, ("shop", "b"): 4.0, ("shop", "c"): 1.0}


def test_a_grandchild_takes_from_its_parent_alone(tmp_path: Path) -> None:
    found = self_ms(
        tmp_path,
        span("shop", 1, 1, 0, (0, 10), SERVER, "page"),
        span("shop", 1, 2, 1, (2, 8), name="a"),
        span("shop", 1, 3, 2, (3, 6), name="b"),
    )
    assert found == {("shop", "page"): 4.0, ("shop", "a"): 3.0, ("shop", "b"): 3.0}


def test_time_between_two_services_is_of_neither(tmp_path: Path) -> None:
    """The call takes 6 ms, of which the called side has 4: 2 ms on the way are no station's."""
    found = self_ms(
        tmp_path,
        span("shop", 1, 1, 0, (0, 10), SERVER, "page"),
        span("shop", 1, 2, 1, (2, 8), CLIENT, "GET"),
        span("stock", 1, 3, 2, (3, 7), SERVER, "list"),
    )
    assert found == {("shop", "page"): 4.0, ("stock", "list"): 4.0}


def test_a_clock_that_is_ahead_is_set_back_and_said(tmp_path: Path) -> None:
    """stock's clock is 100 ms ahead: its span of 4 ms fits into the call of 6 ms, and takes no time but these."""
    spans = [
        span("shop", 1, 1, 0, (0, 10), SERVER, "page"),
        span("stock", 1, 2, 1, (103, 107), SERVER, "list"),
    ]
    assert self_ms(tmp_path, *spans) == {("shop", "page"): 6.0, ("stock", "list"): 4.0}
    notes = " ".join(read_traces([tmp_path / "traces.json"]).notes)
    assert "1 of 1 calls of stock lie outside of their caller's span in shop, by up to 97.0 ms" in notes
    assert "the caller gave up" in notes
    early = [spans[0], span("stock", 1, 2, 1, (-50, -46), SERVER, "list")]
    assert self_ms(tmp_path, *early) == {("shop", "page"): 6.0, ("stock", "list"): 4.0}
    assert "by up to 50.0 ms: clocks are apart;" in " ".join(read_traces([tmp_path / "traces.json"]).notes)


def test_what_outlives_its_parent_is_cut_off_there(tmp_path: Path) -> None:
    spans = [span("shop", 1, 1, 0, (0, 10), SERVER, "page"), span("shop", 1, 2, 1, (6, 30), name="later")]
    assert self_ms(tmp_path, *spans) == {("shop", "page"): 6.0, ("shop", "later"): 24.0}
    assert "1 spans end after the span that they are part of" in " ".join(read_traces([tmp_path / "traces.json"]).notes)


def test_a_message_takes_no_time_from_its_sender(tmp_path: Path) -> None:
    spans = [
        span("shop", 1, 1, 0, (0, 10), SERVER, "order"),
        span("shop", 1, 2, 1, (4, 5), PRODUCER, "send"),
        span("mail", 1, 3, 2, (4, 9), CONSUMER, "receive"),
    ]
    found = read_traces([written(tmp_path / "traces.json", spans)])
    assert {(one.station, one.name): round(one.self_s * 1e3, 6) for one in found.operations} == {
        ("shop", "order"): 9.0, ("mail", "receive"): 5.0,
    }  # fmt: skip
    edge = next(one for one in found.calls if one.callee == "mail")
    assert (edge.caller, edge.a_request, edge.asynchronous) == ("shop", 1.0, 1.0)


def test_times_that_make_no_sense_leave_the_visit(tmp_path: Path) -> None:
    spans = [span("shop", 1, 1, 0, (0, 10), SERVER, "page"), span("stock", 1, 2, 1, (9, 3), SERVER, "list")]
    found = read_traces([written(tmp_path / "traces.json", spans)])
    assert found.classes["page"].visits["stock"].mean == 1.0
    assert "1 spans have no start and end that make sense" in " ".join(found.notes)
    assert [(one.name, one.self_s) for one in found.operations] == [("page", pytest.approx(0.010))]
