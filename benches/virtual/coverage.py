"""Do the intervals of fitted parameters cover the truth at their level? Virtual hosts, many seeds, the whole path:
simulated run folders and the fit of `priority.toml`.

    python benches/virtual/coverage.py [--seeds 100] [--level 0.95] [--seconds 60] [--replications 2] [--workers N] [--out FOLDER] [host …]

Hosts: `one-core` and `all-lead` are what the priority variant describes exactly; they have no hand-off delay, which the
fit cannot know (it finds one of 0 or more: an estimate at a bound), and which `…-known` tells it; `trailing` sends
pages to cores without interrupts, which it approximates; `free` places pages by load, in turns of 4 ms with a cost for
each turn, which it does not have at all; `free-p` is the same with p estimated.

Prints, for each parameter, how many intervals cover the truth, with the band that a binomial count of that level has;
the mean error of the estimates; their spread over the seeds, and the mean width of the intervals in units of it: 3.9
where both are right at 95 %.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.runs.resources import add_resources
from sojourn.simulate.virtual_host import VirtualHost, host_placement, simulate_host, write_host_run
from sojourn_cases.web.interval_coverage import RecoveredParameter, covered
from sojourn_cases.web.model_files import fit_for, model_file
from sojourn_cases.web.web_shop import core_groups

HERE = Path(__file__).resolve().parent
SHARES = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8)  # of saturation, as in studies/web-virtual
REPLICATIONS = 2
# Chen et al.'s demands: mu1 = 3301/s, mu2 = 367/s and 300/s (Chen et al., section 4.3 and Table 2)
INTERRUPT = {"kind": "deterministic", "mean": 1 / 3301}
PAGE1, PAGE4 = ({"kind": "exponential", "mean": 1 / mu2} for mu2 in (367, 300))
FREE: dict[str, Any] = {
    "placement": {"policy": "least-loaded"},
    "threads_per_core": 0,
    "quantum_s": 4e-3,
    "switch_s": 2e-5,
}
HOSTS = {
    "one-core": VirtualHost(1, 1, INTERRUPT, PAGE1),
    "one-core-known": VirtualHost(1, 1, INTERRUPT, PAGE1),
    "all-lead": VirtualHost(4, 4, INTERRUPT, PAGE4),
    "all-lead-known": VirtualHost(4, 4, INTERRUPT, PAGE4),
    "trailing": VirtualHost(4, 1, INTERRUPT, PAGE4, crossing_s=1e-4),
    "free": VirtualHost(4, 1, INTERRUPT, PAGE4, crossing_s=1e-4, **FREE),
    "free-p": VirtualHost(4, 1, INTERRUPT, PAGE4, crossing_s=1e-4, **FREE),
}
GIVEN: dict[str, dict[str, float]] = {
    "one-core-known": {"stations.cpu.handoff_s": 0.0},
    "all-lead-known": {"stations.cpu.handoff_s": 0.0},
    "free-p": {"stations.cpu.p": sj.Unknown(0.5, 0.01, 1.0)},
}


def saturation_rate(host: VirtualHost) -> float:
    """The throughput of a closed loop of 64 users, as a study finds it, 1/s."""
    run = simulate_host(host, users=64, duration_s=100.0, seed=1)
    return float((run.requests["done_s"] <= 100.0).sum() / 100.0)


def one_seed(
    host: VirtualHost, most: float, seed: int, seconds: float, level: float, times: int, given: dict[str, float]
) -> list[RecoveredParameter]:
    """The parameters of one study: 6 runs, each `times`, and a fit."""
    with tempfile.TemporaryDirectory() as out:
        runs = []
        for replication in range(times):
            for share in SHARES:
                rate = share * most
                number = seed * 1000 + replication * 100 + round(100 * share)
                run = simulate_host(host, rate_per_s=rate, duration_s=seconds, seed=number)
                factors = {"cores": host.cores, "nics": host.nics, "rate_per_s": rate}
                folder = write_host_run(Path(out) / str(number), run, {"factors": factors})
                add_resources(folder, core_groups(host_placement(host.cores, host.nics)), factors)
                runs.append(folder)
        seen = sj.fit.observe_runs(runs)
    model = sj.replaced(fit_for(model_file("priority"), seen), given)
    return covered("", sj.fit(seen, model, level, seed), host)


def rows_of(name: str, most: float, seed: int, seconds: float, level: float, times: int) -> list[dict[str, Any]]:
    try:
        found = one_seed(HOSTS[name], most, seed, seconds, level, times, GIVEN.get(name, {}))
    except SojournError as error:
        return [{"host": name, "seed": seed, "parameter": "none", "error": str(error)}]
    return [
        {"host": name, "seed": seed, "parameter": p.name, "truth": p.truth, "value": p.value, "low": p.low,
         "high": p.high, "covered": int(p.covered)}
        for p in found
    ]  # fmt: skip


def bench(name: str, seeds: int, seconds: float, level: float, workers: int, times: int) -> list[dict[str, Any]]:
    most = saturation_rate(HOSTS[name])
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        jobs = [pool.submit(rows_of, name, most, seed, seconds, level, times) for seed in range(1, seeds + 1)]
        return [row for job in jobs for row in job.result()]


def summary(rows: list[dict[str, Any]], level: float) -> list[str]:
    """A line of a Markdown table for each parameter of each host."""
    lines = [
        "| host | parameter | truth, ms | covered | band | mean error | spread | width / spread |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for host, name in dict.fromkeys((row["host"], row["parameter"]) for row in rows):
        part = [row for row in rows if (row["host"], row["parameter"]) == (host, name)]
        if name == "none":
            lines.append(f"| {host} | no fit: {part[0]['error']} | | {len(part)} | | | | |")
            continue
        value, truth = np.array([row["value"] for row in part]), part[0]["truth"]
        width = np.mean([row["high"] - row["low"] for row in part])
        inside, spread = sum(row["covered"] for row in part), value.std(ddof=1)
        low, high = (int(k) for k in stats.binom.interval(0.95, len(part), level))
        unit = truth or 1e-3
        lines.append(
            f"| {host} | {name} | {1e3 * truth:.4g} | {inside} of {len(part)} | {low} to {high} | "
            f"{(value.mean() - truth) / unit:+.2%} | {spread / unit:.2%} | {f'{width / spread:.1f}' if spread else '-'} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="*", default=list(HOSTS))
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=HERE / time.strftime("%Y-%m-%d"))
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.hosts:
        rows += bench(name, given.seeds, given.seconds, given.level, given.workers, given.replications)
        print("\n".join(summary(rows, given.level)), flush=True)
        write(given, rows)


def write(given: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    with open(given.out / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, keys)
        writer.writeheader()
        writer.writerows(rows)
    head = [
        "# coverage",
        "",
        f"Intervals at {given.level:.0%}, {given.seeds} seeds, {len(SHARES)} rates x {given.replications} runs of "
        f"{given.seconds:g} s simulated. Error and spread of a delay whose truth is 0 are in per cent of 1 ms.",
        "",
    ]
    (given.out / "summary.md").write_text("\n".join([*head, *summary(rows, given.level)]) + "\n")
    machine = {"kernel": platform.release(), "cores": os.cpu_count(), "python": platform.python_version()}
    (given.out / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")


if __name__ == "__main__":
    main()
