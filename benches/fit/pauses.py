"""A service that pauses by a clock, fitted by `auto` up to 60 % of where it is full and asked for 80 %: with the pauses that were seen,
and without.

    python benches/fit/pauses.py --first SEED --seeds N

Each seed draws one server of 4 ms (constant or Erlang), pauses of 50 to 150 ms every 0.8 to 2 s on average, four runs of 20 s. The truth is
the mean of twelve runs of the same simulation (`served` of tests/unit/runs/test_pauses.py), which knows no formula.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/unit/runs"))
from test_pauses import served  # type: ignore[import-not-found]

from sojourn.fit.fit_runs import FitRuns, observe_runs
from sojourn.fit.model_selection import choose_model
from sojourn.fit.predict_model import predict
from sojourn.simulate.simulated_folder import write_run

SHARES, ASKED, SERVICE_S = (0.15, 0.3, 0.45, 0.6), 0.8, 0.004


def told(seed: int) -> list[str]:
    """A line for the truth, and one for each fit."""
    random = np.random.default_rng([seed, 6])
    every_s, pause_s = float(random.uniform(0.8, 2)), float(random.uniform(0.05, 0.15))
    law = str(random.choice(["constant", "erlang"]))
    full = every_s / (every_s + pause_s) / SERVICE_S
    with tempfile.TemporaryDirectory() as place:
        for share in SHARES:
            rate = float(round(share * full))
            own = seed * 100 + int(share * 100)
            sent, answered, _ = served(rate, 1, law, own, every_s=every_s, pause_s=pause_s)
            about = {"name": f"rate-{rate:g}", "factors": {"rate_per_s": rate}, "duration_s": 20.0}
            requests = {"intended_s": sent, "done_s": answered}
            write_run(Path(place) / about["name"], manifest=about, requests=requests)
        runs = observe_runs([Path(place)])
    rate = ASKED * full
    later = (served(rate, 1, law, 9000 + k, every_s=every_s, pause_s=pause_s, until_s=40.0)[:2] for k in range(12))
    truth = float(np.mean([np.nanmean((answered - sent)[len(sent) // 10 :]) for sent, answered in later]))
    lines = [f"seed {seed}, {law}: at {rate:.0f}/s {1e3 * truth:.1f} ms, full at {full:.0f}/s"]
    unseen = FitRuns([replace(run, pauses=None) for run in runs.runs], runs.left_out)
    for name, of in (("with pauses", runs), ("without", unseen)):
        chosen = choose_model(of, 0.9)
        frame = predict(chosen.best, {"rate_per_s": rate}, 0.9).frame
        rows = {row["metric"]: row for row in frame.filter(station="").iter_rows(named=True)}
        both = [rows[metric] for metric in ("response_time", "saturation_rate")]
        said = ", ".join(f"{row['value']} ({row['low']} … {row['high']})" for row in both)
        lines.append(f"  {name}: {said}; {chosen.name}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, required=True)
    parser.add_argument("--seeds", type=int, default=4)
    given = parser.parse_args()
    for seed in range(given.first, given.first + given.seeds):
        print("\n".join(told(seed)), flush=True)


if __name__ == "__main__":
    main()
