"""Which windows of counters are whole, by a server beside the test that says how many samples each has."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.observe.observe_prometheus import observe_prometheus
from sojourn.observe.prometheus_http import Array, PrometheusServer
from sojourn.observe.series_map import ClassSeries, SeriesMap

SHOP = SeriesMap({"shop": ClassSeries("n", "t")}, {})
HOUR_S = 1_795_000_200.0  # a multiple of 300


def server(holes: Mapping[int, tuple[int, int]]) -> PrometheusServer:
    """Three targets, each scraped 20 times a window, with 30 answers/s of 0.1 s; a window in `holes` has another (targets, samples)."""

    class Counters(PrometheusServer):
        def series(self, query: str, ends_s: Array, step_s: float) -> Array:
            targets, samples = np.full(len(ends_s), 3.0), np.full(len(ends_s), 60.0)
            for i, (there, seen) in holes.items():
                targets[i], samples[i] = there, seen
            if query.startswith("count(count_over_time"):
                return targets
            if query.startswith("sum(count_over_time"):
                return samples
            if query.startswith("max(count_over_time"):
                return np.full(len(ends_s), 20.0)
            return (30.0 if "(n[" in query else 3.0) * samples / 60.0

    return Counters("http://host", "prometheus://host")


def seen(holes: Mapping[int, tuple[int, int]]) -> tuple[list[int], list[str]]:
    """(windows that were kept, notes)."""
    found = observe_prometheus(server(holes), SHOP, HOUR_S, HOUR_S + 3600.0)
    return [round((one.start_s - HOUR_S) / 300) for one in found.windows], list(found.notes)


def test_a_target_of_three_that_was_not_scraped_for_a_part_of_a_window() -> None:
    """45 of 60 samples: its rate is a fourth too low, whatever the fullest series has."""
    kept, notes = seen({4: (3, 45)})
    assert kept == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]
    assert notes[0].startswith("1 of 12 windows are left out")


def test_a_target_that_was_taken_away_or_not_scraped_for_all_of_a_window_is_said() -> None:
    kept, notes = seen({6: (2, 40), 7: (2, 40)})
    assert kept == list(range(12))
    assert [note for note in notes if "2 to 3 series" in note and note.startswith("classes.shop.requests")]
    assert not seen({})[1][0].startswith("classes.")


def test_a_window_of_fewer_series_is_compared_with_its_like() -> None:
    """Of those with two targets, one lacks half of the samples of one."""
    assert seen({6: (2, 40), 7: (2, 40), 8: (2, 30)})[0] == [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11]


def test_windows_of_less_than_a_second_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1 s"):
        observe_prometheus(server({}), SHOP, HOUR_S, HOUR_S + 3600.0, 0.5)
