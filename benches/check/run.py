"""`sojourn check` on files whose truth is known: 1 000 that are consistent, 200 in which something is planted.

    python benches/check/run.py [--first SEED] [--consistent N] [--corrupted N] [--light] [--out FOLDER]

A planted violation counts as found where a finding that is no note has its name; in a consistent file any such finding is a false alarm.
`--light`: consistent files of short, quick and little used queues, of tools whose clocks are fine enough for them; nothing is planted.
"""

from __future__ import annotations

import argparse
import csv
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import writers as w
from records import Record, paused, serial, simulated, stalled

import sojourn as sj

Writer = Callable[[Record, Path], Path]
Plant = tuple[str, bool, tuple[Writer, ...], Callable[[Record, random.Random], Record]]


def scaled(low: float, high: float) -> Callable[[Record, random.Random], Record]:
    return lambda record, draw: replace(record, response=record.response * draw.uniform(low, high))


def ramp(record: Record, draw: random.Random) -> Record:
    return replace(record, response=record.response * np.linspace(1, draw.uniform(2, 4), record.response.size))


def cold(record: Record, draw: random.Random) -> Record:
    factor = np.ones(record.response.size)
    factor[: int(record.response.size * draw.uniform(0.05, 0.15))] = draw.uniform(4, 10)
    return replace(record, response=record.response * factor)


def losing(record: Record, draw: random.Random) -> Record:
    return replace(record, dropped=int(record.ok.size * draw.uniform(0.01, 0.2)))


def failing(record: Record, draw: random.Random) -> Record:
    bad = np.random.default_rng(draw.randrange(10**6)).random(record.ok.size) < draw.uniform(0.05, 0.3)
    return replace(record, ok=~bad, response=np.where(bad, record.response * 0.05, record.response))


def said(**wrong: Callable[[dict[str, float], random.Random], float]) -> Callable[[Record, random.Random], Record]:
    return lambda record, draw: replace(
        record, said={name: value(w.figures(record), draw) for name, value in wrong.items()}
    )


def loads(record: Record, path: Path, kind: str, draw: random.Random) -> Path:
    """A row a load, as somebody writes a table: M/M/1 at five loads, by the book."""
    service, rows = 0.01, []
    order = [10, 30, 50, 70, 90]
    for rate in order:
        mean = service / (1 - rate * service)
        busy = rate * service
        if kind == "utilisation_law":
            busy *= draw.uniform(0.4, 0.7)
        if kind == "littles_law":
            mean *= 1.0
        present = rate * mean * (draw.uniform(1.3, 2) if kind == "littles_law" else 1)
        rows.append(
            [
                rate,
                rate / (1 - draw.uniform(0.1, 0.4)) if kind == "schedule_missed" else rate,
                mean * 1e3,
                busy,
                service * 1e3,
                present,
                60 * rate,
            ]
        )
    if kind == "latency_falls":
        for a, b in zip(rows, reversed([row[2] for row in rows]), strict=True):
            a[2] = b
            a[5] = a[0] * b * 1e-3
    header = "throughput_per_s,asked_per_s,mean_ms,utilisation,service_ms,queue_length,requests"
    return w._write(path.with_suffix(".csv"), "\n".join([header, *(",".join(f"{v:.5g}" for v in row) for row in rows)]))


PLANTS: list[Plant] = [
    ("littles_law", True, (w.wrk, w.ab, w.bombardier, w.memtier, w.jmeter, w.k6), scaled(1.4, 3)),
    ("client_limit", True, (w.wrk, w.ab, w.bombardier, w.memtier), scaled(0.3, 0.6)),
    ("schedule_missed", False, (w.vegeta,), lambda record, draw: paused(record, draw.randrange(10**6))),
    ("requests_dropped", False, (w.k6, w.k6_summary), losing),
    ("coordinated_omission", True, (*w.STREAMS, w.wrk, w.ab, w.bombardier), lambda record, draw: stalled(record, draw.randrange(10**6))),
    ("not_stationary", False, (*w.STREAMS, w.vegeta, w.access_log), ramp),
    ("warm_up", False, (*w.STREAMS, w.vegeta, w.access_log), cold),
    ("quantiles", True, (w.wrk, w.ab, w.bombardier, w.k6_summary, w.oha), said(p99=lambda f, draw: f["p50"] * draw.uniform(0.5, 0.9))),
    ("mean_and_quantiles", False, (w.k6_summary, w.oha), said(mean=lambda f, draw: f["p50"] * draw.uniform(0.1, 0.4))),
    ("throughput", True, (w.oha, w.ab, w.wrk), said(rate=lambda f, draw: f["rate"] * draw.uniform(1.15, 2))),
    ("failures_mixed", False, (*w.STREAMS, w.vegeta, w.access_log), failing),
    ("percentiles_averaged", True, (w.memtier,), said(averaged=lambda f, draw: 1.0)),
    ("one_connection", False, (w.vegeta,), lambda record, draw: serial(record)),
]  # fmt: skip
DROWNED = ("not_stationary", "warm_up")  # in a busy queue no reader could tell them from its busy periods: README.md
TABLES = ("littles_law", "utilisation_law", "latency_falls", "schedule_missed")


