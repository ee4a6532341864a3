"""A known service is measured (simulated), fitted and planned, many times: how often does each choice hold, and at what cost?

Two services. `one`: a station, p99. `two`: two stations in a row, mean. Each time: eight runs of the service at several cores
and rates, a fit, a plan for a load drawn at random, so that what a whole server leaves over is drawn too. Whether a choice
meets the objective is computed with the true demands, by Erlang's formula. What comes of it: misses of the point estimate (the
cheapest that meets the objective at the fitted values) and of least regret, extra cost of the second over the first, and the stated
chance of either beside how often it was true.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import sojourn as sj
from sojourn.errors import SojournError
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.solve.single.mmm import MMm
from sojourn.stats.batch_means import MACRO, standard_error

FITS, PROCESSES = 400, 2
# 5001 to 5400 and 6001 to 6500 judged this version, 1 to 1040 and 3001 to 3200 earlier ones; 2001 to 2040 showed why the first stated too
# little; 4001 to 4600 are those on which the posterior of the model's own error was chosen
FIRST_SEED = 7001
BY_STATED = (0.0, 0.6, 0.7, 0.8, 0.95, 1.01)
REQUESTS = (
    4000  # a run; of 600, with 40 in service, those that end in time are the short ones: demands came out 6 % too low
)
RUNS = ((20, 600.0), (24, 900.0), (28, 800.0), (40, 1400.0), (50, 1500.0), (60, 2000.0), (70, 2300.0), (80, 2500.0))
TEXT = """
[stations.cpu]
servers = 40
%s
[classes.user]
kind = "open"
rate_per_s = 1000.0
[demands_s]
cpu = { user = %s }
%s
[factors]
cores = "stations.cpu.servers"
%s
"""


@dataclass(frozen=True)
class Service:
    """`truth`: with its demands, `asked`: with unknowns."""

    truth: sj.Model
    asked: sj.Model
    vary: dict[str, list[int]]
    objective: str
    cost: str
    cpu_s: float
    db_s: float


def _model(cpu: str, db: str) -> sj.Model:
    two = ("[stations.db]\nservers = 20\n", f"db = {{ user = {db} }}", 'sessions = "stations.db.servers"')
    station, demand, factor = two if db else ("", "", "")
    return sj.Model.parse(TEXT % (station, cpu, demand, factor))


FREE = "{ free = true }"
SERVICES = {
    "one": Service(_model("0.02", ""), _model(FREE, ""), {"cores": list(range(26, 61))}, "p99 < 100ms", "cores", 0.02, 0.0),
    "two": Service(_model("0.02", "0.006"), _model(FREE, FREE), {"cores": list(range(28, 61)), "sessions": list(range(8, 21))},
                   "mean < 28ms", "cores + 2*sessions", 0.02, 0.006),
}  # fmt: skip


def simulated(service: Service, cores: int, rate: float, seed: int) -> FitRun:
    """One short run, as a run folder has it."""
    factors: dict[str, Any] = {"cores": cores, "rate_per_s": rate}
    if service.db_s:
        factors["sessions"] = max(8, min(20, round(rate * service.db_s / 0.7)))
    model = applied(service.truth, factors_of(service.truth, [factors, {**factors, "cores": 1}]), factors)
    m = sj.simulate(model, completions=REQUESTS, seed=seed, quantiles=(), max_wall_time_s=60)
    means = {}
    for metric in ("response_time", "throughput"):
        value, (low, high) = m.value(metric), m.interval(metric)
        means["", metric] = (
            value,
            0.05 if low is None or high is None else standard_error(low, high, batches=MACRO) / value,
        )
    servers = {"cpu": cores, "db": factors.get("sessions", 0)}
    busy = {s.name: m.value("utilisation", s.name) * servers[s.name] for s in model.stations}
    return FitRun(f"run-{seed}", factors, means, busy)


def holds(name: str, settings: dict[str, int], rate: float) -> bool:
    """Whether it is true, by Erlang's formula."""
    service = SERVICES[name]
    cpu = MMm(rate, service.cpu_s, settings["cores"])
    if name == "one":
        return bool(cpu.response_quantile(0.99)[0] < 0.1)
    return bool(cpu.response_s[0] + MMm(rate, service.db_s, settings["sessions"]).response_s[0] < 0.028)


