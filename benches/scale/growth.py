"""CPU time and peak memory of commands as what they work on grows, each in a process of its own, with the slope of a straight line.

    python benches/scale/growth.py [--out FOLDER] [--requests 100000,1000000] [--sizes 10,100,1000]

Run folders of so many requests come from the simulator (M/M/1 at 80 %); `judge` is what ends a measured run: window, Metrics, verdict.
Models: a tandem of so many stations, and so many classes at one processor-sharing station, open, at 80 %. Slopes by least squares
through the points, so that what a command costs without anything to do, mostly imports, is the intercept.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SOJOURN = ("-m", "sojourn")
JUDGE = """
import sys
from sojourn.runs.assess_run import assess
from sojourn.runs.run_folder import RunFolder
assess(RunFolder.open(sys.argv[1]))
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


def jobs(folder: Path, requests: list[int], sizes: list[int]) -> Iterator[tuple[str, int, list[str]]]:
    """What is run: its name, how much it works on, the command."""
    model = folder / "one.toml"
    model.write_text(ONE)
    for count in requests:
        run = folder / f"run-{count}"
        yield (
            "simulate --as-run",
            count,
            [*SOJOURN, "simulate", str(model), "--until", f"{count / 80}s", "--as-run", str(run)],
        )
        yield "judge", count, ["-c", JUDGE, str(run)]
        yield "query", count, [*SOJOURN, "query", "p99 < 500ms", str(run)]
        yield "report", count, [*SOJOURN, "report", str(run), "--out", str(folder / f"{count}.html")]
    for size in sizes:
        for name, text in (("stations", tandem(size)), ("classes", many_classes(size))):
            path = folder / f"{name}-{size}.toml"
            path.write_text(text)
            yield f"solve, {name}", size, [*SOJOURN, "solve", str(path)]
            yield (
                f"simulate 10 s, {name}",
                size,
                [*SOJOURN, "simulate", str(path), "--until", "10s", "--replications", "1"],
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--requests", default="100000,300000,1000000")
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
