"""A day in Prometheus, minute by minute: is 20 % more CPU time of a request found, how soon, and is a change seen where none was?

    python benches/telemetry/day_changes.py --first SEED --seeds 12 --out FOLDER [--window 1] [--by 1.2]
    python benches/telemetry/day_changes.py --summary FOLDER

Two days a seed, of the same service (`replayed_day.py`), in a Prometheus (`scraped.py`) and read by `observe`: one without a change, looked
through every five windows as it comes, and one in which requests take `--by` times the CPU time from a random moment on, looked through
after each window. Nothing is measured. Times in FOLDER/raw.csv are those of the day, not the compressed ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "observe"))
from changes import FEWEST, HOUR_S, NEAR, watched  # type: ignore[import-not-found]
from replayed_day import DAY_S, drawn  # type: ignore[import-not-found]
from scraped import recorded  # type: ignore[import-not-found]

from sojourn.observe.change_points import change_points
from sojourn.observe.observe_prometheus import observe_prometheus
from sojourn.observe.observed_windows import ObservedWindow
from sojourn.observe.series_map import read_map

EVERY, WANTED_S = 5, 600.0


def windows(
    seed: int, window_s: float, number: int, changed_s: float, by: float
) -> tuple[list[ObservedWindow], float, int]:
    """What Prometheus says of the day, in windows of `window_s` of it; when it began, Unix time; and its requests. `number`: which draw."""
    _, service, day = drawn(seed)
    with recorded(service, day, seed + number, changed_s / day.compress, by) as record:
        end_s, length_s = record.start_s + record.length_s, window_s / day.compress
        seen = observe_prometheus(
            f"prometheus://{record.address}", read_map(record.map_file), record.start_s, end_s, length_s
        )
        return list(seen.windows), record.start_s, record.requests


def row(seed: int, window_s: float, by: float) -> dict[str, Any]:
    kind, service, day = drawn(seed)
    at_s = float(np.random.default_rng([seed, 61]).uniform(HOUR_S, DAY_S - HOUR_S))
    quiet, start_s, _ = windows(seed, window_s, 0, DAY_S, 1.0)
    alarms = [until for until, seen in watched(quiet, FEWEST, EVERY) if seen]
    changed, new_s, requests = windows(seed, window_s, 10_000, at_s, by)
    at, near_s = new_s + at_s / day.compress, NEAR * window_s / day.compress
    first = max(sum(one.start_s <= at for one in changed), FEWEST)
    last = sum(one.start_s <= at + HOUR_S / day.compress for one in changed)
    found = [until for until, seen in watched(changed[:last], first, 1) if any(abs(s - at) <= near_s for s in seen)]
    whole = change_points(changed)
    right = [one for one in whole if abs(one.at_s - at) <= near_s]
    return {
        "seed": seed, "kind": kind, "law": service.law, "workers": service.workers, "compress": day.compress, "requests": requests,
        "a_minute": requests / (DAY_S / 60), "windows": len(quiet), "false_alarms": len(alarms),
        "first_false_s": (alarms[0] - start_s) * day.compress if alarms else None, "changed_s": at_s,
        "rate_share": float(day.rates_per_s[int(at_s / DAY_S * len(day.rates_per_s))]) / day.peak_per_s,
        "delay_s": (found[0] - at) * day.compress if found else None, "ratio": right[0].ratio if right else None,
        "others": len(whole) - len(right),
    }  # fmt: skip


def summary(table: pl.DataFrame) -> str:
    late = table["delay_s"].cast(pl.Float64).fill_null(np.inf)
    false, soon, others = (int(one.sum()) for one in (table["false_alarms"] > 0, late <= WANTED_S, table["others"] > 0))
    known = table["delay_s"].cast(pl.Float64).drop_nulls()
    told = f"{known.median():.0f} s in the median, {known.max():.0f} s at most" if len(known) else "none"
    return (
        f"{len(table)} days without a change: {false} with a false alarm\n{len(table)} with one: {soon} found within 10 minutes, "
        f"{len(known)} within an hour ({told}); {others} with other changes beside it"
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=9101)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--window", type=float, default=1.0, help="minutes of the day")
    parser.add_argument("--by", type=float, default=1.2)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path, help="a folder with raw.csv: only the counts")
    given = parser.parse_args(arguments)
    if given.summary is not None or given.out is None:
        print(summary(pl.read_csv((given.summary or Path()) / "raw.csv", infer_schema_length=None)))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    found = []
    for seed in range(given.first, given.first + given.seeds):
        found.append(row(seed, 60.0 * given.window, given.by))
        print({k: round(v, 4) if isinstance(v, float) else v for k, v in found[-1].items()}, flush=True)
        pl.DataFrame(found, infer_schema_length=None).write_csv(given.out / "raw.csv", float_precision=6)
    print(summary(pl.DataFrame(found, infer_schema_length=None)))


if __name__ == "__main__":
    main(sys.argv[1:])
