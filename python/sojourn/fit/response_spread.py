"""What the spread of response times says: in the lightest run of the law of service, in the heaviest of how they wait.

In the lightest there is little waiting, so response times vary as services do. In the heaviest one server that is half busy makes response
times vary that two servers, as busy together, hardly do, long before the mean shows it.

A mean of response times hardly tells a short service with a large variance from a long one with a small one; the spread of
response times in the lightest run does. A model's is Var(S) + Var(W): of waits that are exponential where there are any,
Var(W) = W² (2/P - 1) with P = rho^(sqrt(2(m+1)) - 1), the share of customers that wait (H. Sakasegawa: An Approximation
Formula L_q ~ alpha rho^beta/(1-rho). Ann. Inst. Statist. Math. 29, 1977, pp. 67-75).
"""

from __future__ import annotations

import numpy as np

from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.model_evaluation import ModelEvaluator

FACTOR = 0.5  # standard deviation of the logarithm of a variance that such a model has: other parts vary too
LEAST = 0.1  # of the squared mean: less is somebody else's variance


def runs_of_spread(runs: FitRuns) -> list[FitRun]:
    """The lightest and the heaviest run of which the spread of response times is known; one or none where no more are."""
    level = "users" if "users" in runs.runs[0].factors else "rate_per_s"
    known = sorted(
        (run for run in runs.runs if run.scv is not None and level in run.factors), key=lambda run: run.factors[level]
    )
    return known[:1] + (known[-1:] if len(known) > 1 else [])


def spread_square(fitted: FittedModel, run: FitRun, station: str = "service") -> float:
    """How far the spread of response times that a model has is from that of a run, which is known: squared, in units of its standard
    error. `station`: whose service is meant."""
    assert run.scv is not None, "asked only where it is known"
    evaluator = ModelEvaluator(fitted.template, [run.factors])
    best = np.array([[fitted.estimates[p].value for p in fitted.paths]])
    found, network = evaluator.at(best), evaluator.networks_at(best)[0]
    response = float(found.values["", "", "response_time"][0])
    place = network.stations.index(station)
    law = network.service[place][0]
    assert law is not None, "customers visit it"
    own = sum(float(times[0].first) for times in network.service if times[0] is not None)
    servers = int(network.servers[place])
    busy = min(float(found.values[station, "", "busy"][0]) / servers, 0.99)
    wait = max(response - own, 0.0)
    waiting = max(busy ** (np.sqrt(2 * (servers + 1)) - 1), 1e-6)
    variance = law.scv * law.first**2 + wait**2 * max(2 / waiting - 1, 1.0)
    return float((np.log((variance / response**2 + LEAST) / (run.scv + LEAST)) / FACTOR) ** 2)
