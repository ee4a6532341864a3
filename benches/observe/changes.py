"""A day of a service, minute by minute: is a change of what a request needs found, how soon, and is one seen where none was?

    python benches/observe/changes.py [--seeds 20] [--first 300] [--window 60] [--by 1.2] [--every 5] [--queue] [--out rows.csv]

Two days a seed, of the same service: one without a change, and one where demands are `--by` times as large from some moment on. Each
is looked through as it comes, `--every` so many windows. Counts are Poisson's and work is exponential; with `--queue` each request goes
through a simulated server, at a quarter of the rates. The load goes up and down with the hour,
and from one quarter of an hour to the next; the service is drawn by the seed (one or two classes, background work, 15 to 45 % busy in
the mean).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from planted_service import Planted, Seen, simulated

from sojourn.observe.change_points import FEWEST, change_points
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow

DAY_S, HOUR_S, QUARTER_S, MOST = 86_400.0, 3600.0, 900.0, 2.2
NEAR = 5  # windows


def drawn(seed: int, slow: float = 1.0) -> tuple[Planted, float]:
    """The service, and when it changes."""
    rng = np.random.default_rng([seed, 11])
    classes = int(rng.integers(1, 3))
    rate = slow * rng.uniform(8.0, 24.0)
    share = rng.uniform(0.15, 0.45)
    rates = (rate,) if classes == 1 else (0.7 * rate, 0.3 * rate)
    weights = (1.0,) if classes == 1 else (1.0, float(rng.uniform(1.0, 4.0)))
    unit = share / sum(w * r for w, r in zip(weights, rates, strict=True))
    quarters = np.exp(rng.normal(0, 0.08, int(DAY_S / QUARTER_S) + 1))
    late = rng.uniform(0, DAY_S)

    def day(at_s: float) -> float:
        return float(min((1 + 0.6 * np.sin(2 * np.pi * (at_s - late) / DAY_S)) * quarters[int(at_s / QUARTER_S)], MOST))

    one = Planted(tuple(unit * w for w in weights), tuple(map(float, rates)), DAY_S, float(rng.choice((0.0, 0.02))), bool(rng.integers(2)),
                  day=day, most=MOST)  # fmt: skip
    return one, float(rng.uniform(HOUR_S, DAY_S - HOUR_S))


def windows_of(seen: Seen, classes: int, length_s: float) -> list[ObservedWindow]:
    count = int(DAY_S / length_s)
    place = (seen.came_s // length_s).astype(int)
    busy = seen.busy[: int(count * length_s)].reshape(count, -1).mean(axis=1)
    each = []
    for c in range(classes):
        own = (seen.of == c) & (place < count)
        number = np.bincount(place[own], minlength=count)
        total = np.bincount(place[own], seen.took_s[own], minlength=count)
        each.append(
            [
                ClassMeans(n / length_s, t / n if n else None)
                for n, t in zip(number.tolist(), total.tolist(), strict=True)
            ]
        )
    return [ObservedWindow(i * length_s, length_s, {f"c{c}": one[i] for c, one in enumerate(each)}, {"cpu": float(busy[i])})
            for i in range(count)]  # fmt: skip


def made(one: Planted, seed: int, length_s: float) -> list[ObservedWindow]:
    """The same without a queue: work counts where it comes."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(int(DAY_S / length_s)):
        at_s = (i + 0.5) * length_s
        share = 1 + (one.by - 1) * min(max(((i + 1) * length_s - one.changed_s) / length_s, 0.0), 1.0)
        counts = [int(rng.poisson(r * length_s * (one.day(at_s) if one.day else 1.0))) for r in one.rate_per_s]
        other = one.background * (1.0 if one.bursts else rng.gamma(200.0) / 200.0)
        busy = other + sum(share * d * rng.gamma(n) for d, n in zip(one.demand_s, counts, strict=True) if n) / length_s
        classes = {f"c{c}": ClassMeans(n / length_s, one.demand_s[c]) for c, n in enumerate(counts)}
        found.append(ObservedWindow(i * length_s, length_s, classes, {"cpu": min(busy, 1.0)}))
    return found


def watched(windows: Sequence[ObservedWindow], from_window: int, every: int) -> list[tuple[float, list[float]]]:
    """After each `every` windows from number `from_window` on: until when, and where changes are seen."""
    return [(windows[t - 1].start_s + windows[0].length_s, [c.at_s for c in change_points(windows[:t])])
            for t in range(from_window, len(windows) + 1, every)]  # fmt: skip


def row(seed: int, length_s: float, by: float, every: int, queue: bool) -> dict[str, object]:
    one, at_s = drawn(seed, 0.25 if queue else 1.0)

    def day(own: Planted, number: int) -> list[ObservedWindow]:
        return windows_of(simulated(own, number), len(own.demand_s), length_s) if queue else made(own, number, length_s)

    quiet = watched(day(one, seed), FEWEST, every)
    alarms = [(until, *seen) for until, seen in quiet if seen]
    changed = day(replace(one, changed_s=at_s, by=by), seed + 10_000)
    last = next(i for i, w in enumerate(changed) if w.start_s > at_s + HOUR_S)
    first = max(int(at_s // length_s) + 2, FEWEST)
    found = [
        (until, seen)
        for until, seen in watched(changed[:last], first, 1)
        if any(abs(s - at_s) <= NEAR * length_s for s in seen)
    ]
    whole = change_points(changed)
    right = [c for c in whole if abs(c.at_s - at_s) <= NEAR * length_s]
    return {
        "seed": seed, "classes": len(one.demand_s), "rate": sum(one.rate_per_s), "false_alarms": len(alarms),
        "first_false_s": alarms[0][0] if alarms else None, "changed_s": at_s, "delay_s": found[0][0] - at_s if found else None,
        "ratio": right[0].ratio if right else None, "off_s": right[0].at_s - at_s if right else None, "others": len(whole) - len(right),
    }  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=300)
    parser.add_argument("--window", type=float, default=60.0, help="s")
    parser.add_argument("--by", type=float, default=1.2)
    parser.add_argument("--every", type=int, default=5, help="windows")
    parser.add_argument("--queue", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    found = []
    for seed in range(asked.first, asked.first + asked.seeds):
        found.append(row(seed, asked.window, asked.by, asked.every, asked.queue))
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in found[-1].items()}, flush=True)
    table = pl.DataFrame(found, infer_schema_length=None)
    late = table["delay_s"].fill_null(np.inf)
    false, soon, others = (int(one.sum()) for one in (table["false_alarms"] > 0, late <= 600, table["others"] > 0))
    print(f"{len(table)} days without a change: {false} with a false alarm")
    print(
        f"{len(table)} with one: {soon} found within 10 minutes, median {table['delay_s'].median()} s; {others} with others beside"
    )
    if asked.out:
        table.write_csv(asked.out)


if __name__ == "__main__":
    main(sys.argv[1:])
