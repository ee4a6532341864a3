"""How far the mean of a short run is off, over what the run states: by 20 batches of it, and as `sojourn capacity` has it.

    python benches/capacity/short_runs.py --first SEED --seeds N --runs 40

The services of `run.py`; runs of 300 and 1200 requests (4 s at least) at 30, 50 and 70 % of saturation, the first twentieth left
out. The truth is a run of 190 000 requests. Nothing is measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run import drawn

from sojourn.capacity.short_run_error import mean_error

SHARES, REQUESTS, SHORTEST_S, LEVEL, BATCHES = (0.3, 0.5, 0.7), (300, 1200), 4.0, 0.9, 20


def by_batches(times_s: np.ndarray) -> float:
    """Relative standard error of the mean by batches that are taken as independent."""
    means = [part.mean() for part in np.array_split(times_s, BATCHES)]
    return float(np.std(means, ddof=1) / np.sqrt(BATCHES) / times_s.mean())


def off(seed: int, share: float, count: int, runs: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors over stated errors, by batches and as the search has them: runs each."""
    found = []
    with tempfile.TemporaryDirectory() as place:
        service = drawn(seed, Path(place))[1]
        rate = share * service.full_per_s
        truth, length_s = float(service.long_run(rate).mean()), max(SHORTEST_S, count / rate)
        for number in range(runs):
            random = np.random.default_rng([seed, int(100 * share), count, number])
            arrivals, times = service.responses(rate, int(rate * length_s * 1.2) + 50, random)
            times = times[arrivals < length_s]
            times = times[len(times) // 20 :]
            error = times.mean() / truth - 1
            found.append((error / by_batches(times), error / (mean_error(times) or np.nan)))
    one, other = np.array(found).T
    return one, other


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1421)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=40)
    given = parser.parse_args()
    usual = float(stats.t.ppf((1 + LEVEL) / 2, BATCHES - 1))
    print("| share of saturation | requests | outside 90 %, by batches | now |\n|---|---|---|---|")
    for share in SHARES:
        for count in REQUESTS:
            each = [off(seed, share, count, given.runs) for seed in range(given.first, given.first + given.seeds)]
            outside = [np.mean(np.abs(np.concatenate(one)) > usual) for one in zip(*each, strict=True)]
            print(f"| {share:.0%} | {count} | {outside[0]:.0%} | {outside[1]:.0%} |", flush=True)


if __name__ == "__main__":
    main()
