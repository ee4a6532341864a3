"""The pages of users in sessions beside what their matrix says."""

from __future__ import annotations

import numpy as np

from sojourn.measure.session_load import mix_of
from sojourn.measure.session_mix import mix_p_value
from sojourn.measure.transition_matrix import TransitionMatrix


def sessions(kind: TransitionMatrix, users: int, pages: int, seed: int) -> np.ndarray:
    """Users who read so many pages each, after as many that do not count."""
    rng, width = np.random.default_rng(seed), len(kind.pages)
    up_to, counts = np.cumsum(kind.rows, axis=1), np.zeros((users, width))
    for user in range(users):
        page, before = 0, list[int]()
        for number, u in enumerate(rng.random(2 * pages)):
            counts[user, page] += number >= pages
            step = int(np.searchsorted(up_to[page], u, side="right"))
            if step < width:
                before.append(page)
                page = step
            else:
                page = before.pop() if step == width and before else 0
                before = [] if step > width else before
    return counts


def test_the_mix_of_users_who_follow_the_matrix_is_accepted_and_of_others_refused() -> None:
    browse, user = mix_of("browse")[0][1], mix_of("readwrite")[0][1]
    expected = browse.shares.tolist()
    found = [mix_p_value(sessions(browse, 60, 40, seed), expected) for seed in range(20)]
    # Of 20 draws from a uniform distribution: each of these fails less than once in 10 000.
    assert min(found) > 1e-5 and sum(p < 0.05 for p in found) <= 6, found
    assert mix_p_value(sessions(user, 60, 40, 1), expected) == 0.0  # they register, which browsers never do


def test_one_page_is_always_in_its_mix() -> None:
    assert mix_p_value(np.array([[40.0, 0.0]] * 5), [1.0, 0.0]) == 1.0
