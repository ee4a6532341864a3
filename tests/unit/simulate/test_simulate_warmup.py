"""The warm-up that a simulation cuts."""

from __future__ import annotations

import numpy as np

from sojourn.simulate.engine_record import TABLES, EngineRecord
from sojourn.simulate.warmup import cut
from sojourn.stats.batch_means import Array


def record(responses: Array, numbers: Array) -> EngineRecord:
    """One station, one class, with the given batch means (R, B)."""
    tables = {name: np.zeros((*responses.shape, 2, 1)) for name in TABLES}
    tables["completions"][:] = 100.0
    tables["response_s"][:, :, 1, 0] = 100.0 * responses
    tables["present"][:, :, 1, 0] = numbers
    return EngineRecord(1.0, tables)


def test_a_start_from_empty_is_cut() -> None:
    random = np.random.default_rng(1)
    rise = 10 * (1 - np.exp(-np.arange(1024) / 30)) + random.normal(0, 0.5, 1024)
    assert 60 <= cut(record(rise[None], rise[None])) <= 200


def test_several_runs_show_a_rise_that_one_hides() -> None:
    random = np.random.default_rng(2)
    rise = 10 * (1 - np.exp(-np.arange(1024) / 30)) + random.normal(0, 4, (32, 1024))
    assert 50 <= cut(record(rise, rise)) <= 200


def test_what_is_stationary_from_the_start_is_seldom_cut() -> None:
    random = np.random.default_rng(3)
    cuts = []
    for _ in range(100):
        x = random.normal(0, 1, 1024)
        for i in range(1, 1024):
            x[i] += 0.9 * x[i - 1]
        cuts.append(cut(record(50 + x[None], np.full((1, 1024), 7.0))))
    assert np.mean(np.array(cuts) > 0) < 0.1


def test_a_constant_series_has_no_warm_up() -> None:
    assert cut(record(np.ones((1, 256)), np.ones((1, 256)))) == 0


def test_empty_batches_do_not_break_it() -> None:
    empty = record(np.ones((1, 256)), np.ones((1, 256)))
    empty.tables["completions"][:] = 0
    assert cut(empty) == 0
