"""The report of a comparison draws the changes that it states."""

from __future__ import annotations

from sojourn.compare.comparison import Comparison, MetricComparison
from sojourn.compare.comparison_report import comparison_document


def test_changes_between_their_margins() -> None:
    """20 % slower (15 % to 25 %) at a margin of 5 %; a metric without an interval is in the table alone."""
    mean = MetricComparison("mean", "s", 0.1, 0.12, 0.2, 0.15, 0.25, 0.9, True, False, "worse", True, 0)
    p99 = MetricComparison("p99", "s", 0.2, 0.25, 0.25, None, None, 0.9, False, False, "cannot tell", False, 3)
    document = comparison_document(Comparison(("A", "B"), "worse", (mean, p99), 0.05, 0.9, "", (5, 5)))
    ((_, figure),) = document.figures()
    change, none, above, below = figure.series
    assert (change.y, change.low, change.high) == ((20.0,), (15.0,), (25.0,)) and figure.x_names == ("mean",)
    assert (set(none.y), set(above.y), set(below.y)) == ({0.0}, {5.0}, {-5.0})
    alone = comparison_document(Comparison(("A", "B"), "cannot tell", (p99, p99), 0.05, 0.9, "", (5, 5)))
    assert list(alone.figures()) == []
