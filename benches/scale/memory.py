"""CPU time and peak memory of what reads all requests of a run, of another checkout in turn; whether both say the same.

    python benches/scale/memory.py --beside OTHER/python --out benches/scale/DATE [--rounds 5] [--requests 9600000] [--only observe]

`end of a run`: 60 s at 20 000/s, as the generator leaves them (`growth.END`). `fit`: three runs, so many requests in all. `observe`: as
many as CSV, in a hundred windows. `query`: one run of as many, asked for its p99 and its share of failures, and for the number present.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from growth import END, ONE, SOJOURN, made

ENDED = 1_200_000
ASKED = "p99 < 500ms and errors < 1%"
STATES = "mean(n()) < 5 and probability({n() >= 20}) < 5%"
Command = Callable[[Path], list[str]]  # where what it writes goes → its words


def commands(folder: Path, requests: int, only: str) -> dict[str, Command]:
    """Those with `only` in their name; what they read is made first."""
    log, runs, lines, free = folder / "log", folder / "runs", folder / "lines.csv", folder / "free.toml"
    asked = folder / "asked"
    free.write_text(ONE.replace("page = 0.01", "page = { free = true }"))

    def end(out: Path) -> list[str]:
        shutil.copytree(log, out)
        return ["-c", END, str(out)]

    window = f"{requests / 8e3:g}s"
    every: dict[str, Command] = {
        "end of a run": end,
        "fit": lambda out: [*SOJOURN, "fit", str(runs), "--model", str(free), "--out", str(out / "fitted.toml")],
        "observe": lambda out: [
            *SOJOURN, "observe", str(lines), str(lines.with_suffix(".busy.csv")), "--window", window, "--out", str(out),
        ],
        "query": lambda out: [*SOJOURN, "query", ASKED, str(asked), "--json"],
        "query of states": lambda out: [*SOJOURN, "query", STATES, str(asked), "--json"],
    }  # fmt: skip
    found = {name: command for name, command in every.items() if only in name}
    if "end of a run" in found:
        made("log", log, ENDED)
    if "fit" in found:
        for rate in (40, 60, 80):
            made("run", runs / str(rate), requests // 3, rate)
    if any(name.startswith("query") for name in found):
        made("run", asked, requests, 80)
    if "observe" in found:
        made("lines", lines, requests)
    return found


def said(out: Path) -> str:
    """A hash of all numbers that were written: those of the folder's Metrics, of a fit, and of an answer."""
    files = sorted([*out.rglob("metrics.parquet"), *out.rglob("*.toml"), *out.rglob("answer.json")])
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=9_600_000)
    parser.add_argument("--beside", default="")
    parser.add_argument("--only", default="", help="commands with this in their name")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    codes = {"now": "", **({"before": asked.beside} if asked.beside else {})}
    rows: list[tuple[int, str, str, float, float, int, str]] = []
    with tempfile.TemporaryDirectory() as name:
        for command, words_of in commands(Path(name), asked.requests, asked.only).items():
            for round_ in range(asked.rounds):
                for which, code in codes.items():
                    out = Path(name, "out")
                    if command == "fit" or command.startswith("query"):
                        out.mkdir()
                    environment = os.environ | ({"PYTHONPATH": code} if code else {})
                    null, words = subprocess.DEVNULL, [sys.executable, *words_of(out)]
                    with Path(name, "printed").open("wb") as printed:
                        done = subprocess.Popen(words, stdout=printed, stderr=null, env=environment)
                        _, status, used = os.wait4(done.pid, 0)
                    if command.startswith("query"):
                        Path(name, "printed").rename(out / "answer.json")
                    cpu_s, code_ = used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status)
                    rows.append((round_, command, which, cpu_s, used.ru_maxrss / 1024, code_, said(out)))
                    print(*rows[-1], flush=True)
                    shutil.rmtree(out)
    for command in dict.fromkeys(row[1] for row in rows):
        alike = len({row[6] for row in rows if row[1] == command}) == 1
        for which in codes:
            of = [row for row in rows if row[1:3] == (command, which)]
            cpu_s, peak = statistics.median(row[3] for row in of), statistics.median(row[4] for row in of)
            print(
                f"{command:15} {which:7} {cpu_s:.2f} s CPU, {peak:.0f} MiB, {'the same' if alike else 'OTHER'} numbers"
            )
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        with (asked.out / "memory.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("round", "command", "which", "cpu_s", "peak_mib", "code", "numbers"))
            writer.writerows(rows)


if __name__ == "__main__":
    main()
