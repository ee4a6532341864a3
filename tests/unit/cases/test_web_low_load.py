"""What more NICs cost at low load: ratios of response times at the same rates, by hand."""

from __future__ import annotations

import math

import pytest

from sojourn.table import Metrics
from sojourn_cases.web.known_demands import KnownDemands, RequestOverheads
from sojourn_cases.web.low_load import low_load_line, low_load_ratios, low_load_table
from sojourn_cases.web.web_configurations import Interval, WebConfiguration

T_90_1 = 6.31375  # Student's t, one degree of freedom, two-sided 90 %


def configuration(
    name: str, kind: str, nics: int, times_ms: dict[float, float], saturates_per_s: float | None = 300.0, cores: int = 2
) -> WebConfiguration:
    seen = Metrics.of(
        {"rate_per_s": rate, "station": "", "metric": "response_time", "value": ms / 1e3, "source": "measured"}
        for rate, ms in times_ms.items()
    )
    known = KnownDemands(0.0, 0.0, RequestOverheads())
    most = None if saturates_per_s is None else Interval(saturates_per_s, saturates_per_s, saturates_per_s)
    return WebConfiguration(name, kind, {"cores": cores, "nics": nics}, [], seen, known, most)


ONE = configuration("one", "training", 1, {100.0: 1.0, 200.0: 4.0, 250.0: 9.0})
# the geometric mean of 1 and 4 ms is 2 ms; 50/s is below what was run, and 190/s above 60 % of 300/s
TWO = configuration("two", "blind", 2, {50.0: 7.0, 100.0: 1.2, 150.0: 2.2, 190.0: 9.0}, None)


def test_ratios_at_the_same_rates_and_their_interval() -> None:
    (found,) = low_load_ratios([ONE, TWO])
    assert (found.fewer, found.more, found.rates_per_s) == ("one", "two", (100.0, 150.0))
    assert found.fewer_s == pytest.approx((1e-3, 2e-3)) and found.more_s == pytest.approx((1.2e-3, 2.2e-3))
    assert found.ratio.value == pytest.approx(math.sqrt(1.2 * 1.1))
    half = T_90_1 * math.log(1.2 / 1.1) / 2
    assert found.ratio.high / found.ratio.value == pytest.approx(math.exp(half), rel=1e-4)
    assert "1.15 times (0.87 … 1.51) those of one" in low_load_line(found)
    table = low_load_table(found)
    assert [row[3] for row in table.rows] == pytest.approx([1.2, 1.1, found.ratio.value])


def test_one_rate_has_no_interval() -> None:
    (found,) = low_load_ratios([ONE, configuration("two", "blind", 2, {100.0: 1.5})])
    assert low_load_line(found).endswith("response times of two are 1.50 times those of one")
    assert low_load_table(found).rows[-1][3:] == (pytest.approx(1.5), None, None)


def test_only_configurations_that_can_be_compared() -> None:
    other_cores = configuration("four", "blind", 2, {100.0: 1.0}, cores=4)
    without_saturation = configuration("one", "training", 1, {100.0: 1.0, 200.0: 4.0}, None)
    beyond = configuration("two", "blind", 2, {260.0: 4.0})
    assert not list(low_load_ratios([ONE, other_cores]))
    assert not list(low_load_ratios([without_saturation, TWO]))
    assert not list(low_load_ratios([ONE, beyond]))


def test_the_nearest_number_of_nics_is_the_one_to_compare_with() -> None:
    two = configuration("two", "training", 2, {100.0: 2.0, 200.0: 2.0})
    four = configuration("four", "blind", 4, {100.0: 3.0})
    names = {(found.fewer, found.more) for found in low_load_ratios([ONE, two, four])}
    assert names == {("one", "two"), ("two", "four")}
