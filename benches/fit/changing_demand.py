"""A CPU time of a request that falls or grows with the load, fitted by `auto` up to half of where the service is full: with models whose
time does so among its candidates, and without.

    python benches/fit/changing_demand.py --first SEED --seeds N

Each seed draws one server whose time changes by 10 to 60 % from no load to full, its law (c² = 0, 0.2, 1: Pollaczek and Khinchine's
formula, at the time that a request takes at that load), and five runs with errors of 2 % of response times and 1 % of busy cores; asked
is 85 % of the rate at which it is full, and that rate. Nothing is simulated and nothing measured.
"""

from __future__ import annotations

import argparse

import numpy as np

from sojourn.fit import model_selection
from sojourn.fit.candidate_models import candidates
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.predict_model import predict
from sojourn.model import Model

SHARES, ASKED, WORK_S = (0.1, 0.2, 0.3, 0.4, 0.5), 0.85, 2.5e-3


def truth(rate: float, change: float, falls: bool, scv: float) -> tuple[float, float]:
    """Utilisation and mean response time, s."""
    time_s = WORK_S
    for _ in range(500):
        u = min(rate * time_s, 1.0)
        time_s = WORK_S * (1 + change * ((1 - u) ** 2 if falls else u))
    u = rate * time_s
    return u, time_s * (1 + (1 + scv) / 2 * u / (1 - u)) if u < 1 else np.inf


def without(runs: FitRuns) -> dict[str, Model]:
    return {name: model for name, model in candidates(runs).items() if "with the load" not in name}


def told(seed: int) -> list[str]:
    """A line for the truth, and one for each set of candidates."""
    random = np.random.default_rng([seed, 7])
    change, falls, scv = (
        float(random.uniform(0.1, 0.6)),
        bool(random.integers(2)),
        float(random.choice([0.0, 0.2, 1.0])),
    )
    full = 1 / WORK_S / (1.0 if falls else 1 + change)
    runs = []
    for share in SHARES:
        u, response_s = truth(share * full, change, falls, scv)
        means = {("", "throughput"): (share * full, 0.01)}
        means["", "response_time"] = (float(response_s * np.exp(0.02 * random.standard_normal())), 0.02)
        busy = {"cpu": float(u * np.exp(0.01 * random.standard_normal()))}
        runs.append(FitRun(f"rate-{share:g}", {"rate_per_s": share * full}, means, busy, cores=1))
    right = {"response_time": truth(ASKED * full, change, falls, scv)[1], "saturation_rate": full}
    lines = [f"seed {seed}, c2 {scv:g}, its time {'falls' if falls else 'grows'} by {change:.0%}"]
    for name, made in (("with", candidates), ("without", without)):
        model_selection.candidates = made  # type: ignore[assignment]
        chosen = model_selection.choose_model(FitRuns(runs))
        frame = predict(chosen.best, {"rate_per_s": ASKED * full}, 0.9).frame.filter(station="")
        said = []
        for row in frame.filter(frame["metric"].is_in(list(right))).iter_rows(named=True):
            value = right[row["metric"]]
            inside = row["low"] is not None and row["low"] <= value and (row["high"] is None or value <= row["high"])
            error = "saturated" if row["value"] is None else f"{row['value'] / value - 1:+.1%}"
            said.append(f"{row['metric']} {error}, {'inside' if inside else 'OUTSIDE'}")
        lines.append(f"  {name}: {'; '.join(said)}; {chosen.name}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--seeds", type=int, default=8)
    given = parser.parse_args()
    for seed in range(given.first, given.first + given.seeds):
        print("\n".join(told(seed)), flush=True)


if __name__ == "__main__":
    main()
