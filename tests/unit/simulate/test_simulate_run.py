"""`simulate` from model to verdict, on a stand-in engine (M/M/1 by Lindley's recursion).

Truth: mean response 1/(mu - lambda), quantile q of response -ln(1 - q)/(mu - lambda) (Kleinrock, Queueing Systems,
vol. 1 (1975), 3.2 and 5.9).
"""

from __future__ import annotations

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from lindley import Lindley

import sojourn as sj
from sojourn.errors import InputError
from sojourn.simulate import compare_simulated, simulate, stopping_rule
from sojourn.simulate.metrics_table import _not_negative
from sojourn.simulate.progress_bar import bar, share, text
from sojourn.simulate.simulate import ProgressSnapshot
from sojourn.stats.batch_means import IntervalEstimate

MU = 100.0


def queue(rate_per_s: float) -> sj.Model:
    return sj.Model(
        stations=[sj.Queue("cpu")],
        classes=[sj.Open("user", rate_per_s=rate_per_s)],
        demands_s={"cpu": {"user": 1 / MU}},
    )


def run(rate_per_s: float = 50.0, **more: Any) -> sj.Metrics:
    return simulate(queue(rate_per_s), **{"precision": 0.05, "engine": Lindley, **more})


def test_means_and_quantiles_enclose_the_truth() -> None:
    found = run(seed=2)
    low, high = found.interval("response_time")
    assert found.status == "ok" and low is not None and high is not None
    assert low <= 1 / 50 <= high and (high - low) / 2 <= 0.051 / 50 * 1.1
    low, high = found.interval("response_time_quantile", cls="user", q=0.99)
    assert low is not None and high is not None and low <= math.log(100) / 50 <= high
    low, high = found.interval("utilisation", "cpu", "user")
    assert low is not None and high is not None and low <= 0.5 <= high


def test_rows_say_that_they_are_simulated_and_at_which_level() -> None:
    found = run(level=0.9, seed=3)
    assert set(found.frame["source"]) == {"simulated"}
    assert set(found.frame["level"]) == {0.9}
    assert found.method == "simulation, batch means" and "seed 3" in found.message


def test_the_same_seed_gives_the_same_answer_and_another_another() -> None:
    assert run() == run()
    assert run().value("response_time") != run(seed=2).value("response_time")


def test_threads_do_not_change_the_answer() -> None:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(5) as five:
        answers = [run(replications=3, parallel=e) for e in (one, five, None)]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0].method == "simulation, 3 replications"


def test_processes_give_the_same_answer_as_threads() -> None:
    with ProcessPoolExecutor(2) as pool:
        assert run(replications=2, precision=0.1, parallel=pool) == run(replications=2, precision=0.1)


def test_law_of_little_and_utilisation_law_hold() -> None:
    found = run(80.0, completions=100_000)
    number, rate, response = (found.value(m) for m in ("queue_length", "throughput", "response_time"))
    assert number == pytest.approx(rate * response, rel=2e-3)  # those who are inside at the ends of the window
    assert found.value("utilisation", "cpu") == pytest.approx(rate / MU, rel=0.02)


def test_a_run_that_is_too_short_keeps_its_estimate_and_says_how_long_would_do() -> None:
    found = run(90.0, completions=5_000, precision=0.01)
    assert found.status == "too_short" and "run about" in found.message
    assert found.value("response_time") == pytest.approx(0.1, rel=0.5)
    assert found.interval("response_time")[0] is not None


def test_the_length_that_is_suggested_is_about_right() -> None:
    first = run(completions=5_000, precision=0.05, seed=5)
    times = float(first.message.split("(")[1].split(" times")[0].replace(",", ""))
    second = run(completions=int(5_000 * times * 3), precision=0.05, seed=5)  # estimated from a short run
    assert second.status == "ok"


def test_a_handful_of_completions_has_values_without_interval() -> None:
    found = run(completions=2)
    assert found.status == "too_short"


def test_fixed_simulated_time_ends_there() -> None:
    assert "simulated" in run(until_s=200.0).message
    assert run(until_s=200.0).value("throughput") == pytest.approx(50, rel=0.1)


