"""Small services whose limit is known, each taken through `sojourn study` as a user would: predicted, then measured.

    python benches/services/run.py --out FOLDER [NAME …] [--again]

Each folder of tests/live/services has a study file and a model file. A study fits runs up to some 45 % of saturation, and
predicts more load and twice the workers; then as many users as keep it full tell where it saturates. `auto` is fitted to
the same runs, and judged by the same. Idle-priority spinners keep the cores awake (lab/quiet.py), because a virtual core
that was idle computes up to 1.5 times slower for a while; --asleep: without them. FOLDER gets the studies, raw.csv (a row a
predicted number) and summary.md. Puts load on loopback for some 100 s a service, on a machine that should do nothing else.
--again: only reads what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import polars as pl

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.fit.model_selection import choose_model
from sojourn.lab.cleanup_registry import CleanupRegistry
from sojourn.lab.spinners import Spinners
from sojourn.runs.run_folder import RunFolder, run_folders
from sojourn.table import Metrics

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from record import describe

SERVICES = Path(__file__).resolve().parents[2] / "tests/live/services"
USERS = 64  # of the runs that tell where it saturates
LEVEL = 0.90
NEEDS_NGINX = ("proxied", "static")
TRUTH = {  # what limits the service, at the loads that are predicted
    "constant": "workers that wait", "exponential": "workers that wait", "proxied": "workers that wait", "cores": "one thread",
    "database": "a lock", "threads": "a lock (the interpreter's)", "pauses": "workers that wait", "pool": "connections",
    "two-pages": "workers that wait", "cache": "workers that wait", "static": "cores",
}  # fmt: skip
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="folders of tests/live/services; default: all")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--again", action="store_true", help="only reads the runs that are there")
    parser.add_argument("--measure", action="store_true", help="only runs, and tells nothing")
    parser.add_argument("--asleep", action="store_true", help="without spinners")
    given = parser.parse_args()
    names = given.names or sorted(path.parent.name for path in SERVICES.glob("*/study.toml"))
    if not given.again:
        with spinners() if not given.asleep else nullcontext():
            for name in names:
                run(name, given.out)
    if given.measure:
        return
    found = [row for name in names for row in rows(given.out / name)]
    frame = pl.DataFrame(found, infer_schema_length=None)
    frame.write_csv(given.out / "raw.csv", float_precision=6)
    pl.DataFrame([row for name in names for row in run_rows(given.out / name)], infer_schema_length=None).write_csv(
        given.out / "runs.csv", float_precision=7
    )
    describe(given.out, {"nginx": nginx_version})
    text = summary(frame) + limits(names, given.out)
    (given.out / "summary.md").write_text(text)
    print(text)


@contextmanager
def spinners() -> Iterator[None]:
    token = secrets.token_hex(3)
    book = CleanupRegistry(token)
    try:
        held = Spinners(book, token, sorted(os.sched_getaffinity(0)))
        try:
            yield
        finally:
            held.close()
    finally:
        book.close()


def run(name: str, out: Path) -> None:
    """The study as it stands, and then the same service kept full, in OUT/NAME."""
    here = out / name
    here.mkdir(parents=True)
    if name in NEEDS_NGINX and shutil.which("nginx") is None:
        (here / "refused.txt").write_text("skipped: nginx is not installed (tools/system-packages)\n")
        return
    for file in (*SERVICES.glob("*.py"), *SERVICES.glob("*.txt")):
        shutil.copy(file, out)
    shutil.copytree(SERVICES / name, here, dirs_exist_ok=True)
    if not _study(here / "study.toml", here / "study"):
        return
    (here / "full.toml").write_text(full((here / "study.toml").read_text()))
    _study(here / "full.toml", here / "full")


def _study(file: Path, out: Path) -> bool:
    command = [sys.executable, "-m", "sojourn", "study", str(file), "--out", str(out)]
    print("$", *command[2:], flush=True)
    began = time.monotonic()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    print(done.stderr, f"{time.monotonic() - began:.0f} s", flush=True)
    if done.returncode:
        (out.parent / "refused.txt").write_text(done.stderr.strip().splitlines()[-1] + "\n")
    return done.returncode == 0


def full(text: str) -> str:
    """The study with one section: each setting that it runs, with as many users as keep it full."""
    told = tomllib.loads(text)
    settings = [part.get("set", {}) for part in (*told["section"], *told["predict"])]
    each = {json.dumps(one, sort_keys=True): one for one in settings}.values()
    head = text.split("[[section]]", maxsplit=1)[0].replace('"6s"', '"4s"')
    parts = [
        f'[[section]]\nname = "full {number}"\nset = {{ {", ".join(f"{k} = {v}" for k, v in {**one, "users": USERS}.items())} }}\n'
        for number, one in enumerate(each, 1)
    ]
    return head + "\n".join(parts)


def rows(here: Path) -> list[Row]:
    """What was predicted beside what was measured, by the model of the file and by auto."""
    if (here / "refused.txt").exists():
        status = (here / "refused.txt").read_text().strip()
        return [{"service": here.name, "model": "hand", "asked": "all", "metric": "refused", "status": status}]
    if not (here / "full/runs").is_dir():
        return [
            {
                "service": here.name,
                "model": "hand",
                "asked": "all",
                "metric": "refused",
                "status": "cut off before its end",
            }
        ]
    told = json.loads((here / "study/predictions.json").read_text())
    runs = [RunFolder.open(path) for path in run_folders([here / "study/runs", here / "full/runs"])]
    ramp = [run for run in runs if run.manifest["section"] == "ramp"]
    points = [one["factors"] for one in told["configurations"]]
    by_hand = [row | one["factors"] for one in told["configurations"] for row in one["rows"]]
    try:
        chosen = choose_model(sj.fit.observe_runs(ramp))
        (here / "auto.txt").write_text(f"{chosen.why}\n{chosen.best}\n")
        by_auto = [row for point in points for row in _predicted(chosen, point)]
    except SojournError as error:
        (here / "auto.txt").write_text(f"{error}\n")
        by_auto = []
    return [
        row
        for model, answers in (("hand", by_hand), ("auto", by_auto))
        for row in _judged(here.name, model, answers, points, runs)
    ]


def run_rows(here: Path) -> list[Row]:
    """A row a run: what was asked, what was measured, whether it is valid."""
    folders = [path for path in (here / "study/runs", here / "full/runs") if path.is_dir()]
    found = []
    for run in [RunFolder.open(path) for path in run_folders(folders)] if folders else []:
        frame = run.frame("metrics")
        known = {} if frame is None else {
            (row["station"], row["metric"]): row["value"] for row in frame.filter(pl.col("class") == "", pl.col("q").is_null()).to_dicts()
        }  # fmt: skip
        factors = {k: v for k, v in run.manifest["factors"].items() if k not in ("rate_per_s", "users", "think_s")}
        found.append({
            "service": here.name, "section": run.manifest["section"], "setting": ", ".join(f"{k} {v}" for k, v in factors.items()),
            "rate_per_s": run.manifest["factors"].get("rate_per_s"), "users": run.manifest["factors"].get("users"),
            "throughput_per_s": known.get(("", "throughput")), "response_s": known.get(("", "response_time")),
            "cpu_utilisation": known.get(("cpu", "utilisation")), "cpu_demand_s": known.get(("cpu", "service_demand")),
            "valid": run.manifest["valid"], "reasons": "; ".join(run.manifest["reasons"]),
        })  # fmt: skip
    return found


def nginx_version() -> str | None:
    found = shutil.which("nginx")
    return None if found is None else subprocess.run([found, "-v"], capture_output=True, text=True).stderr.strip()


def _predicted(chosen: Any, point: Row) -> list[Row]:
    try:
        return list(chosen.best.predict(point, LEVEL).frame.iter_rows(named=True))
    except SojournError as error:
        return [{"metric": "refused", "status": str(error), **point}]


def _judged(service: str, model: str, answers: list[Row], points: list[Row], runs: list[RunFolder]) -> list[Row]:
    found, limits = [], set()
    for point in points:
        settings = {k: v for k, v in point.items() if k != "rate_per_s"}
        named = ", ".join(f"{k} {v:g}" for k, v in settings.items())
        for row in answers:
            if any(row.get(k) != v for k, v in point.items()) or row.get("station") or row.get("class"):
                continue
            if row["metric"] == "response_time":
                run = next(r for r in runs if r.manifest["factors"] == point)
                found.append(
                    _row(service, model, f"{named}, {point['rate_per_s']:g}/s", row, _value(run, row["metric"]), run)
                )
            elif row["metric"] == "saturation_rate" and named not in limits:
                run = next(r for r in runs if r.manifest["factors"].items() >= (settings | {"users": USERS}).items())
                found.append(_row(service, model, f"{named}, saturation", row, _value(run, "throughput"), run))
                limits.add(named)
            elif row["metric"] == "refused":
                found.append(
                    {"service": service, "model": model, "asked": named, "metric": "refused", "status": row["status"]}
                )
    return found


def _value(run: RunFolder, metric: str) -> float:
    return Metrics.read(run.path / "metrics.parquet").value(metric)


def _row(service: str, model: str, asked: str, row: Row, measured: float, run: RunFolder) -> Row:
    value, low, high = row["value"], row["low"], row["high"]
    held = None if low is None else low <= measured and (high is None or measured <= high)
    return {
        "service": service, "model": model, "asked": asked, "metric": row["metric"], "predicted": value, "low": low,
        "high": high, "status": row["status"], "measured": measured,
        "error": None if value is None else value / measured - 1, "inside": held, "valid": run.manifest["valid"],
        "reasons": "; ".join(run.manifest["reasons"]),
    }  # fmt: skip


def limits(names: list[str], out: Path) -> str:
    """What the laws say is the limit (`sojourn.diagnosis`), of the runs at the first setting; and what auto says of itself."""
    lines = [
        "\n## The limit, by laws, and what auto says\n",
        "| service | in truth | by laws | auto |",
        "|---|---|---|---|",
    ]
    for name in names:
        if not (out / name / "auto.txt").exists():
            continue
        runs = [RunFolder.open(path) for path in run_folders([out / name / "study/runs"])]
        ramp = next(run for run in runs if run.manifest["section"] == "ramp")
        first = {k: v for k, v in ramp.manifest["factors"].items() if k != "rate_per_s"}
        found = sj.diagnose([run for run in runs if run.manifest["factors"].items() >= first.items()])
        told = "; ".join(one.sentence for one in found.values())
        said = (out / name / "auto.txt").read_text().splitlines()
        words = [said[0], *(line.strip() for line in said if "saturate between" in line or "in all runs" in line)]
        lines.append(f"| {name} | {TRUTH[name]} | {told} | {'. '.join(words)} |")
    return "\n".join(lines) + "\n"


def summary(frame: pl.DataFrame) -> str:
    """The table, and what is counted in it, by model."""
    lines = [f"Predicted with {LEVEL:.0%} intervals, then measured.\n"]
    for model in ("hand", "auto"):
        rows = frame.filter(pl.col("model") == model)
        lines += [f"\n## {'The model of the file' if model == 'hand' else 'auto'}\n", *_counts(rows), ""]
        lines += ["| service | asked | predicted | measured | error | inside |", "|---|---|---|---|---|---|"]
        lines += [_line(row) for row in rows.iter_rows(named=True)]
    return "\n".join(lines) + "\n"


def _counts(rows: pl.DataFrame) -> list[str]:
    if "inside" not in rows.columns:
        return ["Nothing was predicted."]
    known = rows.filter(pl.col("inside").is_not_null(), pl.col("valid"))
    lines = [f"{known['inside'].sum()} of {known.height} measured values of valid runs lie inside."]
    for metric in ("response_time", "saturation_rate"):
        false_saturation = pl.when(pl.col("predicted").is_null()).then(float("inf")).otherwise(pl.col("error").abs())
        errors = known.filter(pl.col("metric") == metric).select(error=false_saturation)["error"]
        lines.append(f"Median error of {metric.replace('_', ' ')}: {errors.median() or 0:.1%} of {len(errors)}.")
    return lines


def _line(row: Row) -> str:
    if row["metric"] == "refused":
        return f"| {row['service']} | {row['asked']} | {row['status']} | | | |"
    scale, unit = (1e3, " ms") if row["metric"] == "response_time" else (1.0, "/s")
    told = "saturated" if row["predicted"] is None else f"{row['predicted'] * scale:.3g}"
    if row["low"] is not None:
        told += f" ({row['low'] * scale:.3g} … {'∞' if row['high'] is None else format(row['high'] * scale, '.3g')})"
    held = {True: "yes", False: "**no**", None: "–"}[row["inside"]]
    error = "" if row["error"] is None else f"{row['error']:+.1%}"
    note = "" if row["valid"] else " (run not valid)"
    return f"| {row['service']} | {row['asked']} | {told}{unit} | {row['measured'] * scale:.3g}{unit}{note} | {error} | {held} |"


if __name__ == "__main__":
    main()
