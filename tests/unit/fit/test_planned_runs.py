"""Unknowns that planned runs cannot tell are refused before the first run (issue 29, point 11)."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.errors import FitError
from sojourn.fit.planned_runs import check_planned

ONE = (
    '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 30.0\n[service_s]\ncpu = { user = { free = true } }\n'
)
TWO = ONE.replace("[stations.cpu]\n", "[stations.cpu]\n[stations.disk]\n") + "disk = { user = { free = true } }\n"
RATES = [{"rate_per_s": rate} for rate in (20.0, 40.0, 60.0)]
VARIANCE = ONE.replace(
    "{ user = { free = true } }", '{ user = { kind = "lognormal", mean = { free = true }, scv = { free = true } } }'
)
CLOSED = '[stations.cpu]\n[stations.away]\nkind = "delay"\n[classes.user]\nkind = "closed"\npopulation = 4\n' + (
    "[demands_s]\ncpu = { user = { free = true } }\naway = { user = { free = true } }\n"
)


@pytest.mark.parametrize(
    ("model", "points"),
    [
        (ONE, RATES[:1]),
        (ONE, RATES),
        (VARIANCE, RATES),  # Pollaczek and Khinchine: (1 + c2)/2 of a wait that grows with the load
        (TWO + '[observed]\ndisk = "disk"\n', RATES),
        (CLOSED, [{"users": n} for n in (1, 4, 16)]),  # one user alone: D + Z; many: D alone
        (ONE.replace("30.0", "1e4"), RATES * 2),
    ],
)
def test_what_the_runs_will_tell_passes(model: str, points: list[dict[str, float]]) -> None:
    check_planned(sj.Model.parse(model), points)


@pytest.mark.parametrize(
    ("model", "points", "parts"),
    [
        # alike at every load: only what either of them is busy with tells which is which (U = X D)
        (
            TWO,
            RATES,
            ("service_s.cpu.user and service_s.disk.user separately", "measure the resource of", "cpu or disk"),
        ),
        # a time and its visits are seen as their product alone
        (
            ONE + "[visits.cpu]\nuser = { free = true, start = 2.0 }\n",
            RATES,
            ("service_s.cpu.user and visits.cpu.user separately", "neither another load"),
        ),
        # a station that nobody visits moves nothing
        (
            TWO + "[visits]\ncpu = { user = 1.0 }\ndisk = { user = 0.0 }\n",
            RATES,
            ("not determine service_s.disk.user;", "give it"),
        ),
        # one user alone: D and Z stand side by side in the response time
        (
            CLOSED,
            [{"users": 1, "think_s": n} for n in (1.0, 2.0)],
            ("demands_s.cpu.user and demands_s.away.user", "users"),
        ),
        (VARIANCE, RATES[:1] * 3, ("1 configurations are planned for 2 unknowns", "more levels")),
    ],
)
def test_what_no_planned_run_tells_is_refused_with_the_run_that_would(
    model: str, points: list[dict[str, float]], parts: tuple[str, ...]
) -> None:
    with pytest.raises(FitError) as caught:
        check_planned(sj.Model.parse(model), points)
    assert all(part in str(caught.value) for part in parts), str(caught.value)
    assert "planned" in str(caught.value)
