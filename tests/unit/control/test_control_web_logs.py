"""A day each of two public web logs: counts against what their sources add up to, and the rates that are made of them."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np
import pytest

from sojourn.control import made
from sojourn.control.load_trace import LOGGED, NAMED, read
from sojourn.control.web_log import FOLDER, WEB_LOGS, counts

TOTAL = {"worldcup98": 23_528_918, "clarknet": 272_399}  # added up from the sources, twice each: web_logs/README.md


@pytest.mark.parametrize("name", WEB_LOGS)
def test_a_day_has_each_of_its_minutes(name: str) -> None:
    with files(FOLDER).joinpath(f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    at = [int(row["at_s"]) for row in rows]
    assert at == list(range(0, 86_400, 60))
    assert sum(counts(name)) == TOTAL[name] and len(counts(name)) == 1440
    assert min(counts(name)) > 0  # the longest time without a request is under two minutes


def test_the_archive_cut_the_day_of_the_world_cup_after_each_7_million_requests() -> None:
    """The archive says so of its files; three minutes lie in two of them: 4 599 + 5 668, 881 + 24 771, 5 401 + 10 799. Those who counted
    have one request fewer than that in the first file."""
    day = counts("worldcup98")
    cuts = {5 * 60 + 33 + 120: (4599, 5668), 14 * 60 + 40 + 120: (881, 24_771), 19 * 60 + 39 + 120: (5401, 10_799)}
    first, second, third = cuts
    assert [day[k] for k in cuts] == [sum(parts) for parts in cuts.values()]
    assert sum(day[:first]) + 4599 == 6_999_999
    assert 5668 + sum(day[first + 1 : second]) + 881 == 7_000_000
    assert 24_771 + sum(day[second + 1 : third]) + 5401 == 7_000_000


@pytest.mark.parametrize("name", WEB_LOGS)
@pytest.mark.parametrize("duration_s", [1800, 1440, 86_400, 700, 2000])
def test_a_day_keeps_its_mean_in_whatever_time_it_is_played(name: str, duration_s: int) -> None:
    load = made(name, 240.0, duration_s)
    assert load.duration_s == duration_s and np.mean(load.rates_per_s) == pytest.approx(240)
    half = np.sum(load.rates_per_s[: duration_s // 2]) / np.sum(load.rates_per_s)
    assert half == pytest.approx(sum(counts(name)[:720]) / TOTAL[name])


@pytest.mark.parametrize("name", WEB_LOGS)
def test_a_day_at_its_own_speed_and_rate_is_the_log(name: str) -> None:
    load = made(name, TOTAL[name] / 86_400, 86_400)
    rates = np.reshape(load.rates_per_s, (1440, 60))
    assert np.ptp(rates, axis=1).max() < 1e-9 * rates.max()
    assert rates[:, 0] * 60 == pytest.approx(counts(name))


def test_arrivals_are_poisson_at_the_rate_of_the_minute() -> None:
    """Mean and variance of the count of a minute (clarknet, at its own rate), over 400 seeds, in two minutes of 464 and 28 requests."""
    load = made("clarknet", TOTAL["clarknet"] / 86_400, 86_400)
    for minute, mean in ((940, 464), (379, 28)):
        part = type(load)("minute", load.rates_per_s[60 * minute : 60 * minute + 60])
        found = [len(part.arrivals_s(seed)) for seed in range(400)]
        assert np.mean(found) == pytest.approx(mean, abs=4 * np.sqrt(mean / 400))
        assert np.var(found) == pytest.approx(mean, rel=0.3)  # 4 standard errors


def test_loads_by_name() -> None:
    assert [*LOGGED] == [*WEB_LOGS] and {*LOGGED} < {*NAMED}
    assert [one.name for one in read("clarknet", 100, 60)] == ["clarknet"]
