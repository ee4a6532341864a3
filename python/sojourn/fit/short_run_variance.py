"""A warning: a variance that was fitted to short runs has too narrow an interval.

In runs of 10 000 requests, 95 % intervals of a variance hold in 88 to 95 % of fits. Of four runs of some hundred requests, 90 %
intervals hold in two of three, and the true value mostly lies above (benches/fit/README.md): few such runs have the long requests that
make a variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sojourn.fit.fit_runs import FitRun

FEWEST = 10_000  # requests of a run, for which benches/fit has the coverage


def notes(paths: Sequence[str], runs: Sequence[FitRun]) -> list[str]:
    """A line where `paths`, the unknowns, have a variance and half of the runs or more have fewer than `FEWEST` requests."""
    variances = [path for path in paths if path.rpartition(".")[2].endswith("scv")]
    counts = [
        run.means[("", "throughput")][0] * (run.window_s or run.length_s)
        for run in runs
        if ("", "throughput") in run.means
    ]
    known = [count for count in counts if count > 0]
    if not variances or not known or median(known) >= FEWEST:
        return []
    which, has = (variances[0], "has") if len(variances) == 1 else (" and ".join(variances), "have")
    return [
        f"{which} {has} too narrow an interval where runs are short, and the true value is then mostly higher: these runs have about "
        f"{round(median(known))} requests each (median), and intervals of variances were tested with {FEWEST} a run; measure longer"
    ]
