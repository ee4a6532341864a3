"""Stalls among other long requests, by the definition, and with as many as long runs have."""

from __future__ import annotations

import numpy as np
import pytest

from sojourn.check import check_observations
from sojourn.check.omission import longest_waited
from sojourn.readers import Observation, Requests


@pytest.mark.parametrize("seed", range(20))
def test_the_longest_gap_of_a_request_is_that_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = np.sort(rng.uniform(0, 100, 400))
    end = start + rng.exponential([0.3, 3.0, 30.0][seed % 3], 400)
    some = np.sort(rng.choice(399, rng.integers(1, 60), replace=False))
    begins, gaps = start[some], np.diff(start)[some]
    wanted = [
        max((gap for at, gap in zip(begins, gaps, strict=True) if a <= at and b >= at + 0.9 * gap), default=0.0)
        for a, b in zip(start, end, strict=True)
    ]
    assert longest_waited(begins, gaps, start, end).tolist() == wanted


def stalled(stalls: int, longest_other_s: float) -> Requests:
    """Twenty requests, 5 ms apart, each of 4 ms, and then a stall of 1 to 1.3 s through which the last one waits; so on. One more takes
    `longest_other_s` from the beginning on."""
    lengths = 1.0 + 0.3 * np.arange(stalls) / stalls
    begins = np.concatenate([[0.0], np.cumsum(lengths + 0.1)[:-1]])
    start = (begins[:, None] + 0.005 * np.arange(20)).ravel()
    response = np.full(start.size, 0.004)
    response[19::20] = lengths
    response[0], response[-1] = longest_other_s, 0.004
    return Requests(start, response, np.ones(start.size, bool))


@pytest.mark.parametrize(("longest_other_s", "found"), [(0.004, True), (0.09, True), (0.8, False)])
def test_thousands_of_stalls(longest_other_s: float, found: bool) -> None:
    """3000 stalls, of 60 000 requests, the last of which nothing follows; each was once compared with all requests for each longer one."""
    requests = stalled(3000, longest_other_s)
    result = check_observations([Observation("f", "tool", users=2.0, requests=requests)])
    seen = [one for one in result.findings if one.law == "coordinated_omission"]
    assert bool(seen) == found
    if found:
        assert seen[0].numbers["stalls"] == 2999 and seen[0].numbers["stall_s"] == pytest.approx(1.305, abs=1e-3)
