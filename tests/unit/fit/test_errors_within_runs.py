"""What the errors of one run share, by hand: an M/M/1 queue whose server is watched, and users with Little's law."""

from __future__ import annotations

import numpy as np
import pytest

import sojourn as sj
from sojourn.fit.errors_within_runs import _cores, _work_scv, covariance
from sojourn.fit.factor_mapping import applied, factors_of
from sojourn.fit.fit_problem import FitProblem
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.model.network_points import as_points
from sojourn.model.unknown_parameters import replaced

COUNT = 0.01  # standard error of a Poisson number of 10 000
OPEN = '[stations.cpu]\n[classes.user]\nkind = "open"\nrate_per_s = 1\n[demands_s]\ncpu = { user = { free = true } }\n'
CLOSED = (
    '[stations.cpu]\n[classes.user]\nkind = "closed"\npopulation = 1\nthink_s = THINK\n'
    "[demands_s]\ncpu = { user = { free = true } }\n"
)


def correlated(
    text: str, points: list[dict[str, float]], error: float, counted: float = COUNT, requests: float = 0.0
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Metrics, standard deviations and correlations of the first run; all state `error` of their mean response time."""
    model, runs = sj.Model.parse(text), []
    for i, point in enumerate(points):
        told = sj.solve(applied(replaced(model, {"demands_s.cpu.user": 0.02}), factors_of(model, points), point))
        means = {
            ("", "response_time"): (told.value("response_time"), error),
            ("", "throughput"): (told.value("throughput"), counted),
        }
        busy, length_s = {"cpu": told.value("utilisation", "cpu")}, requests / told.value("throughput")
        runs.append(FitRun(f"run-{i}", dict(point), means, busy, length_s=length_s))
    data = FitProblem(FitRuns(runs), model)
    found = covariance(data, data.best()[0])
    own = np.flatnonzero(data.run == 0)
    assert (found[np.ix_(own, data.run == 1)] == 0).all(), "runs are independent"
    sizes = np.sqrt(np.diag(found))[own]
    return [data.seen[i].key[2] for i in own], sizes, found[np.ix_(own, own)] / np.outer(sizes, sizes)


def test_of_a_watched_server_response_time_and_busy_share_the_work() -> None:
    """M/M/1 at ρ = 0.5: d log R/d log S = 1/(1 - ρ) = 2, the work of 10 000 requests has 1 %, so that of the 4 % that R states 2 % are of
    the work. The count explains d log R/d log rate = ρ/(1 - ρ) = 1 times 1 % of it."""
    metrics, sizes, alike = correlated(OPEN, [{"rate_per_s": 25.0}, {"rate_per_s": 10.0}], 0.04)
    left = np.sqrt(0.04**2 - 0.01**2)
    assert metrics == ["response_time", "busy"]
    assert sizes == pytest.approx([left, COUNT], rel=1e-3)
    assert alike[0, 1] == pytest.approx(0.02 / left, rel=2e-3)


def test_requests_in_even_steps_need_as_uneven_work() -> None:
    """Arrivals at a constant rate: the throughput has no error, and 10 000 exponential times have 1 % all the same."""
    metrics, sizes, _ = correlated(OPEN, [{"rate_per_s": 25.0}, {"rate_per_s": 10.0}], 0.04, 0.0, 10_000)
    assert sizes[metrics.index("busy")] == pytest.approx(0.01, rel=1e-3)


def test_work_of_two_classes_differs_between_them_too() -> None:
    """Exponential, 1 and 20 ms, as many of each, nobody counts them: E[D²]/E[D]² = (2 + 800)/2/10.5² = 3.637."""
    text = (
        OPEN.replace("{ user = { free = true } }", "{ user = 0.001, other = 0.02 }")
        + "[classes.other]\nkind = 'open'\nrate_per_s = 1\n"
    )
    assert _work_scv(sj.Model.parse(text).network) == pytest.approx([3.637], rel=1e-3)


def test_littles_law_leaves_users_with_a_constant_pause_one_error() -> None:
    """X (R + Z) = N: with Z the same for all, X is off by -R/(R + Z) of what R is off by, and by nothing else; and what a server is busy
    with, X S, shares S with both."""
    text = CLOSED.replace("THINK", '{ kind = "deterministic", mean = 0.5 }')
    metrics, _, alike = correlated(text, [{"users": 40}, {"users": 5}], 0.03)
    assert metrics == ["response_time", "throughput", "busy"]
    assert alike[0, 1] == pytest.approx(-1.0)


def test_users_that_think_long_have_more_than_one_error() -> None:
    """Two users that think for 0.5 s: R/(R + Z) is 0.04, X is off by what they thought, and R hardly."""
    metrics, _, alike = correlated(CLOSED.replace("THINK", "0.5"), [{"users": 2}, {"users": 30}], 0.01)
    assert metrics[:2] == ["response_time", "throughput"] and abs(alike[0, 1]) < 0.1


def test_a_full_server_is_busy_without_error() -> None:
    """X S = 1: of R = N S - Z, 0.7 s, the work has (R + Z)/R of its 1 %, pauses Z/R of theirs, together 1.86 %, and that is all."""
    _, sizes, _ = correlated(CLOSED.replace("THINK", "0.5"), [{"users": 60}, {"users": 5}], 0.0185)
    assert sizes[2] < 0.001


def test_parts_of_cores_share_interrupts_and_where_pages_go() -> None:
    """One of 4 cores takes interrupts: 1 ms a request, pages of 4 ms, both exponential, a quarter of them on the leading core. In ms² a
    request: leading 1 + 16*2/4 - 1 = 8 (mean 2), elsewhere 16*2*3/4 - 9 = 15 (mean 3), together -1*3, interrupts and leading 1."""
    text = (
        '[stations.cpu]\nkind = "multicore"\ncores = 4\nnics = 1\ninterrupt_s = 0.001\n[classes.user]\nkind = "open"\nrate_per_s = 1\n'
        "[service_s.cpu]\nuser = 0.004\n"
    )
    parts = {name: v[0] for name, v in _cores(as_points([sj.Model.parse(text).network]), 0).items()}
    sizes = {name: np.linalg.norm(v) for name, v in parts.items()}
    assert sizes == pytest.approx({"leading": 8**0.5 / 2, "trailing": 15**0.5 / 3, "interrupts": 1.0})
    assert parts["leading"] @ parts["trailing"] == pytest.approx(-3 / 2 / 3)
    assert parts["leading"] @ parts["interrupts"] == pytest.approx(1 / 2)
