"""CPU time and peak memory of commands as what they work on grows, each in a process of its own, with the slope of a straight line.

    python benches/scale/growth.py [--out FOLDER] [--requests 100000,1000000,10000000] [--sizes 10,100,1000]

Requests are those of M/M/1 at 80 % (`many_requests.py`; a fit has three runs, at 40, 60 and 80 %). `end of a run` is what ends a measured
one: log to Parquet, window, Metrics, verdict; of more requests than two million the generator keeps a sample. `observe` reads them as CSV
with a series of utilisation, in a hundred windows.
Models: a tandem of so many stations, and so many classes at one processor-sharing station, open, at 80 %. Slopes by least squares
through the points, so that what a command costs without anything to do, mostly imports, is the intercept.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SOJOURN = ("-m", "sojourn")
MOST_SIMULATED, MOST_ROWS = 1_000_000, 2_000_000
# what ends a measured run: its log becomes Parquet, and it is judged
END = """
import json, sys
from pathlib import Path
from sojourn.cli.late_modules import import_late
import_late()
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.watched_resources import WatchedResources, demands
path = Path(sys.argv[1])
folder = RunFolder(path, json.loads((path / "manifest.json").read_text()) | {"status": "complete"})
from sojourn.runs.assess_run import conclude
conclude(folder)
demands(folder, WatchedResources(pids=(4711,)))
"""
ONE = '[stations.cpu]\nkind = "queue"\n[classes.page]\nkind = "open"\nrate_per_s = 80\n[service_s]\ncpu = { page = 0.01 }\n'


def tandem(stations: int) -> str:
    names = [f"s{i}" for i in range(stations)]
    heads = "".join(f'[stations.{name}]\nkind = "queue"\n' for name in names)
    times = "".join(f"{name} = {{ page = 0.01 }}\n" for name in names)
    visits = "".join(f"{name} = {{ page = 1 }}\n" for name in names)
    return f'{heads}[classes.page]\nkind = "open"\nrate_per_s = 80\n[service_s]\n{times}[visits]\n{visits}'


def many_classes(classes: int) -> str:
    heads = "".join(f'[classes.c{i}]\nkind = "open"\nrate_per_s = {80 / classes!r}\n' for i in range(classes))
    times = ", ".join(f"c{i} = 0.01" for i in range(classes))
    return f'[stations.cpu]\nkind = "queue"\ndiscipline = "ps"\n{heads}[service_s]\ncpu = {{ {times} }}\n'


def used(words: list[str]) -> tuple[float, float, int]:
    """CPU time, s, peak resident memory, MiB, and exit code."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, status, usage = os.wait4(done.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def made(kind: str, path: Path, count: int, rate_per_s: float = 80.0) -> Path:
    """In a process of its own: the memory of this one would be taken for that of what it starts."""
    words = [sys.executable, str(Path(__file__).with_name("many_requests.py")), kind, str(path), str(count)]
    subprocess.run([*words, str(rate_per_s)], check=True)
    return path


def jobs(folder: Path, requests: list[int], sizes: list[int]) -> Iterator[tuple[str, int, list[str]]]:
    """What is run: its name, how much it works on, the command."""
    model, free = folder / "one.toml", folder / "free.toml"
    model.write_text(ONE)
    free.write_text(ONE.replace("page = 0.01", "page = { free = true }"))
    for count in requests:
        if count <= MOST_SIMULATED:
            told = ["--until", f"{count / 80}s", "--out", str(folder / f"simulated-{count}")]
            yield "simulate --out", count, [*SOJOURN, "simulate", str(model), *told]
        rows = min(count, MOST_ROWS)  # of more requests the generator keeps a sample
        made("log", folder / f"log-{count}", rows)
        yield "end of a run", rows, ["-c", END, str(folder / f"log-{count}")]
        runs = [folder / f"runs-{count}" / f"{rate}" for rate in (40, 60, 80)]
        for run in runs:
            made("run", run, count // len(runs), float(run.name))
        whole = made("run", folder / f"run-{count}", count)
        lines = made("lines", folder / f"{count}.csv", count)
        fitted, seen = folder / f"{count}.toml", folder / f"seen-{count}"
        yield "query", count, [*SOJOURN, "query", "p99 < 500ms", str(whole)]
        yield "report", count, [*SOJOURN, "report", str(whole), "--out", str(folder / f"{count}.html")]
        yield (
            "fit, three runs",
            count,
            [*SOJOURN, "fit", str(runs[0].parent), "--model", str(free), "--out", str(fitted)],
        )
        yield (
            "observe",
            count,
            [
                *SOJOURN,
                "observe",
                str(lines),
                str(lines.with_suffix(".busy.csv")),
                "--window",
                f"{count / 8e3:g}s",
                "--out",
                str(seen),
            ],
        )
        for path in (*runs, whole):
            shutil.rmtree(path)
        lines.unlink()
    for size in sizes:
        for name, text in (("stations", tandem(size)), ("classes", many_classes(size))):
            path = folder / f"{name}-{size}.toml"
            path.write_text(text)
            yield f"solve, {name}", size, [*SOJOURN, "solve", str(path)]
            told = ["--until", "10s", "--replications", "1"]
            yield f"simulate 10 s, {name}", size, [*SOJOURN, "simulate", str(path), *told]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--requests", default="100000,1000000,10000000")
    parser.add_argument("--sizes", default="10,100,1000")
    asked = parser.parse_args()
    counts = [[int(one) for one in text.split(",")] for text in (asked.requests, asked.sizes)]
    rows: list[tuple[str, int, float, float, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, size, words in jobs(Path(folder), *counts):
            rows.append((name, size, *used(words)))
            print(*rows[-1], flush=True)
    for name in dict.fromkeys(row[0] for row in rows):
        points = np.array([row[1:4] for row in rows if row[0] == name and row[4] in (0, 3, 7)], float).reshape(-1, 3)
        if len(points) > 1:
            cpu, memory = (np.polyfit(points[:, 0], points[:, column], 1) for column in (1, 2))
            print(
                f"{name}: {cpu[1]:.2f} s + {cpu[0] * 1e6:.3g} us each; {memory[1]:.0f} MiB + {memory[0] * 1024:.3g} KiB each"
            )
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        with (asked.out / "growth.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("command", "size", "cpu_s", "peak_mib", "code"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
