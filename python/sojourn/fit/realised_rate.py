"""What a run was asked by chance more or less than its rate says: open arrivals are random, and their number is counted.

The mean response time of a run in which 1 % more came than its rate says is larger by d log R/d log rate of that, and what was busy by
the same 1 %. Both are put back to the rate of the run, which takes out of their errors what the count explains (a control
variate: S. S. Lavenberg, P. D. Welch: A Perspective on the Use of Control Variables to Increase the Efficiency of Monte Carlo
Simulations. Management Science 27(3), 1981, pp. 322-335). With R(rate; c S) = c R(c rate; S), S all times of service,

    d log R/d log rate = d log R/d log S - 1

A run that did far less than it was asked was saturated: it is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sojourn.fit.fit_runs import FitRun
from sojourn.model import Model, Open

SHORTFALL, ERRORS = 0.03, 3.0  # of the rate, and of the count's standard errors: more is not chance


def excess(run: FitRun, model: Model) -> float:
    """Logarithm of what was done over what the run was asked (`rate_per_s`); 0 for other loads than one open class."""
    rate = run.factors.get("rate_per_s")
    one = len(model.classes) == 1 and isinstance(model.classes[0], Open)
    if not one or isinstance(rate, bool) or not isinstance(rate, int | float) or ("", "throughput") not in run.means:
        return 0.0
    done, error = run.means["", "throughput"]
    found = float(np.log(done / rate)) if rate > 0 else 0.0
    return found if abs(found) <= SHORTFALL + ERRORS * error else 0.0


def shift(metric: str, excess_: float, growth: float) -> float:
    """What is added to a logarithm of a run with such an excess; `growth`: d log R/d log S, of response times."""
    slopes: Mapping[str, float] = {"response_time": growth - 1, "busy": 1.0}
    return -slopes.get(metric, 0.0) * excess_
