"""A fitted model as a source: its draws make the interval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from query_golden import MODEL

import sojourn as sj
from sojourn.fit.fitted_model import FittedModel
from sojourn.fit.parameter_estimate import ParameterEstimate
from sojourn.query.query import model_source
from sojourn.query.sources.fitted_source import FittedSource, spread

PATH = "demands_s.cpu.user"


def fitted(model_error: float | None, times: np.ndarray) -> FittedModel:
    """M/M/4 whose service time was found to be 20 ms, with these draws."""
    model = sj.Model.parse(MODEL)
    estimate = ParameterEstimate(0.02, float(times.min()), float(times.max()))
    configurations = ({"rate_per_s": 100.0}, {"rate_per_s": 150.0})
    return FittedModel(model, model, (PATH,), {PATH: estimate}, times[:, None], model_error, {}, 1000, (), configurations, 0.95, 1,
                       "mmm", "")  # fmt: skip


def test_between_the_values_of_the_draws() -> None:
    """Monotone in the only unknown: the ends are what the model says at the ends of the draws, 19 and 21 ms."""
    source = FittedSource(fitted(None, np.linspace(0.019, 0.021, 41)), {})
    ends = [sj.Model.parse(MODEL.replace("0.02 ", f"{t} ")) for t in (0.019, 0.021)]
    for text in ("mean", "p99", "probability({n() >= 4})", "mean(n())", "mean(passage(from {n() >= 4} to {n() < 4}))",
                 "utilisation{station=cpu}", "p95(convolve(wait, wait))", "probability(response > 50ms)"):  # fmt: skip
        found = sj.query(text, source)
        low, high = (sj.query(text, end).value for end in ends)
        assert low is not None and high is not None and found.low is not None and found.high is not None
        assert low * 0.999 <= found.low < found.high <= high * 1.001, text
        assert found.high - found.low > 0.85 * (high - low), text
        assert found.value == sj.query(text, sj.Model.parse(MODEL)).value
    assert sj.query("rate", source).low == 150.0, "what no unknown changes has no width"


def test_all_times_longer_by_one_factor() -> None:
    """The model's own error: demands by a factor f are the same model at f times the rate, its times f times as long."""
    source = FittedSource(fitted(0.03, np.full(41, 0.02)), {})
    for one, times, _ in source.drawn[:5]:
        slower = sj.Model.parse(MODEL.replace("0.02 ", f"{0.02 * times} "))
        for text, power in (
            ("mean", 1),
            ("p99", 1),
            ("moment(2, wait)", 2),
            ("utilisation{station=cpu}", 0),
            ("rate", -1),
        ):
            assert sj.query(text, one).value * times**power == pytest.approx(sj.query(text, slower).value, rel=1e-9), (
                text
            )  # type: ignore[operator]


def test_draws_that_saturate_have_no_upper_end() -> None:
    source = FittedSource(fitted(None, np.linspace(0.02, 0.028, 41)), {})
    found = sj.query("mean", source)
    assert found.high is None and found.low == pytest.approx(0.0301886, rel=1e-5)
    assert sj.query("mean < 1h", source).verdict == "cannot tell"
    assert sj.query("mean > 1ms", source).verdict == "yes"
    assert spread(2.0, [1.0, 3.0]).low == 1.0


def test_a_throughput_is_finite_where_draws_saturate() -> None:
    """Four servers of s seconds let 4/s through, and no more than the 150/s that arrive: 146.0/s at 27.4 ms, beyond which lie
    5 % of the draws; all servers are busy then."""
    source = FittedSource(fitted(None, np.linspace(0.02, 0.028, 41)), {})
    for text in ("throughput", "rate(answered)"):
        found = sj.query(text, source)
        assert found.low == pytest.approx(4 / 0.0274, rel=1e-3) and found.value == found.high == 150.0, text
    busy = sj.query("utilisation{station=cpu}", source)
    assert busy.low == pytest.approx(0.75, abs=0.01) and busy.high == pytest.approx(1.0)
    assert sj.query("rate(arrivals)", source).low == 150.0
    assert sj.query("throughput > 140 /s", source).verdict == "yes"


def test_a_throughput_beyond_saturation_scaled_by_the_error_of_the_model() -> None:
    """Demands by a factor f: 4/(26 ms f) get through where that is less than 150/s."""
    fit = fitted(0.05, np.full(41, 0.026))
    source = FittedSource(fit, {})
    longest = float(np.quantile(fit.longer[: len(source.drawn)], 0.95, method="nearest"))
    assert longest > 1.03
    assert sj.query("throughput", source).low == pytest.approx(4 / 0.026 / longest, rel=1e-6)


def test_from_its_file_at_another_rate(tmp_path: Path) -> None:
    fitted(0.01, np.linspace(0.019, 0.021, 41)).write(tmp_path / "fitted.toml")
    source = model_source(tmp_path / "fitted.toml", {"rate_per_s": 100.0})
    at_100 = sj.Model.parse(MODEL.replace("150", "100"))
    assert sj.query("p99", source).value == pytest.approx(sj.query("p99", at_100).value, rel=1e-9)
    assert sj.query("mean < 1s", source).verdict == "yes"


def test_two_classes_from_a_file(tmp_path: Path) -> None:
    """The disk: 40 /s of 5 ms and 10 /s of 30 ms are half of it; the demand of writes is the unknown. What only a simulation knows is
    refused with that remedy, and the simulation answers."""
    model = sj.Model.parse(
        "[stations.cpu]\nservers = 2\n[stations.disk]\nservers = 1\n"
        '[classes.read]\nkind = "open"\nrate_per_s = 40\n[classes.write]\nkind = "open"\nrate_per_s = 10\n'
        "[demands_s]\ncpu = { read = 0.01, write = 0.02 }\ndisk = { read = 0.005, write = 0.03 }\n"
    )
    path, draws = "demands_s.disk.write", np.linspace(0.028, 0.032, 41)[:, None]
    estimate = {path: ParameterEstimate(0.03, 0.028, 0.032)}
    fit = FittedModel(
        model, model, (path,), estimate, draws, None, {}, 1000, (), ({"rate_per_s": 50.0},), 0.95, 1, "file", ""
    )
    fit.write(tmp_path / "two.toml")
    found = sj.query("utilisation{station=disk}", tmp_path / "two.toml")
    assert found.value == pytest.approx(0.5) and found.low == pytest.approx(0.482, abs=0.001)
    write, read = (sj.query(f"mean{{class={name}}}", tmp_path / "two.toml") for name in ("write", "read"))
    assert write.low is not None and read.high is not None and write.low > read.high
    refused = sj.query("p99{class=write} < 300ms", tmp_path / "two.toml")
    assert refused.verdict == "cannot tell" and "--simulated-model" in refused.reason
    from sojourn.query.sources.simulated import SimulatedSource

    assert sj.query("p99{class=write} < 300ms", SimulatedSource(model, until_s=2000)).verdict == "yes"
    assert "did you mean read?" in sj.query("p99{class=reed}", tmp_path / "two.toml").reason
