"""What users in sessions did, beside what their matrices say: each step by the row of its page, and the pages by the stationary mix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.load.session_walk import shares_of_run, walks
from sojourn.load.transition_matrix import TransitionMatrix

Array = NDArray[np.float64]
STEPS, MIX, AWAY = "p-value of the steps", "p-value of the mix", "expected mix from the stationary"
LEAST_EXPECTED = 5.0  # of a cell, else it is counted together with others
MOST_PAGES = 100  # of a matrix whose mix is compared
WALKERS, MOST_WALKED = 10_000, 100  # users and requests of the walks that the covariance is taken from


def transitions_p_value(steps: Array, matrices: Sequence[TransitionMatrix]) -> float | None:
    """The probability of steps as far from the rows of the matrices as these, by Pearson's chi-squared summed over rows.

    `steps` (matrices, pages, pages + 2): how often each column was drawn behind each page. What one step is depends on nothing but its
    row, so the sum is that of independent multinomials (Anderson and Goodman, Ann. Math. Statist. 28 (1957) 89-110), whichever pages
    a run began with. None where there is no row with two cells of 5 expected.
    """
    distance, free = 0.0, 0
    for counted, matrix in zip(steps, matrices, strict=True):
        if counted[matrix.rows == 0].any():
            return 0.0
        for row, probabilities in zip(counted, matrix.rows, strict=True):
            found, expected = _pooled(row, row.sum() * probabilities)
            if len(expected) > 1:
                distance += float(((found - expected) ** 2 / expected).sum())
                free += len(expected) - 1
    return _beyond(distance, free)


def mix_p_value(
    counts: Array, users: Sequence[float], matrices: Sequence[TransitionMatrix], expected: Array
) -> float | None:
    """The probability of a mix of pages as far from the expected one as this.

    A page follows from the one before it, so the covariance of the counts is not that of a multinomial: it is taken from walks of
    simulated users of as many pages, and the distance is Wald's (for cluster samples: Rao and Scott, J. Amer. Statist. Assoc. 76
    (1981) 221-230). `counts` and `expected` (matrices, pages): pages asked for by the `users` of each matrix, and their shares. None
    where too few pages were asked for.
    """
    totals = counts.sum(axis=1)
    whole = (totals[:, None] * expected).sum(axis=0)
    if counts.sum(axis=0)[whole == 0].any():
        return 0.0
    keep = _grouping(whole)
    if keep.shape[1] < 2:
        return None
    away = ((counts - totals[:, None] * expected).sum(axis=0) @ keep)[:-1]
    rng, covariance = np.random.default_rng(1), np.zeros((len(away), len(away)))
    for total, count, matrix in zip(totals, users, matrices, strict=True):
        if total:
            each = int(np.clip(round(total / max(count, 1)), 1, MOST_WALKED))
            walked = (walks(matrix, WALKERS, each, rng) - each * matrix.shares) @ keep[:, :-1]
            covariance += total / (WALKERS * each) * walked.T @ walked
    # pages that always come together have no covariance of their own
    distance = away @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ away
    free = np.linalg.matrix_rank(covariance, tol=1e-9 * np.linalg.norm(covariance, 2), hermitian=True)
    return _beyond(distance, free)


def session_checks(load: dict[str, Any], told: dict[str, Any]) -> dict[str, float]:
    """What a run in sessions says of its matrices: `load` is the generator's configuration, `told` what it said of the sessions. There
    is nothing of the mix where a request failed, which ends a session early.

    The mix is that which such a run is expected to have; how far this is from the stationary one is told beside it.
    """
    sessions = load["sessions"]
    pages = tuple(sessions["pages"])
    matrices = [TransitionMatrix(pages, np.array(mix["rows"])) for mix in sessions["mixes"]]
    steps = np.zeros((len(matrices), len(pages), len(pages) + 2))
    for kind, page, column, count in told["steps"]:
        steps[kind, page, column] = count
    mix = away = None
    if not told["failed"] and told["ok"] and len(pages) <= MOST_PAGES:
        up_s, cycle_s = sessions["ramp_up_s"], told["think_s"] + told["response_s"]
        run_s = told["run_end_s"] - told["run_start_s"]
        expected = np.array([shares_of_run(one, up_s / 2, up_s, up_s + run_s, cycle_s) for one in matrices])
        away = float(np.abs(expected - [one.shares for one in matrices]).max())
        mix = mix_p_value(steps.sum(axis=2), told["users_by_kind"], matrices, expected)
    found = {STEPS: transitions_p_value(steps, matrices), MIX: mix, AWAY: away}
    return {name: value for name, value in found.items() if value is not None}


def _grouping(expected: Array) -> Array:
    """Which cells are counted together so that each has 5 expected: 0 and 1, shape (cells, groups)."""
    order = np.argsort(expected)
    order = order[expected[order] > 0]
    groups: list[list[int]] = [[]]
    for cell in order:
        if groups[-1] and expected[groups[-1]].sum() >= LEAST_EXPECTED:
            groups.append([])
        groups[-1].append(int(cell))
    if len(groups) > 1 and expected[groups[-1]].sum() < LEAST_EXPECTED:
        last = groups.pop()
        groups[-1] += last
    found = np.zeros((len(expected), len(groups)))
    for number, cells in enumerate(groups):
        found[cells, number] = 1.0
    return found


def _pooled(counted: Array, expected: Array) -> tuple[Array, Array]:
    grouping = _grouping(expected)
    return counted @ grouping, expected @ grouping


def _beyond(distance: float, free: int) -> float | None:
    """The probability that chi-squared is more, of so many degrees of freedom; None of none."""
    from scipy.special import chdtrc  # slow to import, and scipy.stats slower

    return float(chdtrc(free, distance)) if free else None
