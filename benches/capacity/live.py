"""`sojourn capacity` on services that run here, each beside a truth that is measured apart.

    python benches/capacity/live.py --out FOLDER [NAME …] [--beside]
    python benches/capacity/live.py --summary FOLDER

For each service, in this order: a closed loop of 64 users tells where it saturates; one run at 75 % of that gives the limit of the
objective, mean or p99; three runs of the truth; `sojourn capacity` is asked with that limit and nothing else but `--within 100s`; three
more runs of the truth. The truth's six rates are fixed parts of saturation from 64 to 86 %, in an order that is drawn before the answer.
The logarithm of the figure is a parabola over the rate that came (least squares, six runs). The truth is where that crosses the limit,
with the 90 % interval of three degrees of freedom. Not judged: where it crosses outside of 55 to 95 %, or is not known to 10 %.

`inside`: the interval of the answer holds the middle of the truth's; `touches`: some of it. FOLDER/raw.csv gets a row a service as
soon as it is there. A service that has one is left out, so that the same command goes on. FOLDER/NAME has the runs. `--beside`: a
process that computes for half of the time runs all along. Puts load on loopback for some two minutes and a half a service. The table
is printed at the end.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from live_services import SERVICES, running  # type: ignore[import-not-found]
from scipy import stats

import sojourn as sj
from sojourn.errors import Busy, SojournError
from sojourn.query.objectives import judge, read_objectives
from sojourn.runs.run_folder import run_folders

PORT = 18600
USERS, CLOSED_S, SHARE, RUN_S = 64, 5.0, 0.75, 6.0
SHARES = (0.64, 0.69, 0.73, 0.77, 0.81, 0.86)
CROSSING, LEAST_KNOWN = (0.55, 0.95), 0.1
WITHIN, LEVEL = "100s", 0.9
WAITS = 300  # for another measurement to end, s
HALF = (
    "import time\nwhile True:\n end = time.monotonic() + 0.05\n while time.monotonic() < end: pass\n time.sleep(0.05)"
)


@contextmanager
def beside(wanted: bool) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", HALF]) if wanted else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def run(name: str, out: Path, other: bool) -> dict[str, Any]:
    """A service: limit, truth, answer."""
    service, folder = SERVICES[name], out / name
    shutil.rmtree(folder, ignore_errors=True)
    more: dict[str, Any] = {"insecure": True} if service.tls else {}
    seed = sum(name.encode())
    port = PORT + list(SERVICES).index(name)
    with beside(other), running(service, folder / "service", port) as url:
        full, _ = _measured(url, folder / "full", service.figure, more, users=[USERS], duration_s=CLOSED_S)
        at = {"rates_per_s": [SHARE * full], "duration_s": RUN_S, "seed": seed}
        limit_s = float(f"{_measured(url, folder / 'limit', service.figure, more, **at)[1]:.3g}")
        objective = f"{service.figure} < {limit_s * 1e3:.4g}ms"
        shares = random.Random(seed).sample(SHARES, len(SHARES))
        half = len(shares) // 2
        seen = [_truth_run(url, folder, service.figure, more, share * full, seed) for share in shares[:half]]
        found = _asked(url, objective, folder / "capacity", service.tls)
        seen += [_truth_run(url, folder, service.figure, more, share * full, seed) for share in shares[half:]]
    truth, error = _crossing(seen, limit_s, full)
    rate = found.get("rate_per_s") or {}
    value, least, upper = rate.get("value"), rate.get("low"), rate.get("high")
    both = least is not None and upper is not None
    most = max((one["rate_per_s"] for one in found.get("runs", ())), default=0.0)
    return {
        "service": name, "beside": other, "objective": objective, "saturation": full, "truth": truth, "truth_error": error,
        "value": value, "low": least, "high": upper, "half_width": (upper - least) / 2 / value if both else None,
        "answered": both, **_judged(truth, error, least, upper),
        "told_saturation": (found.get("saturation_per_s") or {}).get("value"), "most": most / full,
        "runs": len(found.get("runs", ())), "requests": found.get("requests"), "took_s": found["wall_s"], "exit": found["exit"],
        "limits": (found.get("limit") or {}).get("text"), "model": found.get("model"), "stopped": found.get("stopped"),
        "notes": " | ".join([*found.get("notes", ()), found.get("why") or ""]),
    }  # fmt: skip


def _measured(url: str, out: Path, figure: str, more: dict[str, Any], **load: Any) -> tuple[float, float]:
    """As `measure`, as soon as nobody else measures here: the rate that came, 1/s, and the figure, s."""
    for _ in range(WAITS):
        try:
            (folder,) = sj.measure(url, out, **load, **more)
            break
        except Busy:
            time.sleep(1)
    return _figure(folder, figure)


def _figure(folder: sj.RunFolder, figure: str) -> tuple[float, float]:
    (found,) = judge(folder, read_objectives([f"{figure} < 1s"]), whole=False)
    return float(folder.metrics().value("throughput")), float(found["value"])


def _truth_run(
    url: str, folder: Path, figure: str, more: dict[str, Any], rate: float, seed: int
) -> tuple[float, float]:
    load = {"rates_per_s": [rate], "duration_s": RUN_S, "seed": seed + round(rate)}
    return _measured(url, folder / f"truth-{rate:.4g}", figure, more, **load)


def _crossing(seen: Sequence[tuple[float, float]], limit_s: float, full: float) -> tuple[float | None, float | None]:
    """Where the figure is the limit, 1/s, and half of its interval over it; None where that cannot be told."""
    shares, logs = np.array([rate for rate, _ in seen]) / full, np.log([value for _, value in seen])
    terms = np.vander(shares - SHARE, 3)
    best, *_ = np.linalg.lstsq(terms, logs, rcond=None)
    left = logs - terms @ best
    free = len(seen) - 3
    covariance = np.linalg.inv(terms.T @ terms) * float(left @ left) / free
    grid = np.linspace(*CROSSING, 401)
    above = np.polyval(best, grid - SHARE) > math.log(limit_s)
    k = int(above.argmax())
    if k == 0 or not above[k]:
        return None, None
    at = np.array([(grid[k] - SHARE) ** 2, grid[k] - SHARE, 1.0])
    steepness = 2 * best[0] * (grid[k] - SHARE) + best[1]
    error = float(stats.t.ppf((1 + LEVEL) / 2, free) * np.sqrt(at @ covariance @ at) / abs(steepness) / grid[k])
    return (float(grid[k] * full), error) if error <= LEAST_KNOWN else (None, error)


def longer_truth(row: dict[str, Any], out: Path) -> dict[str, Any]:
    """The row of a service whose truth was not known, with that of six runs more, three times as long, none chosen by the answer."""
    service, folder, full = SERVICES[row["service"]], out / row["service"], row["saturation"]
    more: dict[str, Any] = {"insecure": True} if service.tls else {}
    seed = sum(row["service"].encode()) + 1
    limit_s = float(row["objective"].split("<")[1].removesuffix("ms")) / 1e3
    seen = []
    for path in sorted(folder.glob("truth-*")):
        (run,) = run_folders([path])
        seen.append(_figure(sj.RunFolder.open(run), service.figure))
    port = PORT + list(SERVICES).index(row["service"])
    with beside(row["beside"]), running(service, folder / "service-again", port) as url:
        for share in random.Random(seed).sample(SHARES, len(SHARES)):
            load = {"rates_per_s": [share * full], "duration_s": 3 * RUN_S, "seed": seed + round(share * full)}
            seen.append(_measured(url, folder / f"longer-{share * full:.4g}", service.figure, more, **load))
    truth, error = _crossing(seen, limit_s, full)
    return {**row, "truth": truth, "truth_error": error, **_judged(truth, error, row["low"], row["high"])}


def _judged(truth: float | None, error: float | None, low: float | None, high: float | None) -> dict[str, bool | None]:
    if truth is None or error is None or low is None or high is None:
        return {"inside": None, "touches": None}
    return {"inside": low <= truth <= high, "touches": low <= truth * (1 + error) and truth * (1 - error) <= high}


def _asked(url: str, objective: str, out: Path, tls: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "sojourn", "capacity", url, "--objective", objective, "--within", WITHIN]
    command += ["--json", "--out", str(out), *(["--insecure"] if tls else [])]
    for _ in range(WAITS):  # it goes on with the runs that it has
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != Busy.exit_code:
            break
        time.sleep(1)
    (out.parent / "capacity.log").write_text(done.stdout + done.stderr)
    told = json.loads(done.stdout) if done.stdout.startswith("{") else {"why": done.stderr.strip().split("\n")[-1]}
    return {**told, "wall_s": time.monotonic() - began, "exit": done.returncode}


def summary(file: Path) -> str:
    """A row a service, those outside first, and what is asked of all."""
    frame = pl.read_csv(file, infer_schema_length=None)
    lines = [
        "| service | beside | objective | truth | told | half-width | inside | highest rate | runs | took |",
        "|---|" + "---|" * 9,
    ]
    for one in sorted(
        frame.to_dicts(), key=lambda one: (one["answered"], one["inside"] is not False, one["inside"] is not None)
    ):
        truth = f"{one['truth']:.4g} ± {one['truth_error']:.1%}" if one["truth"] else "not known"
        told = f"{one['value']:.4g} ({one['low']:.4g} to {one['high']:.4g})" if one["answered"] else "no answer"
        inside = {True: "yes", False: "no, touches" if one["touches"] else "no", None: "not judged"}[one["inside"]]
        width = f"{one['half_width']:.1%}" if one["answered"] else ""
        lines.append(
            f"| {one['service']} | {'yes' if one['beside'] else 'no'} | {one['objective']} | {truth} | {told} | {width} | {inside} | "
            f"{one['most']:.2f} | {one['runs']} | {one['took_s']:.0f} s |"
        )
    rows = frame.to_dicts()  # a column may be empty, and has no type then
    good = [one for one in rows if one["answered"]]
    judged = [one for one in good if one["inside"] is not None]
    inside, touched = (sum(one[name] for one in judged) for name in ("inside", "touches"))
    level = stats.binomtest(inside, max(len(judged), 1)).proportion_ci(LEVEL, "wilson")
    width = np.median([one["half_width"] for one in good]) if good else math.nan
    lines.append(
        f"\n{len(good)} of {len(rows)} answered; truth inside in {inside} of {len(judged)} judged "
        f"({level.low:.0%} to {level.high:.0%}, Wilson, {LEVEL:.0%}), touched in {touched}; half-width {width:.1%} (median); at most "
        f"{frame['took_s'].max():.0f} s and {frame['runs'].max()} runs; highest rate {frame['most'].max():.2f} of saturation"
    )
    return "\n".join(lines)


def main(names: Sequence[str], out: Path, other: bool) -> None:
    file = out / "raw.csv"
    done = (
        set(pl.read_csv(file, infer_schema_length=None).select("service", "beside").rows()) if file.exists() else set()
    )
    for name in names:
        if (name, other) in done:
            continue
        if shutil.which(SERVICES[name].needs) is None:
            print(f"{name}: left out, {SERVICES[name].needs} is not installed", flush=True)
            continue
        began = time.monotonic()
        try:
            found = run(name, out, other)
        except (SojournError, OSError, subprocess.SubprocessError) as error:
            print(f"{name}: {error}", flush=True)
            continue
        new = not file.exists()
        with open(file, "a", newline="") as opened:
            writer = csv.DictWriter(opened, list(found), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in found.items()})
        told = {k: found[k] for k in ("truth", "truth_error", "value", "low", "high", "inside", "runs", "took_s")}
        print(f"{name}: {time.monotonic() - began:.0f} s {told}", flush=True)
    if file.exists():
        print(summary(file))


def again(out: Path, names: Sequence[str]) -> None:
    """Rows of `raw.csv` whose truth is not known, with more runs."""
    rows = pl.read_csv(out / "raw.csv", infer_schema_length=None).to_dicts()
    for k, row in enumerate(rows):
        if row["truth"] is None and (not names or row["service"] in names):
            rows[k] = longer_truth(row, out)
            print(
                {name: rows[k][name] for name in ("service", "truth", "truth_error", "low", "high", "inside")},
                flush=True,
            )
            pl.DataFrame(rows, infer_schema_length=None).write_csv(out / "raw.csv")
    print(summary(out / "raw.csv"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="; ".join(SERVICES))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--beside", action="store_true", help="beside a process that computes for half of the time")
    parser.add_argument(
        "--longer-truth", type=Path, help="a folder with raw.csv: longer runs where the truth is not known"
    )
    parser.add_argument("--summary", type=Path, help="a folder with raw.csv: only the table")
    given = parser.parse_args()
    if given.longer_truth is not None:
        again(given.longer_truth.resolve(), given.names)
    elif given.summary is not None or given.out is None:
        print(summary((given.summary or Path()) / "raw.csv"))
    else:
        main(given.names or list(SERVICES), given.out.resolve(), given.beside)
