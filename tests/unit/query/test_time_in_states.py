"""Time in states by batch, and the states of a path, against a count of who is present at each moment by itself."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sojourn.query.sources import time_in_states as module
from sojourn.query.sources.counted import counted

WINDOW, BATCHES = (2.0, 9.0), 4
EDGES = np.linspace(*WINDOW, BATCHES + 1)


def batch_of(times: np.ndarray) -> np.ndarray:
    return np.clip(np.searchsorted(EDGES, times, side="right") - 1, 0, BATCHES - 1)


def stays(seed: int, kinds: int, count: int, grid: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Begins and ends on a grid of binary fractions, so that many come together, some at edges and none in order; some never end."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(kinds):
        begin = np.round(rng.uniform(0, 10, count) / grid) * grid
        end = begin + np.round(rng.exponential(0.7, count) / grid) * grid
        end[rng.random(count) < 0.02] = np.nan
        found.append((begin, end))
    return found


def by_definition(given: list[tuple[np.ndarray, np.ndarray]]) -> dict[tuple[tuple[float, ...], int], tuple[float, int]]:
    """State and batch → time and pieces: who is present in the middle of each piece."""
    moments = np.concatenate([EDGES, *(np.concatenate(pair) for pair in given)])
    moments = np.unique(moments[(moments >= WINDOW[0]) & (moments <= WINDOW[1])])
    found: dict[tuple[tuple[float, ...], int], tuple[float, int]] = {}
    for first, last in pairwise(moments):
        middle = (first + last) / 2
        state = tuple(float(((a <= middle) & ~(b <= middle)).sum()) for a, b in given)
        key = state, int(np.searchsorted(EDGES, middle) - 1)
        length, pieces = found.get(key, (0.0, 0))
        found[key] = length + last - first, pieces + 1
    return found


@pytest.mark.parametrize(
    ("kinds", "count", "stretch"), [(1, 300, 7), (1, 300, 1 << 17), (2, 120, 5), (3, 60, 1), (2, 0, 3)]
)
@pytest.mark.parametrize("grid", [1 / 128, 1 / 8])
def test_each_piece_counts_where_it_is(
    kinds: int, count: int, stretch: int, grid: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STRETCH", stretch)
    given = stays(kinds, kinds, count, grid)
    found, wanted = module.time_in_states(given, WINDOW, EDGES, batch_of), by_definition(given)
    keys = [
        (tuple(found.states[state].tolist()), int(batch)) for state, batch in zip(found.state, found.batch, strict=True)
    ]
    assert len(set(keys)) == len(keys) and set(keys) == set(wanted)
    assert found.length_s == pytest.approx([wanted[key][0] for key in keys], abs=1e-12)
    assert found.pieces.tolist() == [wanted[key][1] for key in keys]
    assert found.states.tolist() == [list(state) for state in sorted({state for state, _ in wanted})]


def test_states_that_hardly_come_twice_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than are held between two joins, and too many in number for a table of all."""
    monkeypatch.setattr(module, "STRETCH", 2)
    given = stays(5, 6, 80, 1 / 1024)
    found, wanted = module.time_in_states(given, WINDOW, EDGES, batch_of), by_definition(given)
    assert len(found.length_s) == len(wanted) and found.length_s.sum() == pytest.approx(WINDOW[1] - WINDOW[0])
    assert found.pieces.sum() == sum(pieces for _, pieces in wanted.values())


@pytest.mark.parametrize("far", [1, 1000, 1 << 40])
def test_rows_are_numbered_in_ascending_order(far: int) -> None:
    """By numpy's own `unique`: of numbers close to each other, apart, and so far apart that their product is no number of 64 bits."""
    keys = np.random.default_rng(far).integers(-3, 4, (200, 3)) * far
    seen, which = module.numbered(keys)
    rows, places = np.unique(keys, axis=0, return_inverse=True)
    assert (seen == rows).all() and (which == np.ravel(places)).all()


def test_the_path_is_the_same_states() -> None:
    given = stays(9, 2, 100, 1 / 16)
    times, present = counted(given, WINDOW)
    middle = (times[:-1] + times[1:]) / 2
    for kind, (begin, end) in enumerate(given):
        assert present[:, kind].tolist() == [int(((begin <= t) & ~(end <= t)).sum()) for t in middle]
    states, _ = module.numbered(present)
    assert states.tolist() == module.time_in_states(given, WINDOW, EDGES, batch_of).states.tolist()
