"""How often intervals hold where errors are normal and the model is linear: of the rule that a fit follows, and of its two parts alone.

    python benches/fit/linear_coverage.py [--draws 400]

Of each service (`templates`) one fit tells what the runs say of which unknown. Errors are then drawn, as the runs state them, and as
they do not: stated too small or too large, each run with an error of its own, a run in three with four times its error. No refit: some
seconds a service. The share of what runs state, `estimate_spread.STATED`, and the degrees of freedom were chosen here, on other
fits of these services.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from recovery import FitRuns, simulated
from scipy.special import stdtrit
from templates import TEMPLATES, Template

from sojourn.fit.errors_within_runs import covariance
from sojourn.fit.estimate_spread import STATED, degrees_of, stated_errors
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.run_clusters import KNOWN, RunClusters

Array = NDArray[np.float64]


class Errors(NamedTuple):
    """`stated`: over the true ones; `own`: of each run, of all its numbers together; `worse`: what a run in three is worse by."""

    stated: float = 1.0
    own: float = 0.0
    worse: float = 1.0


CASES = {
    "as stated": Errors(),
    "stated a sixth too large": Errors(1.17),
    "stated a seventh too small": Errors(1 / 1.17),
    "runs differ by 1 % more": Errors(own=0.01),
    "by 3 % more": Errors(own=0.03),
    "by 10 % more": Errors(own=0.1),
    "a run in three four times as bad": Errors(worse=4.0),
}
RULES = ("residuals alone", "as stated, and floor", "the mean of both")


def held(t: Template, count: int, rng: np.random.Generator) -> list[Array]:
    """Of each case, rules x unknowns: the share of `count` draws that 95 % intervals hold."""
    model = replace(t.model, observed={station: station for station in t.watched})
    data = FitProblem(FitRuns([simulated(t, level, 10_000, 30_900_000 + i) for i, level in enumerate(t.levels)]), model)
    x, slopes = data.best()
    stated = covariance(data, x)
    return [_rules(data, slopes, stated, errors, count, rng) for errors in CASES.values()]


def _rules(data: FitProblem, slopes: Array, real: Array, errors: Errors, count: int, rng: np.random.Generator) -> Array:
    clusters = RunClusters.of(data.weight[:, None] * slopes, data.run)
    back = np.linalg.pinv(data.weight[:, None] * slopes) * data.weight
    runs, left = len(clusters.stretch), np.eye(len(back.T)) - data.weight[:, None] * (slopes @ back) / data.weight
    noise = rng.multivariate_normal(np.zeros(len(real)), real, count) / errors.stated
    noise += errors.own * rng.standard_normal((count, runs))[:, data.run]
    noise *= np.where(rng.random((count, runs)) < 1 / 3, errors.worse, 1.0)[:, data.run]
    off = noise @ back.T
    found = np.zeros((len(RULES), off.shape[1]))
    for residual, wrong in zip(noise - off @ slopes.T, off, strict=True):
        far = clusters.stretched(data.weight * residual) / data.weight
        own = sum((back[:, data.run == g] @ far[data.run == g]) ** 2 for g in range(runs))
        told, known = stated_errors(left, data.weight, real, data.floor, residual)
        few = KNOWN if known else max(runs - slopes.shape[1], 1)
        for rule, share in enumerate((0.0, 1.0, STATED)):
            parts = (1 - share) * own, share * ((back @ told) * back).sum(axis=1)
            half = stdtrit(degrees_of(*parts, clusters.degrees, few), 0.975) * np.sqrt(parts[0] + parts[1])
            found[rule] += np.abs(wrong) < half
    return found / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    rng = np.random.default_rng(5)
    each = [held(t, asked.draws, rng) for name, t in TEMPLATES.items() if asked.only in name]
    print("| errors | " + " | ".join(RULES) + " |\n|" + "---|" * (len(RULES) + 1))
    for number, name in enumerate(CASES):
        all_of = 100 * np.concatenate([one[number] for one in each], axis=1)
        told = [f"{row.mean():.1f} ({row.min():.0f}-{row.max():.0f})" for row in all_of]
        print(f"| {name} | " + " | ".join(told) + " |")


if __name__ == "__main__":
    main()
