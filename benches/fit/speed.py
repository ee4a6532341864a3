"""Time of a fit: a closed network with 5 unknown demands at 40 populations, 300 resampled fits (the goal: below 10 s on 2 cores).

    python benches/fit/speed.py [--repeat 5]

Runs are the model's own answers with an error of 2 % drawn at random: what takes time is solved, not simulated.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import sojourn as sj
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_fit import DRAWS, fit
from sojourn.model.unknown_parameters import replaced

DEMANDS_S = {"cpu": 0.040, "disk": 0.012, "db": 0.009, "cache": 0.006, "net": 0.030}
WATCHED = ("cpu", "disk", "db")
POINTS, NOISE = 40, 0.02


def text(values: dict[str, str]) -> str:
    demands = "".join(f"{name} = {{ user = {value} }}\n" for name, value in values.items())
    watched = "".join(f'{name} = "{name}"\n' for name in WATCHED)
    return (
        "[stations.cpu]\nservers = 4\n[stations.disk]\n[stations.db]\n[stations.cache]\n[stations.net]\n"
        'kind = "delay"\n[classes.user]\nkind = "closed"\npopulation = 1\nthink_s = 0.5\n'
        f"[demands_s]\n{demands}[observed]\n{watched}"
    )


def measured(users: int, rng: np.random.Generator) -> FitRun:
    """What the network answers, with noise."""
    truth = sj.Model.parse(text({name: repr(value) for name, value in DEMANDS_S.items()}))
    m = sj.solve(replaced(truth, {"classes.user.population": users}))
    noise = np.exp(NOISE * rng.standard_normal(2 + len(WATCHED)))
    x, r = m.value("throughput"), m.value("response_time")
    means = {("", "throughput"): (x * noise[0], NOISE), ("", "response_time"): (r * noise[1], NOISE)}
    busy = {name: x * DEMANDS_S[name] * e for name, e in zip(WATCHED, noise[2:], strict=True)}
    return FitRun(f"users-{users}", {"users": users}, means, busy)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    runs = FitRuns([measured(n, rng) for n in range(2, 2 + 2 * POINTS, 2)])
    model = sj.Model.parse(text(dict.fromkeys(DEMANDS_S, "{ free = true }")))
    wall, cpu = [], []
    for _ in range(asked.repeat):
        begun, used = time.perf_counter(), time.process_time()
        fitted = fit(runs, model)
        wall.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - used)
    print(
        f"{len(fitted.paths)} unknowns, {POINTS} points, {DRAWS} refits, {fitted.solve_method}, {os.cpu_count()} cores:"
    )
    print(
        f"  wall {' '.join(f'{v:.2f}' for v in wall)} s, median {np.median(wall):.2f} s; CPU median {np.median(cpu):.2f} s"
    )
    print(fitted)


if __name__ == "__main__":
    main()
