"""docs/howto/same-objective-elsewhere.md: the rules of k6, PromQL and OpenSLO, as their documentation has them, on one record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sojourn as sj
from sojourn.query import query
from sojourn.query.query import as_source
from sojourn.query.sources.batch_means_law import BatchMeansLaw
from sojourn.simulate.simulated_run import as_run

PAGE = Path(__file__).resolve().parents[3] / "docs/howto/same-objective-elsewhere.md"
HOWTO = PAGE.with_name("ask-for-an-objective.md")
DEFAULT = (
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
)  # upper bounds of Prometheus' client libraries
LIMIT_S = 0.118


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> sj.RunFolder:
    text = HOWTO.read_text().split("# file: m4.toml\n")[1].split("```")[0]
    return as_run(sj.Model.parse(text), tmp_path_factory.mktemp("elsewhere") / "run", seed=1)


@pytest.fixture(scope="module")
def times_s(run: sj.RunFolder) -> np.ndarray:
    law = as_source(run).time("response_time", "", "")
    assert isinstance(law, BatchMeansLaw)
    return np.sort(law.observations()[0])


def histogram_quantile(q: float, bounds: tuple[float, ...], times_s: np.ndarray) -> float:
    """Linear between the bounds of the bucket in which the rank q n lies; the lowest begins at 0; above all bounds, the last."""
    counts = [int((times_s <= bound).sum()) for bound in bounds]
    rank = q * len(times_s)
    at = next((k for k, count in enumerate(counts) if count >= rank), None)
    if at is None:
        return bounds[-1]
    low, before = (bounds[at - 1], counts[at - 1]) if at else (0.0, 0)
    return low + (bounds[at] - low) * (rank - before) / (counts[at] - before)


def test_the_rule_by_hand() -> None:
    """10 requests, 8 up to 0.1 s and 2 up to 0.25 s: p90 half-way through the second bucket; p95 of one above all is the last bound."""
    assert histogram_quantile(0.9, DEFAULT, np.array([0.06] * 8 + [0.11] * 2)) == pytest.approx(0.175)
    assert histogram_quantile(0.95, (0.1, 0.2), np.array([0.05] * 9 + [3.0])) == 0.2


def test_what_the_page_says_of_each(run: sj.RunFolder, times_s: np.ndarray) -> None:
    page = PAGE.read_text()
    assert f"| {1e3 * np.quantile(times_s, 0.99):.1f} ms | fails |" in page
    guessed = histogram_quantile(0.99, DEFAULT, times_s)
    assert f"| {1e3 * guessed:.1f} ms, interpolated between 100 and 250 ms | fails |" in page
    share = (times_s <= LIMIT_S).mean()
    assert page.count(f"{share:.1%}".replace("%", " %")) == 2 and share < 0.99
    asked = query("p99 < 118ms", run)
    assert asked.verdict == "cannot tell" and "121 ms (118 ms … 126 ms); a run about 1.2 times" in asked.reason
    slices = query("p99 < 118ms in 90% of 1min windows", run)
    assert (slices.verdict, slices.reason) == (
        "no",
        "met in 4 of 11 windows of 1min",
    ) and "| 4 of 11 slices | fails |" in page
    assert np.quantile(times_s, 0.99) < 0.125 < guessed


def test_slices_are_counted_as_theirs(run: sj.RunFolder) -> None:
    """A slice is good where at least 99 % of its requests take at most the limit."""
    source = as_source(run)
    start, end = source.window
    own = source.inside
    begin, took = own["begin_s"].to_numpy(), (own["end_s"] - own["begin_s"]).to_numpy()
    good = 0
    for k in range(int((end - start) / 60)):
        inside = (begin >= start + 60 * k) & (begin < start + 60 * (k + 1))
        good += (took[inside] <= LIMIT_S).mean() >= 0.99
    assert abs(good - 4) <= 1  # a quantile lies between two requests, a share of them does not


def test_every_text_of_ours_is_read() -> None:
    from sojourn.query import Question

    page = PAGE.read_text()
    for text in ("p99 < 118ms and errors < 0.1%", "p99 < 118ms in 90% of 1min windows", "share(failed / arrivals) < 0.1%",
                 "p99(response_time{station=service}) < 118ms", "errors < 0.1%", "rate(departures) > 100/s",
                 "mean(response) < 30ms", "p99{class=user}", "probability(response <= 118ms) >= 99%",
                 "utilisation{station='core 0'} < 80%"):  # fmt: skip
        assert text in page
        Question.read(text)
