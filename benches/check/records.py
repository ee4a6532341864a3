"""Requests of which everything is known: queues simulated by sojourn, and what is planted in them."""

from __future__ import annotations

import random
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

import sojourn as sj
from sojourn.simulate.simulated_run import as_run

Array = np.ndarray
EPOCH_S = 1_790_000_000.0


@dataclass(frozen=True)
class Record:
    """Requests in order of start; `users` of a closed loop without think time, or None of a Poisson stream."""

    start: Array
    response: Array
    ok: Array
    users: int | None
    asked: float | None = None
    dropped: int = 0
    said: dict[str, float] | None = None  # figures of a summary that are not those of the requests

    @property
    def end(self) -> Array:
        return self.start + self.response

    @property
    def length(self) -> float:
        return float(self.end.max() - self.start.min())


def simulated(seed: int, closed: bool, quick: bool = False, calm: bool = False, light: bool = False) -> Record:
    """2 000 to 12 000 requests of a random queue, with errors and a cold beginning that hardly matters. `calm`: at most two fifths busy.
    `light`: 100 to 2 000 requests of 0.1 to 100 ms, 0.1 to 20 % busy where they come by a schedule, for 1 s at least where users wait,
    without errors."""
    draw = random.Random(seed)
    service = 10 ** draw.uniform(-3.6, -3.2) if quick else 10 ** draw.uniform(-2.2, -1)
    servers, users = draw.choice([1, 2, 4, 8]), draw.choice([2, 4, 8, 16, 32, 64])
    law = draw.choice(["exponential", "erlang", "lognormal", "hyperexponential"])
    times = {
        "exponential": lambda mean: sj.Exponential(mean),
        "erlang": lambda mean: sj.Erlang(mean, 4),
        "lognormal": lambda mean: sj.Lognormal(mean, 1.0),
        "hyperexponential": lambda mean: sj.Hyperexponential((0.9, 0.1), (mean * 0.5, mean * 5.5)),
    }
    count = draw.randint(2_000, 12_000)
    rate = draw.uniform(0.2, 0.4 if quick or calm else 0.85) * servers / service
    if light:
        service, count = 10 ** draw.uniform(-2.5 if closed else -4, -1), draw.randint(100, 2_000)
        rate = 10 ** draw.uniform(-3, -0.7) * servers / service
    page = sj.Closed("page", users) if closed else sj.Open("page", rate)
    model = sj.Model(
        stations=[sj.Queue("cpu", servers)], classes=[page], service_s={"cpu": {"page": times[law](service)}}
    )
    until = max(count * service / min(servers, users), 1.0 if light else 0.0) if closed else count / rate
    folder = Path(tempfile.mkdtemp()) / "run"
    try:
        as_run(model, folder, seed=seed, until_s=until)
        frame = pl.read_parquet(folder / "requests.parquet").filter(pl.col("done_s").is_finite())
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)
    chance = np.random.default_rng(seed)
    start, end = frame["intended_s"].to_numpy(), frame["done_s"].to_numpy()
    response = end - start
    failed = chance.random(start.size) < (0 if light else draw.choice([0, 0, 0.001, 0.005]))
    cold = draw.choice([1.0, 1.0, 1.2])
    if not closed:  # in a closed loop each request begins when the one before has ended
        response = np.where(failed, response * 0.5, response)
        response[: start.size // 50] *= cold
    order = np.argsort(start, kind="stable")
    return Record(
        EPOCH_S + start[order], response[order], ~failed[order], users if closed else None, None if closed else rate
    )


def stalled(record: Record, seed: int) -> Record:
    """The service stands still once: who waits then waits longer, and everything that follows comes later."""
    draw = random.Random(seed)
    gap = max(record.length * draw.uniform(0.04, 0.12), 10 * float(record.response.mean()))
    at = record.start[0] + record.length * draw.uniform(0.2, 0.8)
    start = np.where(record.start > at, record.start + gap, record.start)
    waits = (record.start <= at) & (record.end > at)
    return replace(record, start=start, response=np.where(waits, record.response + gap, record.response))


def serial(record: Record) -> Record:
    """One connection for a schedule that needs more: each request begins when the one before has ended."""
    response = record.response
    start = record.start[0] + np.concatenate([[0.0], np.cumsum(response)[:-1]])
    return replace(record, start=start, asked=None)


def paused(record: Record, seed: int) -> Record:
    """The generator pauses three times, and sends what was due in the pause at its end."""
    draw = random.Random(seed)
    start = record.start.copy()
    for _ in range(3):
        at = record.start[0] + record.length * draw.uniform(0.1, 0.8)
        gap = record.length * draw.uniform(0.02, 0.05)
        start = np.where((start > at) & (start < at + gap), at + gap, start)
    order = np.argsort(start, kind="stable")
    return replace(record, start=start[order], response=record.response[order], ok=record.ok[order])
