"""The pages that users in sessions asked for, beside what their matrices say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.stats import f

from sojourn.measure.run_folder import RunFolder
from sojourn.measure.transition_matrix import TransitionMatrix, mixed_shares

LEAST_EXPECTED = 5.0  # of a page, else it is counted together with others


def counts_by_user(requests: pl.DataFrame, pages: int) -> NDArray[np.float64]:
    """How often each user asked for each page, shape (users, pages); of `requests` the columns lane, user and class."""
    cells = requests.group_by("lane", "user", "class").len()
    keys = cells.select("lane", "user").unique().sort("lane", "user").with_row_index("row")
    placed = cells.join(keys, on=["lane", "user"])
    counts = np.zeros((keys.height, pages))
    counts[placed["row"].to_numpy(), placed["class"].to_numpy()] = placed["len"].to_numpy()
    return counts


def mix_p_value(counts: NDArray[np.float64], expected: Sequence[float]) -> float:
    """The probability of a mix as far from the expected one as this, where users are independent of each other.

    What one user asks for is not: a page follows from the one before. So the covariance of the shares is taken from how
    users differ, and the distance is Hotelling's T² (the Wald test of a cluster sample; Rao and Scott, J. Amer. Statist. Assoc.
    76 (1981) 221-230). `counts` (users, pages) of more users than pages; pages that fewer than 5 requests are expected of are
    counted together.
    """
    share = np.asarray(expected, float) / np.sum(expected)
    if counts[:, share == 0].any():
        return 0.0
    rare = share * counts.sum() < LEAST_EXPECTED
    merged = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    share = np.append(share[~rare], share[rare].sum())
    merged, share = merged[:, share > 0], share[share > 0]
    users, kinds = merged.shape
    if kinds < 2:
        return 1.0
    # of each user, how far its counts are from the shares of its own total: zero in the mean, and independent
    away = (merged - merged.sum(axis=1, keepdims=True) * share)[:, :-1]
    mean, covariance = away.mean(axis=0), np.atleast_2d(np.cov(away, rowvar=False))
    distance = users * float(mean @ np.linalg.solve(covariance, mean))
    # Hotelling's T²: the covariance was estimated from as many users
    free = kinds - 1
    return float(f.sf(distance * (users - free) / (free * (users - 1)), free, users - free))


def mix_check(folder: RunFolder, inside: pl.DataFrame) -> float | None:
    """The p-value of the pages of a run in sessions beside the stationary mix of its matrices; None where there are too few users
    for it, or not every request is in the records."""
    sessions = folder.manifest["load"].get("sessions")
    if not sessions or (folder.manifest.get("generator") or {}).get("sampled"):
        return None
    pages = tuple(sessions["pages"])
    kinds = [(mix["share"], TransitionMatrix(pages, np.array(mix["rows"]))) for mix in sessions["mixes"]]
    counts = counts_by_user(inside, len(pages))
    return mix_p_value(counts, list(mixed_shares(kinds).values())) if len(counts) > 2 * len(pages) else None
