"""Users in sessions as their matrix has them: the pages of their first requests, and walks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sojourn.load.transition_matrix import TransitionMatrix

Array = NDArray[np.float64]
REQUESTS = 120  # from the first page on, after which a session's start is forgotten
WARM_UP = 60  # requests of a walk that are not counted
STARTS = 21  # moments at which users come, for the mean over them


def pages_by_request(matrix: TransitionMatrix, count: int = REQUESTS) -> Array:
    """The probability of each page at a user's request 0, 1, …, shape (count, pages); request 0 is for the first page.

    A visit to a page begins with its request and lasts until its user goes back or the session ends; with `back[n, i]` and `end[n, i]`
    the probabilities that a visit to page i is over after n requests, and `asked[n, i]` those of the pages at its request n, each
    follows from those of fewer requests: what comes behind the first request is the end, or a visit to another page, and behind
    that, if its user went back, page i anew.
    """
    width = len(matrix.pages)
    forward = matrix.rows[:, :width]
    back, end = np.zeros((count + 1, width)), np.zeros((count + 1, width))
    asked = np.zeros((count, width, width))
    asked[0] = np.eye(width)
    returned = np.zeros((count + 1, width))  # a visit that was begun from page i is over by Back after n requests
    back[1], end[1] = matrix.rows[:, width], matrix.rows[:, width + 1]
    for n in range(1, count):
        returned[n] = forward @ back[n]
        asked[n] = forward @ asked[n - 1] + np.einsum("mi,mik->ik", returned[:n][::-1], asked[:n])
        back[n + 1] = (returned[: n + 1][::-1] * back[: n + 1]).sum(axis=0)
        end[n + 1] = forward @ end[n] + (returned[: n + 1][::-1] * end[: n + 1]).sum(axis=0)
    over, pages = (back + end)[:, 0], np.zeros((count, width))
    for n in range(count):
        pages[n] = asked[n, 0] + over[1 : n + 1][::-1] @ pages[:n]
    return pages


def shares_of_run(matrix: TransitionMatrix, come_s: float, from_s: float, to_s: float, cycle_s: float) -> Array:
    """Expected shares of the pages of a run from `from_s` to `to_s`, of users who come evenly over the first `come_s` seconds, think and
    wait `cycle_s` in the mean before each request, exponentially, and begin with the first page."""
    from scipy.special import gammainc  # slow to import, and scipy.stats slower

    away = pages_by_request(matrix) - matrix.shares
    starts, numbers = np.linspace(0.0, come_s, STARTS), np.arange(1, REQUESTS + 1)
    by_then = [gammainc(numbers, np.maximum(at_s - starts[:, None], 0.0) / cycle_s) for at_s in (from_s, to_s)]
    inside = (by_then[1] - by_then[0]).mean(axis=0)
    return np.asarray(matrix.shares + inside @ away * cycle_s / (to_s - from_s))


def walks(matrix: TransitionMatrix, users: int, pages: int, rng: np.random.Generator) -> Array:
    """How often each user asks for each page, shape (users, pages of the matrix), in so many requests behind the first `WARM_UP`."""
    width = len(matrix.pages)
    up_to = np.minimum(np.cumsum(matrix.rows, axis=1), 1.0)
    up_to[:, -1] = 1.0
    flat = (up_to + np.arange(width)[:, None]).ravel()
    page, depth = np.zeros(users, int), np.zeros(users, int)
    before = np.zeros((users, 8), np.int16)
    counts, all_users = np.zeros((users, width)), np.arange(users)
    for number in range(WARM_UP + pages):
        if number >= WARM_UP:
            counts[all_users, page] += 1
        column = np.searchsorted(flat, page + rng.random(users), side="right") - page * (width + 2)
        on, back = column < width, (column == width) & (depth > 0)
        if depth.max() == before.shape[1]:
            before = np.hstack([before, np.zeros_like(before)])
        before[on, depth[on]] = page[on]
        depth = np.where(on, depth + 1, np.where(back, depth - 1, 0))
        page = np.where(on, column, np.where(back, before[all_users, np.minimum(depth, before.shape[1] - 1)], 0))
    return counts
