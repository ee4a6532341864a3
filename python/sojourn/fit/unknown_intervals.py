"""Intervals of unknowns: as wide as Student's t of their spread, and along the profile of the objective where slopes mislead.

Slopes at the best value say how well the runs tell an unknown there, and not a little further on. Where two unknowns are hardly told
apart, the objective may be steep on one side and flat on the other: of a load-dependent station the squares were at the true values a
fifth of what the slopes said, and intervals by slopes held these in 87 %. So the objective is asked at the ends that slopes give, all
other unknowns fitted again; where it is not what slopes foretell, the end is searched along the profile:

    C(v)    least sum of squares with the unknown at v     V    variance of the unknown (`estimate_spread`)
    end     (C(v) - C(best)) N/V = t²                      N    the same by weights alone, of (X'X)^-1
                                                           t    Student's, with the degrees of freedom of V

With straight slopes C(v) - C(best) is (v - best)²/N, and the end is best ± t √V. The factor N/V puts an objective that takes numbers of one
run for independent into proportion: R. E. Chandler, S. Bate: Inference for Clustered Data Using the Independence Loglikelihood.
Biometrika 94(1), 2007, pp. 167-183. Profiles: D. M. Bates, D. G. Watts: Nonlinear Regression Analysis and Its Applications (1988), 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from sojourn.fit import nonlinear_least_squares
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.parameter_estimate import ParameterEstimate

Array = NDArray[np.float64]
STRAIGHT = 0.2  # of the squares that slopes foretell: closer is straight, and the end off by a tenth at most
PARTS, STEPS, GROWS = 3, 24, 1.3  # of the width by slopes, a step; how many; and each longer than the one before
ABRUPT, SHRINKS = 0.7, 0.4  # of the way at once, over the end: taken back, and shorter
ROUNDS, LONGEST = 3, 0.5  # of fits of the others at each step, and what they are moved by at most


@dataclass(frozen=True)
class ObjectiveProfile:
    """The objective along each unknown: `x` the best, p; `cost` there; `cov` p x p, (X'X)^-1."""

    data: FitProblem
    x: Array
    cost: float
    cov: Array

    @staticmethod
    def of(data: FitProblem, x: Array, jacobian: Array) -> ObjectiveProfile:
        inverse = np.linalg.pinv(data.weight[:, None] * jacobian)
        gap = data.weight * (data.measured - data.predicted(data.scale.outward(x)[None])[0])
        return ObjectiveProfile(data, x, float(gap @ gap), inverse @ inverse.T)

    def ends(self, half: Array) -> Array:
        """2 x p, low and high, as they are searched; `half` p, t √V."""
        p, scale = len(self.x), self.data.scale
        which, side = np.tile(np.arange(p), 2), np.repeat([-1.0, 1.0], p)
        straight = self.x[which] + side * half[which]
        inside = (straight > scale.low[which]) & (straight < scale.high[which])  # a bound is an end
        foretold = half[which] ** 2 / np.diag(self.cov)[which]
        seen = np.flatnonzero(inside & (foretold > 0))
        found = straight.copy()
        if len(seen):
            tangent = self.x + (self.cov[which] / np.diag(self.cov)[which, None]) * (side * half[which])[:, None]
            costs, _ = self._fitted(np.clip(tangent[seen], scale.low, scale.high), which[seen])
            bent = seen[np.abs((costs - self.cost) / foretold[seen] - 1) > STRAIGHT]
            found[bent] = self._searched(which[bent], side[bent], half[which[bent]], foretold[bent])
        return np.clip(found.reshape(2, p), scale.low, scale.high)

    def _searched(self, which: NDArray[np.intp], side: Array, half: Array, foretold: Array) -> Array:
        """Where the squares are more than at the best by `foretold`; that many profiles, in step."""
        scale = self.data.scale
        at = np.tile(self.x, (len(which), 1))
        step, before = half / PARTS, np.zeros(len(which))
        end, todo = np.full(len(which), np.nan), np.ones(len(which), bool)
        for _ in range(STEPS):
            now = np.flatnonzero(todo)
            if not len(now):
                break
            w, own = which[now], np.arange(len(now))
            was, guess = at[now, w], at[now].copy()
            guess[own, w] = np.clip(was + side[now] * step[now], scale.low[w], scale.high[w])
            costs, fitted = self._fitted(guess, w)
            far = np.sqrt(np.maximum(costs - self.cost, 0.0) / foretold[now])  # 1 at the end
            here = fitted[own, w]
            steep = (far > 1) & (far - before[now] > ABRUPT)
            stop = ~steep & ((far >= 1) | (here <= scale.low[w]) | (here >= scale.high[w]))
            part = np.clip((1 - before[now]) / np.maximum(far - before[now], 1e-9), 0.0, 1.0)
            end[now] = np.where(steep, was, np.where(far >= 1, was + part * (here - was), here))
            step[now] *= np.where(steep, SHRINKS, GROWS)
            at[now] = np.where(steep[:, None], at[now], fitted)
            before[now], todo[now] = np.where(steep, before[now], far), ~stop
        return end

    def _fitted(self, points: Array, which: NDArray[np.intp]) -> tuple[Array, Array]:
        """Least squares, B, with the unknown `which` of each as it is, and where: B x p."""
        data, best = self.data, points.copy()
        cost = self._costs(best)
        if points.shape[1] == 1:
            return cost, best
        for _ in range(ROUNDS):
            steps = self._steps(best, which)
            for shorter in (1.0, 0.25):
                moved = np.clip(best + shorter * steps, data.scale.low, data.scale.high)
                costs = self._costs(moved)
                better = costs < cost
                best[better], cost[better] = moved[better], costs[better]
                steps[better] = 0.0
                if better.all():
                    break
        return cost, best

    def _costs(self, points: Array) -> Array:
        gap = self.data.weight * (self.data.measured - self.data.predicted(self.data.scale.outward(points)))
        return np.asarray((gap**2).sum(axis=1))

    def _steps(self, points: Array, which: NDArray[np.intp]) -> Array:
        """Gauss and Newton's, B x p, of all unknowns but `which`."""
        data = self.data
        found = nonlinear_least_squares.values_and_slopes(data.predicted, data.scale, points)
        values, slopes = np.array([one for one, _ in found]), np.array([one.T for _, one in found]) * data.weight
        slopes[np.arange(len(points)), which] = 0.0
        gap = data.weight * (data.measured - values)
        steps = np.einsum("bpn,bn->bp", np.linalg.pinv(np.swapaxes(slopes, 1, 2)), gap)
        held = ((points <= data.scale.low) & (steps < 0)) | ((points >= data.scale.high) & (steps > 0))
        if held.any():  # the others move as if what cannot move were given
            slopes[held] = 0.0
            steps = np.einsum("bpn,bn->bp", np.linalg.pinv(np.swapaxes(slopes, 1, 2)), gap)
        return np.clip(steps, -LONGEST, LONGEST)


def intervals(
    data: FitProblem,
    x: Array,
    jacobian: Array,
    sizes: Array,
    degrees: Array,
    off: Array,
    level: float,
    along_profiles: bool = True,
) -> dict[str, ParameterEstimate]:
    """Of each unknown; `sizes`, `degrees` p; `off` draws x p, as what is searched: what meters and measured means are off by, which
    residuals do not tell. Not `along_profiles`: by slopes alone."""
    tail = (1 - level) / 2
    best = data.scale.outward(x)
    half = stdtrit(degrees, 1 - tail) * sizes
    straight = np.clip(x + np.array([[-1.0], [1.0]]) * half, data.scale.low, data.scale.high)
    ends = ObjectiveProfile.of(data, x, jacobian).ends(half) if along_profiles else straight
    more = np.quantile(off, [tail, 1 - tail], axis=0, method="weibull")
    both = x + np.array([[-1.0], [1.0]]) * np.hypot(ends - x, more)
    found = {}
    for i, path in enumerate(data.paths):
        full = np.broadcast_to(x, (2, len(x))).copy()
        full[:, i] = np.clip(both[:, i], data.scale.low[i], data.scale.high[i])
        low, high = data.scale.outward(full)[:, i]
        found[path] = ParameterEstimate(float(best[i]), float(low), float(high))
    return found