def test_wall_time_is_kept() -> None:
    found = run(90.0, precision=0.0001, max_wall_time_s=0.2)
    assert found.status == "too_short"


@pytest.mark.parametrize("rate_per_s", [100.0, 130.0])
def test_more_than_can_be_served_is_a_status_with_the_rate_at_which_it_starts(rate_per_s: float) -> None:
    found = run(rate_per_s)
    assert found.status == "unstable" and f"{MU / rate_per_s:.4g}" in found.message
    assert math.isnan(found.value("response_time"))
    assert found.value("throughput") == pytest.approx(MU, rel=0.05)
    assert set(found.where(metric="response_time").frame["status"]) == {"unstable"}


def test_growth_is_seen_without_knowing_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping_rule, "overload", lambda network: {})
    found = run(120.0)
    assert found.status == "unstable" and "cpu" in found.message


def test_a_busy_but_stable_queue_is_not_called_unstable() -> None:
    assert run(97.0, completions=200_000).status == "too_short"


class Interrupting(Lindley):
    """Ctrl-C in the fourth look."""

    calls = 0

    def run(self, until_s: float | None, completions: int | None, seconds: float | None) -> None:
        Interrupting.calls += 1
        if Interrupting.calls == 4:
            raise KeyboardInterrupt
        super().run(until_s, completions, seconds)


def test_ctrl_c_keeps_what_was_done() -> None:
    Interrupting.calls = 0
    found = run(90.0, precision=0.001, engine=Interrupting)
    assert found.status == "interrupted"
    assert found.value("response_time") == pytest.approx(0.1, rel=0.5)


def test_ctrl_c_before_the_first_batch_stays_an_interruption() -> None:
    Interrupting.calls = 3
    with pytest.raises(KeyboardInterrupt):
        run(engine=Interrupting)


@pytest.mark.parametrize(
    "wrong",
    [{"precision": 0}, {"precision": 1.5}, {"level": 1.0}, {"level": 0.2}, {"seed": -1}, {"seed": 2**64},
     {"replications": 0}, {"until_s": 0.0}, {"until_s": math.inf}, {"completions": 0}, {"max_wall_time_s": 0},
     {"quantiles": (0.5, 1.0)}],
)  # fmt: skip
def test_arguments_out_of_range_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as error:
        run(**wrong)
    assert error.value.place == next(iter(wrong))


def test_progress_tells_the_precision_reached() -> None:
    looks: list[ProgressSnapshot] = []
    run(90.0, progress=looks.append)
    assert looks[0].precision == math.inf and looks[-1].precision < looks[1].precision
    assert text(looks[-1]).startswith("±") and 0 < share(looks[-1]) <= 1


def test_no_bar_where_there_is_no_terminal() -> None:
    with bar() as shown:
        assert shown is None


def test_common_random_numbers_know_a_difference_better() -> None:
    found = compare_simulated(queue(80.0), queue(70.0), precision_of_each=0.1, engine=Lindley, replications=10)
    low, high = found.interval("response_time")
    assert low is not None and high is not None and low <= 1 / 30 - 1 / 20 <= high < 0
    assert "narrower" in found.message and found.frame["a"][0] is not None


def test_a_difference_needs_pairs_and_stability() -> None:
    with pytest.raises(InputError):
        compare_simulated(queue(10), queue(20), replications=2, engine=Lindley)
    assert compare_simulated(queue(10), queue(200), engine=Lindley).status == "unstable"


def test_a_run_that_is_too_short_shows_no_negative_wait() -> None:
    """Where servers are shared a wait is response less service, and the service of those still there counts too."""
    ends = np.array([[-0.5, -0.9, -0.1], [-0.5, -0.9, 0.3], [0.5, -0.2, 0.9], [-0.5, np.nan, np.nan]]).T
    found = _not_negative(IntervalEstimate(*ends, ends[0]))
    assert np.array_equal(found.value, [np.nan, 0.0, 0.5, np.nan], equal_nan=True)
    assert np.array_equal(found.low, [np.nan, 0.0, 0.0, np.nan], equal_nan=True)
    assert np.array_equal(found.high, [np.nan, 0.3, 0.9, np.nan], equal_nan=True)
