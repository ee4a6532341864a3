"""Policies beside the live waiting page, and what the model said beforehand: `python benches/control/live.py predict|repeat N|summary`,
and one cell with further seeds, each predicted for its own arrivals first: `live.py cell LOAD POLICY FIRST LAST` (28 s a seed).

DATE-live/prediction.csv is written first, from the model alone (M/M/m, 50 ms, 100 seeds of other arrivals). `repeat N` then runs all
policies on all loads once, in an order of its own, each on a fresh service, in under 240 s, and adds to raw.csv. Loads are those
of run.py, thirty times (flash: fifteen) as fast, of 24 s, at a mean of 10 to 14 erlangs, and periods are shorter. Arrivals are open,
Poisson by the loads' rates; a response is from when a request was due to the last byte of its answer, and one that failed is late. Cost:
servers set, and those that end their last request, over the length of the load, as the service counts them.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
import threading
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.control import GuardRails, Hpa, Load, ModelPolicy, SquareRoot, made, simulate
from sojourn.control.decision import Decide
from sojourn.control.figures import ControlMetrics
from sojourn.control.live import run_live
from sojourn.control.live_log import LiveLog
from sojourn.control.live_metrics import LiveMetrics
from sojourn.control.policy_file import Policy
from sojourn.lab.worker_process import WorkerProcess
from sojourn.live_service.control_socket import SocketActuator
from sojourn.runs.record_logs import read_log

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from record import describe  # noqa: E402

SERVICE_S, LIMIT_S, START, MOST, PERIOD_S, LEASE_S = 0.05, 0.3, 14, 40, 0.5, 2.0
LENGTH_S, MEAN_PER_S = 24, 200.0
FROM_S = {"sine": 0, "step": 150, "flash": 540}
FAST = {"sine": 30, "step": 30, "flash": 15}
RAILS = GuardRails(least=1, most=MOST)
DOWN = {"stabilisation_s": 2, "policies": [{"kind": "percent", "value": 100, "period_s": 1}]}
POLICIES: dict[str, Decide] = {
    "model": ModelPolicy(service_s=SERVICE_S, limit_s=LIMIT_S, period_s=PERIOD_S, span_s=2.5, hold_s=3, most=MOST),
    "hpa at 0.7": Hpa.model_validate({"target": 0.7, "period_s": PERIOD_S, "most": MOST, "down": DOWN}),
    "square-root": SquareRoot(beta=2, service_s=SERVICE_S, period_s=PERIOD_S),
}
FOLDER = HERE / (time.strftime("%Y-%m-%d") + "-live")


def load(name: str) -> Load:
    rates = made(name, MEAN_PER_S).rates_per_s[FROM_S[name] :: FAST[name]][:LENGTH_S]
    return Load(name, rates)


def simulated(policy: str, of: Load, seed: int) -> ControlMetrics:
    pool = sj.Model(
        stations=[sj.Queue("pool", servers=START)],
        classes=[sj.Open("request", rate_per_s=MEAN_PER_S)],
        service_s={"pool": {"request": SERVICE_S}},
    )
    return simulate(POLICIES[policy], pool, of, seed, rails=RAILS, period_s=PERIOD_S).figures


def predict() -> None:
    rows = []
    for name in FROM_S:
        for policy in POLICIES:
            runs = [simulated(policy, load(name), seed) for seed in range(100, 200)]
            late, cost = [one.late_requests for one in runs], [one.core_hours * 3600 for one in runs]
            rows.append({
                "load": name, "policy": policy, "late": mean(late), "late_sd": stdev(late), "core_s": mean(cost), "core_sd": stdev(cost),
                "changes": mean(one.changes for one in runs),
            })  # fmt: skip
    describe(FOLDER, {})
    with open(FOLDER / "prediction.csv", "x", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def repeat(number: int) -> None:
    if not (FOLDER / "prediction.csv").exists():
        sys.exit("live.py: no prediction yet; run live.py predict first")
    tasks = [(name, policy) for name in FROM_S for policy in POLICIES]
    random.Random(number).shuffle(tasks)
    for name, policy in tasks:
        with tempfile.TemporaryDirectory() as folder:
            row = {"repeat": number, "load": name, "policy": policy, **run(name, policy, number, Path(folder))}
        path = FOLDER / "raw.csv"
        new = not path.exists()
        with open(path, "a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)
        print(row, flush=True)


def cell(name: str, policy: str, first: int, last: int) -> None:
    """Adds to cell.csv: a seed's late requests, and of 200 simulated runs with its arrivals and other service times."""
    for seed in range(first, last + 1):
        same = _SameArrivals(load(name), seed)
        said = [simulated(policy, same, 1000 + k).late_requests for k in range(200)]
        with tempfile.TemporaryDirectory() as folder:
            late = run(name, policy, seed, Path(folder))["late"]
        below = mean(one <= late for one in said)
        row = {
            "load": name,
            "policy": policy,
            "seed": seed,
            "late": late,
            "said": mean(said),
            "said_sd": stdev(said),
            "below": below,
        }
        path = FOLDER / "cell.csv"
        new = not path.exists()
        with open(path, "a", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)
        print(row, flush=True)


class _SameArrivals(Load):
    """A load whose arrivals are those of one seed, whatever the seed of the service times."""

    def __init__(self, of: Load, seed: int) -> None:
        super().__init__(of.name, of.rates_per_s, of.step_s, of.stalls)
        object.__setattr__(self, "_arrivals_s", of.arrivals_s(seed))

    def arrivals_s(self, seed: int) -> Any:
        return self._arrivals_s