def planned(name: str, seed: int) -> dict[str, Any]:
    """One fit and plan: what was chosen, what it said, whether it is true."""
    service = SERVICES[name]
    rate = float(np.random.default_rng([seed, 77]).uniform(1300, 2200))
    row: dict[str, Any] = {"service": name, "seed": seed, "rate_per_s": rate}
    try:
        runs = FitRuns([simulated(service, c, r, 100_000 * seed + i) for i, (c, r) in enumerate(RUNS)])
        model = sj.Model.parse(service.asked.to_toml())
        fitted = sj.fit(runs, model, seed=seed)
        found = sj.plan(fitted, service.vary, service.objective, service.cost, load=rate)
    except SojournError as error:
        return {**row, "refused": str(error)}
    for kind, one in (("point", found.cheapest), ("regret", found.least_mean_regret)):
        settings = {} if one is None else {k: int(v) for k, v in one.settings.items()}
        row |= {
            f"{kind}_cost": None if one is None else one.cost, f"{kind}_chance": None if one is None else one.share_of_draws_that_meet_it,
            f"{kind}_holds": None if one is None else holds(name, settings, rate),
        }  # fmt: skip
    return {**row, "refused": ""}


def measure(fits: int = FITS, processes: int = PROCESSES) -> list[dict[str, Any]]:
    todo = [(name, seed) for name in SERVICES for seed in range(FIRST_SEED, FIRST_SEED + fits)]
    with ProcessPoolExecutor(processes) as pool:
        rows = list(pool.map(planned, *zip(*todo, strict=True), chunksize=4))
    return [{**dict.fromkeys(max(rows, key=len)), **row} for row in rows]


def summary(rows: list[dict[str, Any]]) -> str:
    head = "| service | plans | point estimate misses | least regret misses | mean extra cost | chance stated, true: point | regret |"
    lines = ["# Does a choice hold what it says?", "", head, "|---|---|---|---|---|---|---|"]
    for name in dict.fromkeys(row["service"] for row in rows):
        own = [r for r in rows if r["service"] == name and r["point_cost"] is not None and r["regret_cost"] is not None]
        misses = {k: sum(not r[f"{k}_holds"] for r in own) for k in ("point", "regret")}
        stated = {k: 100 * float(np.mean([r[f"{k}_chance"] for r in own])) for k in misses}
        true = {k: 100 - 100 * misses[k] / len(own) for k in misses}
        extra = 100 * float(np.mean([r["regret_cost"] / r["point_cost"] - 1 for r in own]))
        lines.append(
            f"| {name} | {len(own)} | {misses['point']} | {misses['regret']} | {extra:.1f} % | "
            f"{stated['point']:.1f} %, {true['point']:.1f} % | {stated['regret']:.1f} %, {true['regret']:.1f} % |"
        )
    lines += [
        "",
        "The point estimate's plans of all services, by what was stated:",
        "",
        "| stated | plans | mean stated | true, one standard error |",
        "|---|---|---|---|",
    ]
    every = [r for r in rows if r["point_chance"] is not None]
    for low, high in pairwise(BY_STATED):
        own = [r for r in every if low <= r["point_chance"] < high]
        if own:
            stated, true = (100 * float(np.mean([r[f"point_{k}"] for r in own])) for k in ("chance", "holds"))
            error = 100 * float(np.std([r["point_holds"] for r in own])) / len(own) ** 0.5
            lines.append(
                f"| {100 * low:.0f} to {min(100 * high, 100):.0f} % | {len(own)} | {stated:.1f} % | {true:.1f} ± {error:.1f} % |"
            )
    refused = sum(bool(r["refused"]) for r in rows)
    empty = sum(not r["refused"] and (r["point_cost"] is None or r["regret_cost"] is None) for r in rows)
    lines += ["", f"Refused fits: {refused}. Plans without a choice: {empty}. A miss: by the true demands the objective is not met.",
              "Goals: half as many misses at less than 15 % more, and stated chances within 5 points."]  # fmt: skip
    return "\n".join(lines) + "\n"
