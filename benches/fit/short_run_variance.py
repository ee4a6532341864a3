"""Do intervals of a fitted variance hold when the fit has few short runs?

    python benches/fit/short_run_variance.py --seeds 60 --first 1 --length 15 --out FILE

One server, lognormal times of 10 ms with c² = 4, four simulated run folders of `length` s at 20, 40, 60 and 75 % of saturation, as a user
has them; nothing is watched. Mean and variance are fitted, with 90 % intervals. FILE gets a row a fit: seed, refused, value, low, high.
Nothing is measured: others may use the machine.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import sojourn as sj
from sojourn.errors import FitError
from sojourn.simulate.simulated_run import as_run

FULL_PER_S, MEAN_S, SCV, SHARES, LEVEL = 100.0, 0.01, 4.0, (0.2, 0.4, 0.6, 0.75), 0.9
FREE = "mean = { free = true }, scv = { free = true, low = 0.01, high = 100, start = 1 }"


def service(numbers: str, rate: float = 1.0) -> sj.Model:
    return sj.Model.parse(
        f'[stations.worker]\n[classes.user]\nkind = "open"\nrate_per_s = {rate}\n'
        f'[demands_s]\nworker = {{ user = {{ kind = "lognormal", {numbers} }} }}\n'
    )


def fitted(seed: int, length_s: float) -> tuple[float, float, float] | None:
    """Value and interval of the variance; None where the fit was refused."""
    with tempfile.TemporaryDirectory() as place:
        runs = [
            as_run(
                service(f"mean = {MEAN_S}, scv = {SCV}", share * FULL_PER_S), Path(place) / str(number),
                seed=1000 * seed + number, until_s=length_s,
            )
            for number, share in enumerate(SHARES, 1)
        ]  # fmt: skip
        try:
            found = sj.fit(runs, service(FREE), LEVEL).estimates
        except FitError:
            return None
    one = found["demands_s.worker.user.scv"]
    return one.value, one.low, one.high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=60)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--length", type=float, default=15.0, help="of a run, s")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    with asked.out.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("seed", "refused", "value", "low", "high"))
        held, above, fits = 0, 0, 0
        for seed in range(asked.first, asked.first + asked.seeds):
            ends = fitted(seed, asked.length)
            rows.writerow((seed, ends is None, *(f"{end:.6g}" for end in ends or ())))
            file.flush()
            if ends:
                fits, held, above = fits + 1, held + (ends[1] <= SCV <= ends[2]), above + (ends[2] < SCV)
    print(f"held in {held} of {fits}, the truth above in {above} misses; {asked.seeds - fits} refused")


if __name__ == "__main__":
    main()
