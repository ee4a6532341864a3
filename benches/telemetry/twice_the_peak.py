"""Twice the peak of a day, predicted from Prometheus alone, beside the truth.

    python benches/telemetry/twice_the_peak.py --first SEED --seeds 12 --out FOLDER [--window 60]
    python benches/telemetry/twice_the_peak.py --truths FOLDER
    python benches/telemetry/twice_the_peak.py --summary FOLDER

Each seed draws a service and its day (`replayed_day.py`); a Prometheus has the day (`scraped.py`). The commands are the product's, with
their defaults: `observe prometheus://…`, `fit --model auto`, `predict --rate` at twice the peak. All predictions are written to
FOLDER/predicted.csv, and their hash beside it, before the first truth is computed; then FOLDER/raw.csv has both. Nothing is measured:
others may use the machine.

A prediction is refused by name where a command says that it has no answer, or `fit` says "do not extrapolate". One without an upper end is
inside where the truth is above its lower end. Intervals are at 90 %.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parent))
from replayed_day import drawn  # type: ignore[import-not-found]
from scraped import recorded  # type: ignore[import-not-found]

LEVEL, MARGIN_S, TIMEOUT_S = 0.9, 30.0, 900.0
REFUSED = "do not extrapolate"
FIGURES = ("response", "saturation")
WANTED = {"response": 0.2, "saturation": 0.08}  # median errors
Row = dict[str, Any]


class RefusalError(Exception):
    """What a command said that it cannot answer."""


def sojourn(*words: str) -> str:
    """What the command prints. Raises RefusalError where it ends with an error."""
    command, environment = [sys.executable, "-m", "sojourn", *words], os.environ | {"COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env=environment)
    if done.returncode != 0:
        raise RefusalError(" ".join((done.stderr or done.stdout).split())[-300:])
    return done.stdout


def predicted(seed: int, window_min: float) -> Row:
    """Of one service, at twice the peak of its day."""
    kind, service, day = drawn(seed)
    begun, rate = time.monotonic(), float(f"{2 * day.peak_per_s:.4g}")
    found: Row = {
        "seed": seed, "kind": kind, "law": service.law, "workers": service.workers, "compress": day.compress, "peak_per_s": day.peak_per_s,
        "rate_per_s": rate, "requests": 0, "windows": 0, "model": "", "refused": "", "said": "",
        **dict.fromkeys(f"{figure}{end}" for figure in FIGURES for end in ("", "_low", "_high", "_status")),
    }  # fmt: skip
    with TemporaryDirectory() as place, recorded(service, day, seed) as record:
        out, fitted = Path(place) / "day", Path(place) / "fitted.toml"
        found["requests"] = record.requests
        since = f"-{math.ceil(time.time() - record.start_s + MARGIN_S)}s"
        window = f"{window_min * 60 / day.compress:g}s"
        try:
            found["said"] = sojourn("observe", f"prometheus://{record.address}", "--metric-map", str(record.map_file), "--from", since,
                                    "--window", window, "--out", str(out))  # fmt: skip
            found["windows"] = int(found["said"].split()[0])
            told = sojourn("fit", str(out), "--model", "auto", "--out", str(fitted))
            found |= {"model": told.splitlines()[0], "refused": REFUSED if REFUSED in " ".join(told.split()) else ""}
            found["said"] += told
            found |= answers(json.loads(sojourn("predict", str(fitted), "--rate", str(rate), "--json"))["rows"])
        except RefusalError as refusal:
            found["refused"] = str(refusal)
    found["said"] = " | ".join(found["said"].splitlines())
    return found | {"took_s": time.monotonic() - begun}


def answers(rows: Sequence[Mapping[str, Any]]) -> Row:
    """Response time and saturation rate of the whole system, with their ends."""
    found: Row = {}
    for figure, metric in (("response", "response_time"), ("saturation", "saturation_rate")):
        own = [
            one
            for one in rows
            if one["metric"] == metric and not one["station"] and not one["class"] and one["q"] is None
        ]
        if own:
            found |= {figure: own[0]["value"], f"{figure}_status": own[0]["status"]}
            found |= {f"{figure}_{end}": own[0][end] for end in ("low", "high")}
    return found


def with_truth(row: Row) -> Row:
    """Beside the truth: `error`, and whether this lies inside. What is called saturated, and is not, is off by infinity."""
    _, service, _ = drawn(row["seed"])
    mean, error = service.mean_response_s(row["rate_per_s"])
    full = service.saturation_per_s
    found = {
        **row,
        "share": row["rate_per_s"] / full,
        "response_truth": mean,
        "truth_error": error / mean,
        "saturation_truth": full,
    }
    return found | judged(found)


def judged(row: Row) -> Row:
    found: Row = {}
    for figure in FIGURES:
        value, low, high, truth = (row[f"{figure}{end}"] for end in ("", "_low", "_high", "_truth"))
        if row[f"{figure}_status"] is None or (
            value is None and low is None and row[f"{figure}_status"] == "not_answered"
        ):
            found |= {f"{figure}_error": None, f"{figure}_inside": None, f"{figure}_half": None}
            continue
        inside = low is not None and low <= truth and (high is None or truth <= high)
        half = (high - low) / 2 / value if None not in (value, low, high) else None
        error = math.inf if value is None else value / truth - 1
        found |= {f"{figure}_error": error, f"{figure}_inside": inside, f"{figure}_half": half}
    return found


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """By figure, of all services that were answered and of those that were not refused."""
    lines = [
        "| figure | services | answered | inside 90 % | by Wilson | without an upper end | median error | asked | half-width |"
    ]
    lines.append("|---|" + "---|" * 8)
    for whole in (True, False):
        for figure in FIGURES:
            part = [one for one in rows if whole or not one["refused"]]
            own = [one for one in part if one[f"{figure}_inside"] is not None]
            if not own:
                continue
            inside = sum(bool(one[f"{figure}_inside"]) for one in own)
            wilson = stats.binomtest(inside, len(own)).proportion_ci(LEVEL, "wilson")
            halves = [one[f"{figure}_half"] for one in own if one[f"{figure}_half"] is not None]
            error = float(np.median(np.abs([one[f"{figure}_error"] for one in own])))
            lines.append(
                f"| {figure}, {'all' if whole else 'not refused'} | {len(part)} | {len(own)} | {inside} of {len(own)} | "
                f"{wilson.low:.0%} to {wilson.high:.0%} | {len(own) - len(halves)} | {error:.1%} | {WANTED[figure]:.0%} | "
                f"{f'{np.median(halves):.0%}' if halves else ''} |"
            )
    refused = [f"{one['seed']} ({one['kind']})" for one in rows if one["refused"]]
    return "\n".join([*lines, f"\nrefused by name: {len(refused)} of {len(rows)}: {', '.join(refused)}"])


def write(file: Path, rows: Sequence[Row]) -> None:
    with open(file, "w", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)


def shown(row: Row) -> str:
    return (f"{row['seed']} {row['kind']} {row['law']} {row['workers']}: {row['rate_per_s']:g}/s, {row['response']} s "
            f"({row['response_low']} … {row['response_high']}), full at {row['saturation']} ({row['saturation_low']} … "
            f"{row['saturation_high']}), {row['model']}, {row['refused'] or 'answered'}, {row['took_s']:.0f} s")  # fmt: skip


def foretold(out: Path, seeds: Sequence[int], window_min: float) -> None:
    """Predictions into `out`; those that are there stay."""
    file = out / "predicted.csv"
    found: list[Row] = pl.read_csv(file, infer_schema_length=None).to_dicts() if file.exists() else []
    for seed in seeds:
        if all(one["seed"] != seed for one in found):
            found.append(predicted(seed, window_min))
            write(file, found)
            print(shown(found[-1]), flush=True)


def beside_truths(out: Path) -> None:
    """The hash of the predictions first, then the truths."""
    file = out / "predicted.csv"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (out / "predicted.sha256").write_text(f"{digest}  predicted.csv\n")
    print(f"sha256 {digest}", flush=True)
    told = [with_truth(row) for row in pl.read_csv(file, infer_schema_length=None).to_dicts()]
    write(out / "raw.csv", told)
    for row in told:
        print(row["seed"], *(f"{f}: {row[f'{f}_error']} {row[f'{f}_inside']}" for f in FIGURES), flush=True)
    print(summary(told))


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=9001)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--window", type=float, default=60.0, help="minutes of the day")
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--truths", type=Path, help="a folder with predicted.csv of a run that was cut off: judges what it has"
    )
    parser.add_argument("--summary", type=Path, help="a folder with raw.csv: only the table")
    given = parser.parse_args(arguments)
    if given.summary is not None or (given.out is None and given.truths is None):
        rows = pl.read_csv((given.summary or Path()) / "raw.csv", infer_schema_length=None).to_dicts()
        print(summary(rows))
        return
    if given.truths is None:
        given.out.mkdir(parents=True, exist_ok=True)
        foretold(given.out, range(given.first, given.first + given.seeds), given.window)
    beside_truths(given.truths or given.out)


if __name__ == "__main__":
    main(sys.argv[1:])
