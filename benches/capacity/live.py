"""`sojourn capacity` on services that run here, each beside a truth that is measured apart.

    python benches/capacity/live.py --check --out FOLDER              builds each, starts it, asks for one page, stops it; no load
    python benches/capacity/live.py --out FOLDER [NAME …] [--seconds 4100]
    python benches/capacity/live.py --summary FOLDER

For each service, in the order of `live_services.py`: a closed loop of 64 users tells where it saturates; four runs of the truth, whose
figure at 75 % of that is the limit of the objective; `sojourn capacity` is asked with that limit and its default budget, `--within 3m`;
more runs of the truth: `truth.py` places them by the truth's runs alone and says where the figure crosses the limit. They end where that is
known to 2 %, or the service's part of the time that is left is over, but not before there are eight. So the answer's figures do not steer
them, but the time that its search takes limits how many there are.

An answer is a rate with an interval whose ends are both known and above 0. `inside`: it holds the middle of the truth's; `agrees`: the two
differ by less than both half-widths together (the root of their squares); `touches`: the intervals have a rate in common. If both held
as often as they say, and were independent, about 90 % would agree. That is rough: the truth's own interval holds in 82 % (`truth_level.py`;
lognormal times at one server 45 %, and 6.4 % too high), and both share the spell that the machine is in and what short runs miss.

FOLDER/raw.csv gets a row a service as soon as it is there, also where it failed: with the error's first line. A service that has a row is
left out, so that the same command goes on; one that failed is tried again only where it is named, and its last row counts.
FOLDER/NAME has the runs. Puts load on loopback for some three minutes a service; no service is begun that may not end within
--seconds. The table is printed at the end. --dry: runs of a second and no search, to see that nothing breaks; its figures are
worth nothing.
"""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from live_services import SERVICES, running  # type: ignore[import-not-found]
from live_table import is_answer, summary  # type: ignore[import-not-found]
from truth import FIRST, TruthRuns  # type: ignore[import-not-found]

import sojourn as sj
from sojourn.errors import Busy
from sojourn.query.objectives import judge, read_objectives

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from record import services_parser

USERS = 64
WAITS = 300  # for another measurement to end, s
HALF = (  # until its parent is gone
    "import os, sys, time\nwhile os.getppid() == int(sys.argv[1]):\n end = time.monotonic() + 0.05\n"
    " while time.monotonic() < end: pass\n time.sleep(0.05)"
)


NOT_JUDGED: dict[str, bool | None] = {"inside": None, "agrees": None, "touches": None}


class NoFigureError(OSError):
    """A run with too few answers."""


@dataclass(frozen=True)
class Plan:
    """Lengths in s of the closed loop and a run, that of the search (without one: ""); runs of a truth at least and at most; what a
    service takes at least, s."""

    closed_s: float = 4.0
    run_s: float = 5.0
    within: str = "3m"
    least: int = 8
    most: int = 40
    service_s: float = 140.0


DRY = Plan(1.0, 1.0, "", 5, 5, 0.0)


@contextmanager
def beside(wanted: bool) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", HALF, str(os.getpid())]) if wanted else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def run(name: str, out: Path, plan: Plan, until_s: float) -> dict[str, Any]:
    """A service: limit, truth, answer; the truth's runs go on until `until_s`, monotonic."""
    service, folder = SERVICES[name], out / name
    shutil.rmtree(folder, ignore_errors=True)
    with beside(service.beside), running(name, out, folder / "service") as url:

        def measured(called: str, duration_s: float, **load: Any) -> tuple[float, float]:
            more = {"insecure": True} if service.tls else {}
            given = {"duration_s": duration_s, "headers": service.headers, "seed": seed(name, called), **load, **more}
            return _measured(url, folder / called, service.figure, given)

        full, _ = measured("full", plan.closed_s, users=[USERS])
        runs = TruthRuns(full)

        def one_more(runs: TruthRuns, number: int) -> TruthRuns:
            with suppress(NoFigureError):
                return runs.with_run(*measured(f"truth-{number}", plan.run_s, rates_per_s=[runs.next_rate()]))
            return runs

        for number in range(len(FIRST)):
            runs = one_more(runs, number)
        runs = runs.limited()
        objective = f"{service.figure} < {runs.limit_s * 1e3:.4g}ms"
        found = _asked(url, objective, folder / "capacity", plan, name)
        for number in range(len(FIRST), plan.most):
            if number >= plan.least and (runs.enough() or time.monotonic() + plan.run_s > until_s):
                break
            runs = one_more(runs, number)
    truth = runs.crossing()
    rate = found.get("rate_per_s") or {}
    value, low, high = (rate.get(key) for key in ("value", "low", "high"))
    answered = is_answer(low, high)
    own, error = (truth.rate_per_s, truth.half_width) if truth.known else (None, None)
    most = max((one["rate_per_s"] for one in found.get("runs", ())), default=0.0)
    return {
        "service": name, "beside": service.beside, "objective": objective, "saturation": full,
        "truth": own, "truth_error": truth.half_width, "truth_runs": len(runs.rates),
        "value": value, "low": low, "high": high, "half_width": (high - low) / 2 / value if answered else None, "answered": answered,
        **(_judged(own, error, value, low, high) if answered else NOT_JUDGED),
        "told_saturation": (found.get("saturation_per_s") or {}).get("value"), "most": most / full,
        "runs": len(found.get("runs", ())), "requests": found.get("requests"), "took_s": found["wall_s"], "exit": found["exit"],
        "limits": (found.get("limit") or {}).get("text"), "model": found.get("model"), "stopped": found.get("stop_reason"),
        "notes": " | ".join([*found.get("notes", ()), found.get("no_answer_reason") or ""]),
        "failed": None,
    }  # fmt: skip


