"""Many replications as 64 pools: the same figures as of all kept apart, on any workers; what had no time is left out and told."""

from __future__ import annotations

import math
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from lindley import Lindley

import sojourn as sj
from sojourn.parallel import open_workers
from sojourn.simulate import pooled_replications, simulate
from sojourn.simulate.engine_record import EngineRecord
from sojourn.simulate.pooled_replications import PooledReplications
from sojourn.simulate.replications_on_workers import ReplicatedModel, ReplicationsOnWorkers

MU, LAMBDA = 100.0, 50.0
MODEL = sj.Model(
    stations=[sj.Queue("cpu")],
    classes=[sj.Open("user", rate_per_s=LAMBDA)],
    demands_s={"cpu": {"user": 1 / MU}},
)


def run(**more: Any) -> sj.Metrics:
    return simulate(MODEL, **{"engine": Lindley, "until_s": 40.0, "replications": 130, **more})


def test_the_same_on_threads_and_processes_and_as_the_truth() -> None:
    """Mean response 1/(mu - lambda), 95 % of them below ln(20)/(mu - lambda) (Kleinrock, vol. 1, 3.2 and 5.9)."""
    found = run()
    with ProcessPoolExecutor(2) as processes, ThreadPoolExecutor(3) as threads:
        assert run(parallel=processes) == run(parallel=threads) == found
    assert found.method == "simulation, 130 replications" and "in each of 130 runs" in found.message
    for truth, bounds in (
        (1 / (MU - LAMBDA), found.interval("response_time")),
        (math.log(20) / (MU - LAMBDA), found.interval("response_time_quantile", cls="user", q=0.95)),
        (LAMBDA, found.interval("throughput")),
    ):
        low, high = bounds
        assert low is not None and high is not None and low <= truth <= high
        assert high - low < 0.1 * truth


def records(count: int) -> tuple[EngineRecord, EngineRecord]:
    """Of one model: pooled, and kept apart."""
    model = ReplicatedModel(MODEL.network, 7, 40.0, Lindley)
    with ThreadPoolExecutor(2) as threads, open_workers(threads) as workers:
        pooled, apart = PooledReplications(model, count, workers), ReplicationsOnWorkers(model, count, workers)
        deadline = time.monotonic() + 60
        found = pooled.go(40.0, None, deadline), apart.go(40.0, None, deadline)
        pooled.close()
        apart.close()
    return found


def test_pools_are_what_their_replications_are() -> None:
    pooled, apart = records(128)
    assert pooled.runs == 64 and apart.runs == 128
    for name, table in apart.tables.items():
        means = table.reshape(64, 2, *table.shape[1:]).mean(axis=1)
        np.testing.assert_allclose(pooled.tables[name], means, rtol=1e-12)
    for key, (edges, counts, group_s) in apart.histograms.items():
        own_edges, own, own_s = pooled.histograms[key]
        assert own_s == group_s
        np.testing.assert_array_equal(own_edges, edges)
        np.testing.assert_array_equal(own, counts.reshape(64, 2, *counts.shape[1:]).sum(axis=1))
    assert pooled.events == apart.events


def test_what_had_no_time_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall time is over after the first 10 of 130: pools of 3 and 2 replications, the first three whole and a part."""
    real, begun = ReplicatedModel.beginning, [0]

    class Late:
        def __init__(self, within: Any) -> None:
            self.within = within

        def go(self, until_s: float, completions: int | None, deadline: float) -> EngineRecord:
            begun[0] += 1
            return self.within.go(until_s, completions, deadline if begun[0] <= 10 else 0.0)  # type: ignore[no-any-return]

    monkeypatch.setattr(ReplicatedModel, "beginning", lambda self, number: Late(real(self, number)))
    with ThreadPoolExecutor(1) as one:
        found = run(parallel=one)
    assert "10 of 130 replications had enough time; the others are left out" in found.message
    low, high = found.interval("throughput")
    assert low is not None and high is not None and low <= LAMBDA <= high


def test_what_was_done_until_an_interruption_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = pooled_replications.run_pool, [0]

    def interrupted(model: Any, pool: Any) -> Any:
        calls[0] += 1
        if calls[0] > 20:
            raise KeyboardInterrupt
        return real(model, pool)

    monkeypatch.setattr(pooled_replications, "run_pool", interrupted)
    with ThreadPoolExecutor(1) as one:
        found = run(parallel=one)
    assert found.status == "interrupted"
    assert "of 130 replications had enough time" in found.message


def test_the_former_keyword_is_understood_and_the_present_one_said() -> None:
    def run(**where: Any) -> sj.Metrics:
        return sj.simulate(MODEL, seed=3, replications=2, completions=200, **where)

    with ThreadPoolExecutor(1) as one:
        with pytest.warns(DeprecationWarning, match="parallel="):
            former = run(on=one)
        assert former == run(parallel=one)
        with pytest.raises(TypeError, match="'on'"):
            run(on=one, parallel=one)
