"""Which of several models of the same runs is named, and the weight of each in predictions.

Weights are the likelihood of what was left out (`left_out_errors`), averaged over a Bayesian bootstrap of the configurations: Y. Yao
et al.: Using Stacking to Average Bayesian Predictive Distributions. Bayesian Analysis 13(3), 2018, pp. 917-1007, section 3.4
(pseudo-BMA+). Without the bootstrap a single one of five rates could decide. Where even the best is off by more than its runs are known
by, errors count by what it is off: no difference between wrong models is sure (K. P. Burnham, D. R. Anderson: Model Selection and
Multimodel Inference (2002), 2.5, the variance inflation factor). The simplest is named whose squared errors are within one standard
error of the least (L. Breiman et al., Classification and Regression Trees (1984), 3.4.3).

Where more is believed of one model than of another before the runs, its weight is that times the likelihood (Bayes), and of those that
predict about as well the one that is believed most is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.fitted_model_data import FittedModelData
from sojourn.fit.left_out_errors import SquaresLeftOut

Array = NDArray[np.float64]
LEAST_WEIGHT = 0.02  # of a model in the predictions
BOOTSTRAPS = 1000  # of the configurations: a weight is known to 0.01


@dataclass(frozen=True)
class RankedModels:
    """`chosen`: the name of the simplest of those that predict as well as the best; `share`: name → weight of it and of those that
    are averaged with it, sum 1."""

    chosen: str
    share: Mapping[str, float]

    @property
    def beside(self) -> list[str]:
        """Those that are averaged with it."""
        return [name for name in self.share if name != self.chosen]

    def averaged(self, chosen: FittedModel, fits: Mapping[str, FittedModel]) -> FittedModel:
        """`chosen` with the others as its alternatives; what these are averages of themselves is taken apart."""
        parts: list[tuple[float, FittedModelData]] = []
        for name in self.beside:
            parts += [(self.share[name] * weight, model) for weight, model in fits[name].weighted]
        _, *own = chosen.weighted
        own_parts = [(self.share[self.chosen] * weight, model) for weight, model in own]
        return replace(chosen, alternatives=(*own_parts, *parts))


def ranked(
    fits: Mapping[str, FittedModel],
    left_out: SquaresLeftOut,
    prior: Mapping[str, float] | None = None,
    shares: Mapping[str, float] | None = None,
) -> RankedModels:
    """`prior`: name → what is believed of it before the runs, relative, 1 where nothing is said. `shares`: the same of variants of one
    model, which count as one together, for the weights alone."""
    before = {name: (prior or {}).get(name, 1.0) for name in fits}
    alike, squares = _alike(left_out), left_out.squares
    chosen = min(alike, key=lambda name: (-before[name], len(fits[name].paths), squares[name].sum()))
    inflation = max(1.0, min(float(s.mean()) if len(s) else 1.0 for s in squares.values()))
    likely = weights(np.array([left_out.by_configuration(name) for name in fits]) / inflation)
    share = {
        name: float(one) * before[name] * (shares or {}).get(name, 1.0) for name, one in zip(fits, likely, strict=True)
    }
    share = {name: one / sum(share.values()) for name, one in share.items()}
    kept = [name for name in fits if share[name] >= LEAST_WEIGHT or name == chosen]
    whole = sum(share[name] for name in kept)
    return RankedModels(chosen, {name: share[name] / whole for name in kept})


def weights(squares: Array) -> Array:
    """Weights, sum 1, of models whose errors on what was left out, squared and in units of their standard errors, have these sums, shape
    (models, configurations): the mean of the likelihood over bootstraps of the configurations."""
    models, configurations = squares.shape
    if not configurations:
        return np.full(models, 1 / models)
    counts = np.random.default_rng(1).dirichlet(np.ones(configurations), BOOTSTRAPS) * configurations
    sums = counts @ squares.T
    likely = np.exp(-(sums - sums.min(axis=1, keepdims=True)) / 2)
    return np.asarray((likely / likely.sum(axis=1, keepdims=True)).mean(axis=0))


def _alike(left_out: SquaresLeftOut) -> list[str]:
    """Those within one standard error of the least mean square. Noise alone has one of sqrt(2/n) (chi²), however equal the
    errors of the best happen to be."""
    squares = left_out.squares
    count = len(left_out.configurations)
    if not count:
        return list(squares)  # nothing was left out that all tell
    name = min(squares, key=lambda name: float(squares[name].mean()))
    least, sums = float(squares[name].mean()), left_out.by_configuration(name)
    spread = np.sqrt(len(sums)) * sums.std(ddof=1) / count if len(sums) > 1 else least
    error = max(spread, np.sqrt(2 / count) * min(1.0, least))
    return [name for name, values in squares.items() if values.mean() <= least + error]
