"""Services that CPU time limits: candidates of which a request takes longer at rest."""

from __future__ import annotations

from sojourn.fit.candidate_models import candidates, shares_of
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.model_selection import choose_model

WORK_S, AT_REST = 0.001, 0.3
RATES = (150.0, 220.0, 310.0, 400.0)


def runs(response_of_cpu: float = 1.0) -> FitRuns:
    """M/D/1 whose CPU time is W (1 + 0.3 (1 - u²)), u = λS: S by its quadratic equation, 0.3 W λ² S² + S - 1.3 W = 0."""
    found = []
    for rate in RATES:
        a = AT_REST * WORK_S * rate**2
        time_s = ((1 + 4 * a * (1 + AT_REST) * WORK_S) ** 0.5 - 1) / (2 * a)
        u = rate * time_s
        response_s = time_s * (1 + u / (2 * (1 - u))) * response_of_cpu
        means = {("", "response_time"): (response_s, 0.02), ("", "throughput"): (rate, 0.01)}
        found.append(FitRun(f"rate-{rate:g}", {"rate_per_s": rate}, means, {"processes": u}, 2))
    return FitRuns(found)


def test_saturation_beyond_what_cpu_time_of_moderate_runs_says_is_in_the_interval() -> None:
    """Full at 1/W = 1000/s; the CPU time of the last run alone says 1/1.25 ms = 800/s."""
    found = choose_model(runs()).best.predict({"rate_per_s": 600.0}, 0.9)
    low, high = found.interval("saturation_rate")
    assert low is not None and high is not None and low < 1000 < high < 2600


def test_where_most_of_a_response_is_cpu_time_no_model_leaves_it_out() -> None:
    assert all("utilised like processes" in name for name in candidates(runs()))
    other = candidates(runs(response_of_cpu=5.0))
    assert "1 server" in other and "1 server, beside processes" in other


def test_both_variants_of_a_model_count_as_one() -> None:
    shares = shares_of(candidates(runs()))
    pair = [one for name, one in shares.items() if name.startswith("1 server, a constant time, utilised")]
    assert pair[:2] == [0.5, 0.5]
