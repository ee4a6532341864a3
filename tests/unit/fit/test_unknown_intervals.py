"""Intervals of unknowns by the profile of the objective: it does not matter how an unknown is written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from sojourn.fit.nonlinear_least_squares import ParameterScale, slopes
from sojourn.fit.unknown_intervals import ObjectiveProfile
from sojourn.model.unknown_parameters import Unknown

DESIGN = np.array([[1.0, 0.2], [0.5, 1.0], [1.0, -0.5], [0.1, 0.7]])
TRUTH = np.array([0.3, -0.2])


@dataclass(frozen=True)
class Bent:
    """Four numbers that are linear in u = x1 + `by` x1³ and v = x2 + `by` x1²; as much of a `FitProblem` as a profile asks."""

    by: float
    scale: ParameterScale
    weight: np.ndarray
    measured: np.ndarray

    def predicted(self, values: np.ndarray) -> np.ndarray:
        x = np.log(values)
        u, v = x[:, 0] + self.by * x[:, 0] ** 3, x[:, 1] + self.by * x[:, 0] ** 2
        return np.stack([u, v], axis=1) @ DESIGN.T


def bent(by: float, low: float = 1e-9) -> tuple[Bent, np.ndarray]:
    """Without noise, at its best."""
    scale = ParameterScale.of([Unknown(low=low), Unknown()], np.ones(2))
    problem = Bent(by, scale, np.full(4, 20.0), np.zeros(4))
    measured = problem.predicted(np.exp(TRUTH)[None])[0]
    return Bent(by, scale, problem.weight, measured), TRUTH


def profile(problem: Bent, x: np.ndarray) -> tuple[ObjectiveProfile, np.ndarray]:
    found = ObjectiveProfile.of(problem, x, slopes(problem.predicted, problem.scale, x))  # type: ignore[arg-type]
    return found, np.sqrt(np.diag(found.cov))


def test_where_slopes_are_straight_ends_are_the_best_and_as_many_standard_deviations() -> None:
    problem, x = bent(0.0)
    found, sizes = profile(problem, x)
    assert found.ends(2.5 * sizes) == pytest.approx(np.stack([x - 2.5 * sizes, x + 2.5 * sizes]))


def test_the_interval_of_an_unknown_is_that_of_what_is_linear_in_the_runs() -> None:
    """The ends of u = x + 4 x³ are u ± t √V_u; those of x are where u is there."""
    problem, x = bent(4.0)
    found, sizes = profile(problem, x)
    u = x[0] + 4 * x[0] ** 3
    size_u = float(np.sqrt(np.linalg.inv(20.0**2 * DESIGN.T @ DESIGN)[0, 0]))
    assert sizes[0] == pytest.approx(size_u / (1 + 12 * x[0] ** 2), rel=1e-2)
    half = 12.0
    wanted = [next(r.real for r in np.roots([4, 0, 1, -end]) if abs(r.imag) < 1e-9) for end in
              (u - half * size_u, u + half * size_u)]  # fmt: skip
    assert found.ends(half * sizes)[:, 0] == pytest.approx(wanted, abs=0.02)
    assert abs(x[0] - half * sizes[0] - wanted[0]) > 0.1, "by slopes it is another"


def test_a_spread_that_is_twice_what_weights_say_counts_twice() -> None:
    """Chandler and Bate's factor: t √V is what counts, whatever the weights."""
    problem, x = bent(4.0)
    one, sizes = profile(problem, x)
    other = Bent(problem.by, problem.scale, problem.weight * 3, problem.measured)
    assert one.ends(10 * sizes) == pytest.approx(profile(other, x)[0].ends(10 * sizes), abs=0.02)


def test_an_interval_ends_at_the_bound_of_an_unknown() -> None:
    problem, x = bent(4.0, low=float(np.exp(0.25)))
    found, sizes = profile(problem, x)
    assert found.ends(12 * sizes)[0, 0] == pytest.approx(0.25)
