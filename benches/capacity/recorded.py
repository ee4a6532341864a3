"""`sojourn capacity --from-runs` on records of known truth: how often the interval holds, how wide it is, and where it has no upper end.

    python benches/capacity/recorded.py runs --first SEED --seeds N --out FOLDER
    python benches/capacity/recorded.py windows --first SEED --seeds N --out FOLDER
    python benches/capacity/recorded.py --summary FOLDER

Services, objectives and truths are those of `run.py`. The highest rate of a record is 50 to 95 % of saturation, drawn, whether or not the
objective is met there; the lowest is a fifth of it. Nothing is measured: others may use the machine. A row a service goes to
FOLDER/raw.csv.

    runs       eight runs of 30 s with a record of each request, at equal steps of the rate
    windows    a day of 24 windows along a sine, some 12 000 requests at its peak: means alone, and, of services whose workers compute,
               how busy these were
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import run as searches

from sojourn.capacity import Capacity, capacity_of_runs
from sojourn.capacity.rate_interval import MACHINE
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.window_folders import write_windows

RUNS, RUN_S, LOWEST = 8, 30.0, 0.2
WINDOWS, AT_PEAK = 24, 12_000
TOP = (0.5, 0.95)  # of saturation


def row(kind_of_record: str, seed: int) -> dict[str, Any]:
    """One answer beside its truth."""
    with tempfile.TemporaryDirectory() as place:
        kind, service, figure, limit = searches.drawn(seed, Path(place) / "record")
        truth = service.truth(figure, limit)
        top = float(np.random.default_rng([seed, 31]).uniform(*TOP)) * service.full_per_s
        if kind_of_record == "runs":
            for rate in np.linspace(LOWEST * top, top, RUNS):
                service.run(float(f"{rate:.4g}"), RUN_S)
        else:
            write_windows(service.out, _day(service, top, seed), {}, {"cpu": float(service.workers)}, "simulated")
        found = capacity_of_runs([Path(place) / "record"], f"{figure} < {limit * 1e3:.3g}ms")
    return {
        "record": kind_of_record, "seed": seed, "kind": kind, "law": service.law, "workers": service.workers, "told": service.told,
        "figure": figure, "limit_s": limit, "truth": truth, "share": truth / service.full_per_s, "top": top / service.full_per_s,
        **_told(found, truth), "machine": MACHINE,
    }  # fmt: skip


def _told(found: Capacity, truth: float) -> dict[str, Any]:
    rate = found.rate_per_s
    low, high = (rate.low, rate.high) if rate else (None, None)
    return {
        "value": rate.value if rate else None, "low": low, "high": high, "answered": found.answered,
        "half_width": rate.half_width if rate and found.answered else None,
        "inside": found.answered and low <= truth <= high, "above_low": low is not None and low <= truth,
        "model": found.model, "limits": found.limit.name if found.limit else "",
        "notes": " | ".join((*found.notes, found.no_answer_reason)),
        "took_s": found.elapsed_s,
    }  # fmt: skip


def _day(service: Any, top_per_s: float, seed: int) -> list[ObservedWindow]:
    length_s = max(AT_PEAK / top_per_s, 1.0)
    found = []
    for k in range(WINDOWS):
        share = (1 + LOWEST) / 2 + (1 - LOWEST) / 2 * np.sin(2 * np.pi * k / WINDOWS)
        rate = top_per_s * float(share)
        random = np.random.default_rng([seed, 37, k])
        arrivals, times_s = service.responses(rate, int(rate * length_s * 1.2) + 50, random)
        inside = arrivals < length_s
        done = int(inside.sum())
        busy = {"cpu": min(service.work_s * done / length_s / service.workers, 1.0)} if service.watched else {}
        means = ClassMeans(done / length_s, float(times_s[inside].mean()))
        found.append(ObservedWindow(1.7e9 + k * max(length_s, 1.0), length_s, {"all": means}, busy))
    return found


def summary(file: Path) -> str:
    """By kind of record and figure."""
    rows = pl.read_csv(file, infer_schema_length=None).to_dicts()
    for one in rows:
        if one["answered"]:
            low, high = searches.without_machine(one, one["machine"])
            one["inside_alone"] = low <= one["truth"] <= high
    lines = [
        "| record | figure | records | both ends | inside | without the machine's part | half-width | lower end holds, no upper end |"
    ]
    lines.append("|---|" + "---|" * 7)
    for record in dict.fromkeys(one["record"] for one in rows):
        for figure in ("mean", "p99", ""):
            part = [one for one in rows if one["record"] == record and figure in ("", one["figure"])]
            both = [one for one in part if one["answered"]]
            open_ = [one for one in part if not one["answered"] and one["value"] is not None]
            width = f"{np.median([one['half_width'] for one in both]):.1%}" if both else ""
            lines.append(
                f"| {record} | {figure or 'both'} | {len(part)} | {len(both)} | {searches._of(_count(both, 'inside'), len(both))} | "
                f"{searches._of(_count(both, 'inside_alone'), len(both))} | {width} | {_count(open_, 'above_low')} of {len(open_)} |"
            )
    return "\n".join(lines)


def _count(rows: list[dict[str, Any]], name: str) -> int:
    return sum(bool(one[name]) for one in rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("record", nargs="?", choices=("runs", "windows"))
    parser.add_argument("--first", type=int, default=8101)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--summary", type=Path, help="a folder with raw.csv: only the table")
    given = parser.parse_args()
    if given.summary is not None or given.record is None:
        print(summary((given.summary or Path()) / "raw.csv"))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    for seed in range(given.first, given.first + given.seeds):
        found = row(given.record, seed)
        searches.append_row(given.out / "raw.csv", found)
        print(
            found["record"],
            found["seed"],
            found["kind"],
            found["figure"],
            found["inside"],
            found["half_width"],
            flush=True,
        )


if __name__ == "__main__":
    main()