def seed(name: str, called: str) -> int:
    """Of a run, so that it repeats and no two of a service have the same arrivals."""
    return zlib.crc32(f"{name} {called}".encode())


def _measured(url: str, out: Path, figure: str, given: dict[str, Any]) -> tuple[float, float]:
    """As `measure`, as soon as nobody else measures here: the rate that came, 1/s, and the figure, s."""
    for _ in range(WAITS):
        try:
            (folder,) = sj.measure(url, out, **given)
            break
        except Busy:
            time.sleep(1)
    (found,) = judge(folder, read_objectives([f"{figure} < 1s"]), whole=False)
    if found["value"] is None:
        raise NoFigureError(f"no {figure} in {folder.path}")
    return float(folder.metrics().value("throughput")), float(found["value"])


def _judged(truth: float | None, error: float | None, value: float, low: float, high: float) -> dict[str, bool | None]:
    if truth is None or error is None:
        return NOT_JUDGED
    own = (high - value if truth > value else value - low) / value
    return {
        "inside": low <= truth <= high,
        "agrees": abs(truth / value - 1) <= math.hypot(own, error),
        "touches": low <= truth * (1 + error) and truth * (1 - error) <= high,
    }


def _asked(url: str, objective: str, out: Path, plan: Plan, name: str) -> dict[str, Any]:
    if not plan.within:
        return {"wall_s": 0.0, "exit": 0}
    service = SERVICES[name]
    command = [sys.executable, "-m", "sojourn", "capacity", url, "--objective", objective, "--within", plan.within]
    command += ["--json", "--out", str(out), *(["--insecure"] if service.tls else [])]
    command += [word for key, value in service.headers for word in ("--header", f"{key}: {value}")]
    for _ in range(WAITS):  # it goes on with the runs that it has
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != Busy.exit_code:
            break
        time.sleep(1)
    (out.parent / "capacity.log").write_text(done.stdout + done.stderr)
    told = (
        json.loads(done.stdout)
        if done.stdout.startswith("{")
        else {"no_answer_reason": done.stderr.strip().split("\n")[-1]}
    )
    return {**told, "wall_s": time.monotonic() - began, "exit": done.returncode}


def main(names: Sequence[str], out: Path, plan: Plan, seconds: float, again: bool) -> None:
    """Rows of the services that have none, as long as there is time; `again`: also of those that failed."""
    file, end_s = out / "raw.csv", time.monotonic() + seconds
    there = {row["service"] for row in _rows(file) if not (again and row.get("failed"))}
    wanted = [name for name in names if name not in there]
    for number, name in enumerate(wanted):
        began = time.monotonic()
        if end_s - began < plan.service_s:
            print(f"{name} and those after it: not begun, the time is up", flush=True)
            break
        if shutil.which(SERVICES[name].needs) is None:
            print(f"{name}: left out, {SERVICES[name].needs} is not installed", flush=True)
            continue
        try:
            found = run(name, out, plan, began + (end_s - began) / (len(wanted) - number))
        except Exception as error:  # one service must not end the bench, and counts
            traceback.print_exc()
            _append(file, _failed(name, error))
            continue
        _append(file, found)
        told = {key: found[key] for key in ("truth", "truth_error", "value", "low", "high", "inside", "runs", "took_s")}
        print(f"{name}: {time.monotonic() - began:.0f} s {told}", flush=True)
    if file.exists():
        print(summary(file))


def _failed(name: str, error: Exception) -> dict[str, Any]:
    service, (said, *_) = SERVICES[name], [*str(error).splitlines(), ""]
    told = f"{type(error).__name__}: {said}".replace("|", "/")
    return {"service": name, "beside": service.beside, "objective": service.figure, "answered": False, "failed": told}


def _append(file: Path, found: dict[str, Any]) -> None:
    """One row more, with the columns of all."""
    rows = [*_rows(file), {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in found.items()}]
    part = file.with_suffix(".part")
    with open(part, "w", newline="") as opened:
        writer = csv.DictWriter(opened, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.rename(file)


def _rows(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    with open(file, newline="") as opened:
        return list(csv.DictReader(opened))


def check(names: Sequence[str], out: Path) -> None:
    """Whether each is built, starts, answers and stops."""
    for name in names:
        began = time.monotonic()
        try:
            with running(name, out, out / "check"):
                ready = time.monotonic()
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name}: {error}", flush=True)
            continue
        print(f"{name}: answers after {ready - began:.1f} s, stopped in {time.monotonic() - ready:.1f} s", flush=True)
    shutil.rmtree(out / "check", ignore_errors=True)


if __name__ == "__main__":
    parser = services_parser(SERVICES, 3100.0)
    parser.add_argument("--check", action="store_true", help="only builds, starts and stops each")
    parser.add_argument("--dry", action="store_true", help="runs of a second and no search, to see that nothing breaks")
    given = parser.parse_args()
    wanted, place = given.names or list(SERVICES), (given.out or given.summary or Path()).resolve()
    if given.check:
        check(wanted, place)
    elif given.summary is not None or given.out is None:
        print(summary(place / "raw.csv"))
    else:
        place.mkdir(parents=True, exist_ok=True)
        main(wanted, place, DRY if given.dry else Plan(), given.seconds, bool(given.names))
