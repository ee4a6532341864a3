"""Visits, calls and their intervals: small traces by hand, and samples of made-up ones whose visits are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from traces.otlp_spans import CLIENT, SERVER, Spans, span, written

from sojourn.errors import InputError
from sojourn.model import Model
from sojourn.model.unknown_parameters import unknowns
from sojourn.traces import read_traces


def page(trace: int, statements: int, **more: str) -> list[Spans]:
    """A page of `site` that asks the database so often."""
    at = 10.0 * trace
    return [
        span("site", trace, 1, 0, (at, at + 8), SERVER, "page", **more),
        *(span("site", trace, 2 + k, 1, (at + k, at + k + 1), CLIENT, "SELECT", db_system="postgresql", **more)
          for k in range(statements)),
    ]  # fmt: skip


def test_visits_are_those_counted(tmp_path: Path) -> None:
    """Two, three and no statements: 5/3 a page. Rate: three requests, 10 ms apart."""
    found = read_traces([written(tmp_path / "traces.json", page(1, 2) + page(2, 3), page(3, 0))])
    (one,) = found.classes.values()
    assert (one.counted, one.visits["site"].mean, one.visits["postgresql"].counted) == (3, 1.0, 5)
    assert one.visits["postgresql"].mean == pytest.approx(5 / 3)
    assert one.rate_per_s == pytest.approx(100.0) and one.response_s == pytest.approx(0.008)
    assert one.residence_s == {"site": pytest.approx((24 - 5) / 3 * 1e-3), "postgresql": pytest.approx(5 / 3 * 1e-3)}
    assert [(c.caller, c.callee, c.counted) for c in found.calls] == [("", "site", 3), ("site", "postgresql", 5)]
    # a request's own span is there, or it is not known: without an error
    assert (one.visits["site"].low, one.visits["site"].high) == (1.0, 1.0)


def test_a_callers_own_root_is_no_station(tmp_path: Path) -> None:
    spans = [
        span("robot", 1, 1, 0, (0, 12), CLIENT, "GET"), span("site", 1, 2, 1, (1, 10), SERVER, "page"),
        span("stock", 1, 3, 2, (3, 5), SERVER, "list"),
    ]  # fmt: skip
    found = read_traces([written(tmp_path / "traces.json", spans)])
    assert list(found.classes) == ["page"] and list(found.stations) == ["site", "stock"]
    assert "1 roots are the client's side of a call" in " ".join(found.notes)


def test_a_missing_span_widens_the_interval_and_corrects_the_mean(tmp_path: Path) -> None:
    """100 pages, each by way of a proxy to one store; of 20 the proxy's span is not there. A fifth of the named parents is missing, so the
    80 visits of the proxy that were counted stand for 80/0.8."""
    lines = [
        [
            span("site", n, 1, 0, (n, n + 1), SERVER, "page"),
            *([] if n % 5 == 0 else [span("proxy", n, 2, 1, (n, n + 1), SERVER, "pass")]),
            span("store", n, 3, 2, (n, n + 1), SERVER, "get"),
        ]
        for n in range(1, 101)
    ]
    found = read_traces([written(tmp_path / "traces.json", *lines)])
    proxy = found.classes["page"].visits["proxy"]
    assert (proxy.mean, proxy.counted) == (pytest.approx(1.0), 80)
    assert proxy.low < 0.8 < 1.0 < proxy.high
    assert "20 spans are named as parents and are not there: 20.0 % of all" in " ".join(found.notes)


def test_a_call_without_an_answers_span_may_be_a_visit(tmp_path: Path) -> None:
    lines = [
        [
            span("site", n, 1, 0, (n, n + 1), SERVER, "page"),
            span("site", n, 2, 1, (n, n + 1), CLIENT, "GET"),
            *([span("store", n, 3, 2, (n, n + 1), SERVER, "get")] if n > 10 else []),
        ]
        for n in range(1, 101)
    ]
    store = read_traces([written(tmp_path / "traces.json", *lines)]).classes["page"].visits["store"]
    assert store.mean == pytest.approx(0.9) and store.low < 0.9 and store.high > 1.0


def test_what_cannot_be_linked_is_counted(tmp_path: Path) -> None:
    spans = [
        *page(1, 1), *page(1, 1),  # all of it twice
        span("site", 2, 2, 1, (0, 1), SERVER, "page"),  # without a root
        span("site", 3, 1, 0, (0, 1), SERVER, "page"), span("site", 3, 1, 0, (0, 2), CLIENT, "other"),  # one id for two
        span("site", 3, 5, 6, (0, 1)), span("site", 3, 6, 5, (0, 1)), span("site", 3, 7, 7, (0, 1)),  # each other's parents
    ]  # fmt: skip
    found = read_traces([written(tmp_path / "traces.json", spans)])
    notes = " ".join(found.notes)
    assert found.classes["page"].counted == 2
    assert "2 spans were exported twice" in notes and "1 of 3 traces lack their root" in notes
    assert "1 spans have the id of another span" in notes and "3 spans are each other's parents" in notes


def test_a_chain_of_many_spans_is_no_recursion(tmp_path: Path) -> None:
    spans = [span("site", 1, n, n - 1, (0, 1), SERVER if n == 1 else 1, "page") for n in range(1, 5001)]
    assert read_traces([written(tmp_path / "traces.json", spans)]).classes["page"].visits["site"].mean == 1.0


@pytest.mark.parametrize(
    ("state", "probability"),
    [("ot=th:8", 0.5), ("ot=th:c", 0.25), ("a=b,ot=th:fd70a3d70a3d71;rv:ff70a3d70a3d71", 0.01), ("ot=p:3;r:5", 0.125), ("ot=th:0", 1.0)],
)  # fmt: skip
def test_a_trace_stands_for_as_many_requests_as_it_says(tmp_path: Path, state: str, probability: float) -> None:
    """The thresholds are the examples of the specification: 8 of 56 bits rejects a half, fd70a3d70a3d71 99 %; p = 3 keeps 2^-3."""
    path = written(tmp_path / "traces.json", page(1, 1, state=state), page(2, 1, state=state))
    one = read_traces([path]).classes["page"]
    assert one.rate_per_s == pytest.approx(100.0 / probability, rel=1e-6) and one.visits["postgresql"].mean == 1.0


def test_sampled_is_for_traces_that_do_not_say_it(tmp_path: Path) -> None:
    path = written(tmp_path / "traces.json", page(1, 1), page(2, 1))
    assert read_traces([path], 0.01).classes["page"].rate_per_s == pytest.approx(10_000.0)
    for wrong in (0.0, 1.5, float("nan")):
        with pytest.raises(InputError, match="give the share of traces that were kept, such as 0.01"):
            read_traces([path], wrong)


def test_unequal_weights(tmp_path: Path) -> None:
    """One trace stands for 2 requests with 1 statement, one for 4 with 4: (2 + 16)/6."""
    path = written(tmp_path / "traces.json", page(1, 1, state="ot=th:8"), page(2, 4, state="ot=th:c"))
    assert read_traces([path]).classes["page"].visits["postgresql"].mean == pytest.approx(3.0)


@pytest.mark.parametrize("law", ["poisson", "rare", "constant"])
def test_intervals_of_samples_hold_the_truth(tmp_path: Path, law: str) -> None:
    """Of samples of 40 to 400 requests whose mean visits are known, at least 85 % of the intervals hold it (90 % are meant)."""
    random, inside, tries = np.random.default_rng(7), 0, 60
    for number in range(tries):
        size = int(random.integers(40, 400))
        counts = {"poisson": random.poisson(2.0, size), "rare": random.random(size) < 0.02, "constant": np.ones(size)}[
            law
        ]
        path = written(tmp_path / "traces.json", *(page(n + 1, int(k)) for n, k in enumerate(counts)))
        found = read_traces([path]).classes["page"].visits.get("postgresql")
        truth = {"poisson": 2.0, "rare": 0.02, "constant": 1.0}[law]
        inside += found is not None and found.low <= truth <= found.high
        assert number >= 0
    assert inside >= (0.85 if law != "rare" else 0.75) * tries


def test_the_model_file_is_a_model(tmp_path: Path) -> None:
    """What is written is read again: stations and visits as counted, comments and all; also with one unknown a station."""
    path = written(tmp_path / "traces.json", page(1, 2), page(2, 3), page(3, 1, state="ot=th:8"))
    for alike, unknown in ((False, "service_s.postgresql.page.mean"), (True, "parameters.postgresql_visit_s")):
        found = read_traces([path], same_time_per_visit=alike)
        model = Model.parse(found.to_toml())
        assert model == found.model and unknown in unknowns(model)
        assert [one.name for one in model.stations] == ["site", "postgresql"]
        assert model.visits["postgresql"]["page"] == pytest.approx(7 / 4)  # the third stands for two requests
