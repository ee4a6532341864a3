"""The pages of users in sessions beside what their matrices say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sojourn.load.session_load import mix_of
from sojourn.load.session_walk import pages_by_request, shares_of_run
from sojourn.load.transition_matrix import TransitionMatrix
from sojourn.runs.session_mix import AWAY, MIX, STEPS, mix_p_value, session_checks, transitions_p_value


def steps_of(kind: TransitionMatrix, users: int, requests: Sequence[int], seed: int) -> np.ndarray:
    """What users draw behind those of their requests that count, who begin with the first page; walked one by one."""
    rng, width = np.random.default_rng(seed), len(kind.pages)
    up_to, steps = np.cumsum(kind.rows, axis=1), np.zeros((width, width + 2))
    for _ in range(users):
        page, before = 0, list[int]()
        for number, u in enumerate(rng.random(requests[-1] + 1)):
            step = int(np.searchsorted(up_to[page], u, side="right"))
            steps[page, step] += number in requests
            if step < width:
                before.append(page)
                page = step
            else:
                page = before.pop() if step == width and before else 0
                before = [] if step > width else before
    return steps


@pytest.fixture(scope="module")
def browse() -> TransitionMatrix:
    return mix_of("browse")[0][1]


def test_users_who_follow_the_matrix_are_accepted_and_others_refused(browse: TransitionMatrix) -> None:
    """Of 8 draws from a uniform distribution each of these fails about once in 10 000."""
    steps = [steps_of(browse, 60, range(40, 70), seed) for seed in range(8)]
    mixes = [mix_p_value(one.sum(axis=1)[None], [60], [browse], browse.shares[None]) for one in steps]
    for found in (mixes, [transitions_p_value(one[None], [browse]) for one in steps]):
        told = [p for p in found if p is not None]
        assert len(told) == 8 and min(told) > 1e-5 and sum(p < 0.05 for p in told) <= 4, told
    user = mix_of("readwrite")[0][1]
    others = steps_of(user, 60, range(40, 70), 1)[None]  # they register, which browsers never do
    assert (
        transitions_p_value(others, [browse])
        == mix_p_value(others.sum(axis=2), [60], [browse], browse.shares[None])
        == 0.0
    )


def test_a_row_that_is_not_followed_is_found(browse: TransitionMatrix) -> None:
    rows = browse.rows.copy()
    home, view = browse.pages.index("Browse"), browse.pages.index("ViewStory")
    rows[0, view] -= 0.1
    rows[0, home] += 0.1
    other = TransitionMatrix(browse.pages, rows)
    steps = steps_of(other, 60, range(40, 70), 3)
    p = transitions_p_value(steps[None], [browse])
    assert p is not None and p < 1e-4


def test_pages_of_the_first_requests_are_those_of_walks(browse: TransitionMatrix) -> None:
    """The standard deviation of a share of 2000 users is at most 0.011."""
    found = pages_by_request(browse, 8)
    assert found.sum(axis=1) == pytest.approx(np.ones(8)) and found[0, 0] == 1
    for number in (1, 4, 7):
        walked = steps_of(browse, 2000, [number], 5).sum(axis=1) / 2000
        assert found[number] == pytest.approx(walked, abs=0.045), number


def test_the_start_of_sessions_is_forgotten(browse: TransitionMatrix) -> None:
    late = shares_of_run(browse, 10.0, 400.0, 500.0, 7.0)
    assert late == pytest.approx(browse.shares, abs=1e-6)
    # Within the first think time everybody asks for the first page.
    assert shares_of_run(browse, 0.0, 0.0, 1e-3, 7.0)[0] > 0.999


def test_cells_of_less_than_five_expected_are_counted_together() -> None:
    """Two pages, 9 steps: of 3, 3 and 3 expected there are 6 and 3, and then 9: one cell, so there is nothing to compare."""
    kind = TransitionMatrix(("a", "b"), np.array([[1 / 3, 1 / 3, 0, 1 / 3], [0, 0, 0, 0]]))
    assert transitions_p_value(np.array([[[3, 3, 0, 3], [0, 0, 0, 0]]]), [kind]) is None
    # 6, 6 and 6 expected: chi-squared (36 + 0 + 36) / 6 = 12 with 2 degrees of freedom, exp(-6)
    assert transitions_p_value(np.array([[[12, 6, 0, 0], [0, 0, 0, 0]]]), [kind]) == pytest.approx(np.exp(-6))


def test_checks_of_a_run(browse: TransitionMatrix) -> None:
    steps = steps_of(browse, 100, range(40, 70), 4)
    said = [[0, int(page), int(column), int(steps[page, column])] for page, column in np.argwhere(steps > 0)]
    load = {"sessions": {"pages": list(browse.pages), "mixes": [{"rows": browse.rows.tolist()}], "ramp_up_s": 400.0}}
    told = {"steps": said, "users_by_kind": [100], "failed": 0, "ok": 3000, "think_s": 7.0, "response_s": 0.1}
    told |= {"run_start_s": 5000.0, "run_end_s": 5213.0}
    found = session_checks(load, told)
    assert found[AWAY] < 1e-6 and found[MIX] > 1e-5 and found[STEPS] > 1e-5
    assert set(session_checks(load, told | {"failed": 1})) == {STEPS}
    assert session_checks(load, told | {"ok": 0, "steps": []}) == {}
