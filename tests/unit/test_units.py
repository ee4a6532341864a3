"""Formatting and parsing; expected texts written by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn import units
from sojourn.errors import InputError


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00304, "3.04 ms"), (2.91e-4, "291 µs"), (1.5, "1.50 s"), (0, "0 s"), (0.99996, "1.00 s"), (12e-9, "12.0 ns"),
     (None, "–"), (float("nan"), "–"), (123.4, "123 s"), (-0.002, "-2.00 ms")],
)  # fmt: skip
def test_seconds(value: float | None, text: str) -> None:
    assert units.seconds(value) == text


def test_rates_shares_and_intervals() -> None:
    assert units.per_second(583.2) == "583 /s"
    assert units.percent(0.7834) == "78.3 %"
    assert units.percent(0.05, sign=True) == "+5.0 %"
    assert units.interval(0.00304, 0.00298, 0.00311, "s") == "3.04 ms (2.98 ms … 3.11 ms)"
    assert units.interval(583.0, None, None, "1/s") == "583 /s"
    assert units.quantity(0.25, "1") == "0.250"
    with pytest.raises(InputError, match="unit: 'ms'; use one of"):
        units.quantity(1.0, "ms")


@pytest.mark.parametrize(
    ("text", "value"),
    [("8s", 8), ("250ms", 0.25), ("2m", 120), ("1h", 3600), ("30us", 3e-5), (" 1.5 s ", 1.5), ("4", 4), (0.5, 0.5)],
)
def test_durations(text: str | float, value: float) -> None:
    assert units.duration_s(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["", "s", "-1s", "0", "8 parsecs", "1e999s", "nan", "--s"])
def test_bad_durations_name_value_place_and_remedy(text: str) -> None:
    with pytest.raises(InputError, match=r"--for: .*; give a time above 0 like 8s"):
        units.duration_s(text, "--for")


@pytest.mark.parametrize(
    ("text", "values"),
    [("50..350:50", [50, 100, 150, 200, 250, 300, 350]), ("50,100", [50, 100]), ("5..6:0.5,9", [5, 5.5, 6, 9]), ("7",
    [7]),
     (7.5, [7.5]), ("0.1..0.3:0.1", [0.1, 0.2, 0.3]), ("5..5:1", [5])],
)  # fmt: skip
def test_levels(text: str | float, values: list[float]) -> None:
    assert units.levels(text) == pytest.approx(values)


@pytest.mark.parametrize(
    "text", ["", "a", "50..", "..", "50..350", "350..50:50", "1..2:0", "1..2:-1", "0..1e9:1", "1,,2"]
)
def test_bad_levels(text: str) -> None:
    with pytest.raises(InputError, match="rate_per_s: "):
        units.levels(text)


def test_a_range_as_others_write_it_is_answered_with_ours() -> None:
    with pytest.raises(InputError, match=r"10\.\.50:10 .*10,50"):
        units.levels("10-50")


@given(st.floats(1e-9, 1e8))
def test_seconds_keep_three_digits(value: float) -> None:
    number, unit = units.seconds(value).split(" ")
    scale = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
    assert float(number) * scale == pytest.approx(value, rel=6e-3)
