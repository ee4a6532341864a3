"""Where the x axis of a load ends: the utilisation law by hand."""

from __future__ import annotations

import pytest

from sojourn.model import Model
from sojourn.ui.model_numbers import model_numbers
from sojourn.ui.saturation import full_at

TWO = """name = "two"

[stations.cpu]
servers = 2

[stations.disk]

[classes.read]
kind = "open"
rate_per_s = 10.0

[classes.write]
kind = "open"
rate_per_s = 5.0

[demands_s.cpu]
read = 0.02
write = 0.04

[demands_s.disk]
read = 0.01
write = 0.1
"""


def rates(text: str) -> list[float | None]:
    model = Model.parse(text, "two.toml")
    return [full_at(model, number) for number in model_numbers(model) if number.load]


def test_the_first_station_that_is_full_while_the_other_class_stays() -> None:
    """read: disk 0.01 x + 5 * 0.1 = 1 at 50/s, cpu (0.02 x + 5 * 0.04) / 2 = 1 at 90/s; write: disk 0.1 x + 10 * 0.01 = 1 at 9/s."""
    assert rates(TWO) == pytest.approx([50.0, 9.0])


def test_users_leave_the_open_class_its_own_limit() -> None:
    """An open class is stable as long as its own work fits: 0.1 x = 1, whatever users wait behind it."""
    closed = TWO.replace(
        '[classes.read]\nkind = "open"\nrate_per_s = 10.0', '[classes.read]\nkind = "closed"\npopulation = 4'
    )
    model = Model.parse(closed, "mixed.toml")
    number = next(one for one in model_numbers(model) if one.path == "classes.write.rate_per_s")
    assert full_at(model, number) == pytest.approx(10.0)


def test_times_that_fall_with_the_load_are_those_of_a_full_station() -> None:
    """S(u) = 0.01 (1 + 0.5 (1 - u)) is 0.01 at u = 1."""
    text = """name = "warming"
[parameters]
work_s = 0.01
saved = 0.5
[stations.cpu]
[classes.request]
kind = "open"
rate_per_s = 75.0
[demands_s.cpu]
request = "work_s * (1 + saved * (1 - u))"
"""
    assert rates(text) == pytest.approx([100.0])


def test_a_delay_is_never_full() -> None:
    text = """name = "wire"
[stations.wire]
kind = "delay"
[classes.packet]
kind = "open"
rate_per_s = 5.0
[demands_s.wire]
packet = 0.1
"""
    assert rates(text) == [None]
