"""`fit` without a model takes windows of several classes: it models all of them as one, and their own rates change nothing in it."""

from sojourn.fit.candidate_models import candidates
from sojourn.fit.factor_mapping import factors_of
from sojourn.fit.fit_runs import FitRun, FitRuns


def _run(a: float, b: float) -> FitRun:
    means = {("", "throughput"): (a + b, 0.0), ("", "response_time"): (0.1, 0.0)}
    return FitRun(f"{a}", {"rate_a_per_s": a, "rate_b_per_s": b, "rate_per_s": a + b}, means, {"cpu": 0.5})


def test_rates_of_classes_are_no_factors_of_the_service() -> None:
    runs = FitRuns([_run(a, 20.0 - a / 2) for a in (1.0, 5.0, 9.0)])
    found = candidates(runs)
    assert "1 server" in found
    for model in found.values():
        mapped = factors_of(model, [run.factors for run in runs.runs])
        assert [one.path for one in mapped] == ["classes.user.rate_per_s"]


def test_nor_are_users_and_think_times_of_classes() -> None:
    factors = {"users_a": 4, "think_a_s": 1.0, "users_b": 2, "think_b_s": 3.0, "users": 6, "think_s": 1.5}
    means = {("", "throughput"): (3.0, 0.0), ("", "response_time"): (0.1, 0.0)}
    runs = FitRuns([FitRun("x", {**factors, "users_a": n, "users": n + 2}, means, {"cpu": 0.5}) for n in (4, 5)])
    for name, model in candidates(runs).items():
        assert "users_a" not in name
        assert "classes.user.population" in [one.path for one in factors_of(model, [run.factors for run in runs.runs])]
