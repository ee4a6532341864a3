"""Runs that begin with all customers at once: by how much their mean response time is longer than that of the long run.

Customers that pause for a constant time come back together, for many rounds. In the long run only the mean of a pause counts (F. Baskett
et al.: J. ACM 22(2), 1975, pp. 248-260), but a run of some seconds is not long: 90 clients, of which one in five answers is followed by a
pause of 0.3 s, had 1.8 times the response time of the long run in 5 s. So a model of one closed class whose think time has a law, and is
not exponential, is simulated from that start, for as long as a run. What runs measured is put back to the long run before a model is
fitted to it, and what is predicted of a new run is put forward.

    l    R of such runs over R of the long run        X' = N/(l R + Z)    its throughput, by the interactive law
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.model_evaluation import ModelEvaluator
from sojourn.model import Closed, Distribution, Exponential, Model
from sojourn.simulate.simulate import simulate
from sojourn.solve import solve

Array = NDArray[np.float64]
Index = NDArray[np.intp]
RUNS = 4  # simulated
TOLD = 1.05  # a ratio that a reader should know of


def matters(model: Model) -> bool:
    """Whether it is a model whose customers may stay together."""
    one = model.classes[0]
    law = one.think_s if len(model.classes) == 1 and isinstance(one, Closed) else None
    return isinstance(law, Distribution) and not isinstance(law, Exponential) and law.first > 0


def longer(model: Model, length_s: float, seed: int = 1) -> float:
    """l of a model with its numbers, for runs of `length_s` (s) that begin with all customers at once; 1 where that does not matter, or
    the length of the runs is not known (0)."""
    if length_s <= 0 or not matters(model):
        return 1.0
    means = [simulate(model, until_s=length_s, seed=seed + k, quantiles=()).value("response_time") for k in range(RUNS)]
    found = float(np.mean(means)) / solve(model).value("response_time")
    return found if np.isfinite(found) and found > 0 else 1.0


def ratios(evaluator: ModelEvaluator, values: Array, lengths_s: Sequence[float]) -> tuple[Array, Array]:
    """l and X'/X in each configuration of `evaluator`, with values of its unknowns and lengths of the runs there: one each."""
    ones = np.ones(len(lengths_s))
    if not matters(evaluator.configured(values, 0)):
        return ones, ones
    models = [evaluator.configured(values, which) for which in range(len(lengths_s))]
    found = np.array([longer(model, length_s) for model, length_s in zip(models, lengths_s, strict=True)])
    means = evaluator.at(values[None]).values
    users = np.array([float(network.population.sum()) for network in evaluator.networks])
    share = (
        means["", "", "response_time"] * means["", "", "throughput"] / users
    )  # of a round that is spent in the network
    return found, 1 / (1 + (found - 1) * share)


def logarithms(
    evaluator: ModelEvaluator, values: Array, at: Index, metrics: Sequence[str], lengths_s: Sequence[float]
) -> tuple[Array, float]:
    """Of measured numbers, n: by how much their logarithms are larger than in the long run, and the largest l. `at` the configuration of
    each, `metrics` what it is, `lengths_s` of its run."""
    of = dict(zip(at.tolist(), lengths_s, strict=True))
    ratio, less = ratios(evaluator, values, [of.get(which, 0.0) for which in range(len(evaluator.networks))])
    by = {"response_time": np.log(ratio), "throughput": np.log(less), "busy": np.log(less)}
    found = [float(by[metric][which]) if metric in by else 0.0 for metric, which in zip(metrics, at, strict=True)]
    return np.array(found), float(ratio.max())


def notes(longest: float) -> list[str]:
    """For the reader of a fit, where l is that at most."""
    if longest <= TOLD:
        return []
    times = f"up to {longest:.2g} times those of the long run"
    return [
        f"all customers begin at the same time: response times in these short runs are {times}, and the fit takes this "
        f"into account (by simulation)"
    ]