def found(path: Path) -> list[str]:
    return [one.law for one in sj.check([path]).findings if one.severity != "note"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--consistent", type=int, default=1000)
    parser.add_argument("--corrupted", type=int, default=200)
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        rows += consistent(Path(folder), given.first, given.consistent, given.light)
        rows += [] if given.light else corrupted(Path(folder), given.first + 500_000, given.corrupted)
    tell(rows)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        with (given.out / "files.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("seed", "planted", "format", "found"), *rows])


def consistent(folder: Path, first: int, count: int, light: bool = False) -> list[tuple[int, str, str, str]]:
    """Each queue as five files, of five formats."""
    rows = []
    for seed in range(first, first + count):
        if len(rows) >= count:
            break
        draw = random.Random(seed)
        closed = draw.random() < 0.5
        record = simulated(seed, closed, light=light)
        writers = w.CLOSED if closed else w.OPEN
        for writer in draw.sample([one for one in writers if one in w.FINE] if light else writers, 5):
            path = writer(record, folder / f"{seed}-{writer.__name__}")
            rows.append((seed, "", writer.__name__, " ".join(found(path))))
            path.unlink()
    return rows[:count]


def corrupted(folder: Path, first: int, count: int) -> list[tuple[int, str, str, str]]:
    rows = []
    for k in range(count):
        seed, draw = first + k, random.Random(first + k)
        number = k % (len(PLANTS) + 2)
        if number == len(PLANTS):
            kind, name = TABLES[k // (len(PLANTS) + 2) % len(TABLES)], "table"
            path = loads(simulated(seed, False), folder / f"{seed}-table", kind, draw)
        elif number > len(PLANTS):
            kind, writer = "coarse_times", draw.choice([w.jmeter, w.access_log])
            name, path = writer.__name__, writer(simulated(seed, False, quick=True), folder / f"{seed}-quick")
        else:
            kind, closed, choices, plant = PLANTS[number]
            writer = draw.choice(choices)
            record = simulated(seed, closed, calm=kind in DROWNED)
            while closed and kind in ("client_limit", "littles_law", "percentiles_averaged") and record.users == 1:
                record = simulated(seed + 10_000, closed)
            name, path = writer.__name__, writer(plant(record, draw), folder / f"{seed}-{writer.__name__}")
        rows.append((seed, kind, name, " ".join(found(path))))
        path.unlink()
    return rows


def tell(rows: list[tuple[int, str, str, str]]) -> None:
    fine, planted = [row for row in rows if not row[1]], [row for row in rows if row[1]]
    alarms = [row for row in fine if row[3]]
    queues = (len({row[0] for row in alarms}), len({row[0] for row in fine}))
    said = f"consistent: {len(alarms)} of {len(fine)} files with a false alarm, of {queues[0]} of {queues[1]} queues"
    print(said, *(f"  {row}" for row in alarms), sep="\n")
    named = [row for row in planted if row[1] in row[3].split()]
    print(
        f"planted: {len(named)} of {len(planted)} found and rightly named ({100 * len(named) / max(len(planted), 1):.1f} %)"
    )
    print(*(f"  missed {row}" for row in planted if row not in named), sep="\n")
    more = Counter((row[1], law) for row in planted for law in set(row[3].split()) - {row[1]})
    print(
        "named besides:",
        *(f"  {kind} in {count} files with {plant}" for (plant, kind), count in sorted(more.items())),
        sep="\n",
    )


if __name__ == "__main__":
    main()