def run(name: str, policy: str, seed: int, folder: Path) -> dict[str, Any]:
    socket = str(folder / "control")
    service = {"kind": "exponential", "mean": SERVICE_S}
    backend = {"service": service, "safe": {"workers": START, "cap": 100_000}, "control": socket}
    web = {"listen": ["127.0.0.1:0"], "cores": [0], "leading": [0], "pinned": False, "seed": seed, "backend": backend}
    page = WorkerProcess("web", {"network": None, "web": web})
    generator = None
    try:
        url = f"http://{page.ready()['addresses'][0]}"
        begin_s = time.monotonic() + 1.5
        lane = {
            "targets": [{"url": f"{url}/wait"}], "connections": 400,
            "arrivals": {"kind": "trace", "times_s": load(name).arrivals_s(seed).tolist()},
        }  # fmt: skip
        config = {"lanes": [lane], "duration_s": LENGTH_S, "seed": seed, "start_at_s": begin_s}
        generator = WorkerProcess("load", {"network": None, "load": config, "out": str(folder / "run")})
        source, actuator = LiveMetrics(url), SocketActuator(socket, "bench", LEASE_S)
        ours = Policy(policy, POLICIES[policy], f"p99 < {1e3 * LIMIT_S:g}ms", RAILS)
        log, counted = LiveLog(folder / "log"), {}

        def control() -> None:
            over_s = begin_s + LENGTH_S
            stopped = lambda: "the load is over" if time.monotonic() > over_s else ""  # noqa: E731
            counted["control"] = run_live(ours, source, actuator, log, stopped, period_s=PERIOD_S)

        time.sleep(max(begin_s - PERIOD_S - time.monotonic(), 0))
        beside = threading.Thread(target=control)
        beside.start()
        first, last = (reading(source, at) for at in (begin_s, begin_s + LENGTH_S))
        beside.join()
        summary = generator.finish(60)["summary"]
        rows, _ = read_log(folder / "run" / "requests.rec")
    finally:
        for one in (generator, page):
            if one:
                one.stop()
    late = late_share(rows)
    done, core_s = counted["control"], last.worker_seconds - first.worker_seconds
    return {
        "requests": len(rows), "late": late, "core_s": core_s, "changes": done.changes, "windows": done.windows,
        "troubled": done.troubled, "refused": done.refused, "failed": summary.get("failed"),
    }  # fmt: skip


def reading(source: LiveMetrics, at_s: float) -> Any:
    """The sums at `at_s`, by the servers of the moment after."""
    time.sleep(max(at_s - time.monotonic(), 0))
    found = source.read()
    return replace(found, worker_seconds=found.worker_seconds - (found.clock_seconds - at_s) * found.workers)


def late_share(rows: Any) -> float:
    took = (rows["done_s"] - rows["intended_s"]).to_numpy()
    return float(np.mean(~(took <= LIMIT_S) | (rows["status"].to_numpy() != 200)))


def summary() -> None:
    predicted = {
        (one["load"], one["policy"]): {key: float(one[key]) for key in SAID} for one in _rows("prediction.csv")
    }
    measured = _rows("raw.csv")
    repeats = max(int(row["repeat"]) for row in measured)
    live = {}
    lines = [
        "| load | policy | late, predicted | late, live | core-s, predicted | core-s, live | off |",
        "|" + "---|" * 7,
    ]
    for (name, policy), said in predicted.items():
        runs = [row for row in measured if (row["load"], row["policy"]) == (name, policy)]
        late, cost = (mean(float(row[key]) for row in runs) for key in ("late", "core_s"))
        live[name, policy] = {"late": late, "core_s": cost}
        spread = ", ".join(f"{100 * float(row['late']):.2f}" for row in runs)
        lines.append(
            f"| {name} | {policy} | {100 * said['late']:.2f} ± {100 * said['late_sd']:.2f} % | {100 * late:.2f} % ({spread}) "
            f"| {said['core_s']:.0f} | {cost:.0f} | {100 * (cost / said['core_s'] - 1):+.1f} % |"
        )
    late_off = sorted(abs(live[key]["late"] - said["late"]) for key, said in predicted.items())
    cost_off = max(abs(live[key]["core_s"] / said["core_s"] - 1) for key, said in predicted.items())
    right, pairs = _order(predicted, live, repeats)
    within = sum(off <= 0.01 for off in late_off)
    lines += [
        "", f"{right} of {pairs} pairs of policies that the prediction tells apart are in its order.",
        f"Late requests: {within} of {len(late_off)} within 1 point, at most {100 * late_off[-1]:.2f} points off.",
        f"Core-seconds at most {100 * cost_off:.1f} % off. Means of {repeats} repeats.",
    ]  # fmt: skip
    (FOLDER / "summary.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


SAID = ("late", "late_sd", "core_s", "core_sd")


def _order(predicted: Any, live: Any, repeats: int) -> tuple[int, int]:
    """Pairs on one load whose predictions differ by more than twice the standard error of their live difference: right, all."""
    right = pairs = 0
    for name in FROM_S:
        for one, other in combinations(POLICIES, 2):
            for key, sd in (("late", "late_sd"), ("core_s", "core_sd")):
                a, b = predicted[name, one], predicted[name, other]
                if abs(a[key] - b[key]) > 2 * ((a[sd] ** 2 + b[sd] ** 2) / repeats) ** 0.5:
                    pairs += 1
                    right += (a[key] < b[key]) == (live[name, one][key] < live[name, other][key])
    return right, pairs


def _rows(name: str) -> list[dict[str, str]]:
    with open(FOLDER / name, newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["summary"]
    does = {
        "predict": predict, "summary": summary, "repeat": lambda: repeat(int(rest[0])),
        "cell": lambda: cell(rest[0], rest[1], int(rest[2]), int(rest[3])),
    }  # fmt: skip
    does[what]()
