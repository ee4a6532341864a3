"""All that `sojourn` was wanted to be fast at, beside its peers, in one go: `python benches/speed/run.py [--rows query,mva] [--rounds 5]`.

Each row is one work that tools take in turn, round after round: ours, others where they are installed (wrk, oha, wrk2, octave-cli,
DuckDB), and a bare program that does only the necessary. Medians go to benches/speed/DATE: machine.json, raw.csv, summary.md. All rows take
five minutes on two cores; the machine must have nothing else to do. `--list` names the rows.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import command_rows
import kernel_rows
import load_rows
from row import OURS, Figures, Row, Wanted

from sojourn.measure.cpu_time import cpu_time

HERE = Path(__file__).resolve().parent
ROWS = {**load_rows.ROWS, **kernel_rows.ROWS, **command_rows.ROWS}  # what others disturb most comes first
PEERS = ("wrk", "oha", "wrk2", "octave-cli")
OTHERS, STOLEN = "others_cores", "stolen_cores"
MOST = {OTHERS: 0.05, STOLEN: 0.02}  # of a core: a round with more was disturbed
Line = tuple[str, int, str, str, float]  # row, round, tool, figure, value


def measured(name: str, row: Row, rounds: int) -> list[Line]:
    """Every round of a row; what a tool that failed would have said is missing."""
    lines: list[Line] = []
    for round_ in range(-1 if row.warm else 0, min(rounds, row.rounds)):
        for tool, run in row.tools.items():
            since = CpuTimes.now()
            try:
                found = run()
            except (subprocess.CalledProcessError, OSError, KeyError, ValueError, IndexError) as error:
                print(f"{name}, {tool}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                continue
            if round_ >= 0:
                beside = since.disturbances()
                lines += [(name, round_, tool, figure, value) for figure, value in [*found.items(), *beside.items()]]
                told = ", ".join(f"{figure} {value:.4g}" for figure, value in found.items())
                print(f"{name} {round_} {tool}: {told}", file=sys.stderr, flush=True)
    return lines


@dataclass(frozen=True)
class CpuTimes:
    """At a moment: s that this process and what it started ran, that all processes ran on its cores, that the hypervisor took."""

    at_s: float
    own_s: float
    all_s: float
    stolen_s: float

    @classmethod
    def now(cls) -> CpuTimes:
        used = cpu_time([os.getpid()])
        stolen = int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")
        return cls(time.monotonic(), used.own_s, used.machine_s, stolen)

    def disturbances(self) -> Figures:
        """Cores that others used since then, and that the hypervisor took."""
        now = CpuTimes.now()
        over_s = max(now.at_s - self.at_s, 1e-9)
        others = (now.all_s - self.all_s - (now.own_s - self.own_s)) / over_s
        return {OTHERS: max(others, 0.0), STOLEN: (now.stolen_s - self.stolen_s) / over_s}


def disturbed(lines: list[Line]) -> list[str]:
    """Rounds in which somebody else ran, in words."""
    found = []
    for row, round_, tool, figure, value in lines:
        if figure in MOST and value > MOST[figure]:
            who = "others used" if figure == OTHERS else "the hypervisor took"
            found.append(f"- {row}, round {round_}, {tool}: {who} {value:.0%} of a core")
    return found


def medians(lines: list[Line], name: str) -> dict[str, Figures]:
    """Tool → figure → median of the rounds."""
    values: dict[str, dict[str, list[float]]] = {}
    for row, _, tool, figure, value in lines:
        if row == name and figure not in MOST:
            values.setdefault(tool, {}).setdefault(figure, []).append(value)
    return {tool: {figure: statistics.median(of) for figure, of in figures.items()} for tool, figures in values.items()}


def verdict(wanted: Wanted | None, figure: str, ours: float, found: Mapping[str, Figures]) -> tuple[str, str]:
    """What was wanted, and whether it is met."""
    if wanted is None:
        return "", ""
    most, told = wanted.most, f"≤ {wanted.most:g}"
    if wanted.beside:
        told += f" of {wanted.beside}"
        if figure not in found.get(wanted.beside, {}):
            return told, "not measured"
        most *= found[wanted.beside][figure]
        told += f" ({most:.3g})"
    return told, "yes" if ours <= most else "**no**"


def table(lines: list[Line], rows: Mapping[str, Row], rounds: int) -> str:
    text = [
        "# Speeds", "",
        f"Medians of {rounds} rounds, tools in turn; raw.csv has each. A figure's name ends in its unit; us: µs. Load average before and "
        "after: machine.json.", "",
        "| row | figure | sojourn | wanted | met | beside it |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name, row in rows.items():
        found = medians(lines, name)
        for figure, ours in found.get(OURS, {}).items():
            of = [value for row_, _, tool, one, value in lines if (row_, tool, one) == (name, OURS, figure)]
            others = [
                f"{tool} {figures[figure]:.3g}" for tool, figures in found.items() if tool != OURS and figure in figures
            ]
            told, met = verdict(row.wanted.get(figure), figure, ours, found)
            spread = f"{ours:.3g} ({min(of):.3g} to {max(of):.3g})" if len(of) > 1 else f"{ours:.3g}"
            text.append(f"| {name} | {figure} | {spread} | {told} | {met} | {'; '.join(others)} |")
    about = [f"- {name}: {row.about}" for name, row in rows.items()]
    said = disturbed(lines)
    head = f"Disturbed rounds ({MOST[OTHERS]:.0%} of a core by others, or {MOST[STOLEN]:.0%} by the hypervisor):"
    return "\n".join([*text, "", *about, "", *([head, "", *said] if said else ["No round was disturbed."]), ""])


def machine(loads: list[tuple[float, ...]], rounds: int, elapsed_s: float) -> dict[str, object]:
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    return {
        "kernel": platform.release(), "cores": os.cpu_count(), "python": platform.python_version(),
        "processor": models[0].split(":")[1].strip() if models else platform.machine(),
        "load_before": loads[0], "load_after": loads[-1], "rounds": rounds, "elapsed_s": round(elapsed_s),
        "peers": [peer for peer in PEERS if shutil.which(peer) or os.environ.get(peer.upper())],
    }  # fmt: skip


def write(folder: Path, lines: list[Line], rows: Mapping[str, Row], about: dict[str, object]) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "machine.json").write_text(json.dumps(about, indent=1) + "\n")
    with (folder / "raw.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("row", "round", "tool", "figure", "value"), *lines])
    text = table(lines, rows, int(str(about["rounds"])))
    (folder / "summary.md").write_text(text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", default="", help="some of them, with commas between")
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("ROUNDS", "5")))
    parser.add_argument("--out", type=Path, default=HERE / time.strftime("%Y-%m-%d"))
    parser.add_argument("--list", action="store_true", help="the rows, and nothing else")
    asked = parser.parse_args()
    names = asked.rows.split(",") if asked.rows else list(ROWS)
    if unknown := [name for name in names if name not in ROWS]:
        sys.exit(f"benches: no row {', '.join(unknown)}; there is {', '.join(ROWS)}")
    if asked.list:
        sys.exit("\n".join(ROWS))
    begun, loads = time.monotonic(), [os.getloadavg()]
    lines: list[Line] = []
    rows: dict[str, Row] = {}
    for name in (one for one in ROWS if one in names):
        since = time.monotonic()
        try:
            with tempfile.TemporaryDirectory() as folder, ROWS[name](Path(folder)) as row:
                rows[name] = row
                lines += measured(name, row, asked.rounds)
        except Exception as error:  # the other rows are worth having
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        print(f"{name}: {time.monotonic() - since:.0f} s", file=sys.stderr, flush=True)
        about = machine([*loads, os.getloadavg()], asked.rounds, time.monotonic() - begun)
        text = write(asked.out, lines, rows, about)  # after each row, so that a run that is cut off keeps the rest
    print(text)


if __name__ == "__main__":
    main()
