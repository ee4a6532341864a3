"""What the study's report says of multi-gets: both sides' histograms, start-up zeros, ratios in pairs; factorial blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from kv_rows import row as row_of
from kv_rows import rows_of
from scipy.stats import t

from sojourn.report import Figure, Table, Text
from sojourn.runs.request_rows import request_frame
from sojourn.runs.run_folder import RunFolder
from sojourn.runs.run_metrics import metrics_row as metric
from sojourn.study.factorial_effects import effects_blocks
from sojourn.table import Metrics
from sojourn_cases.kv.middleware import response_bins
from sojourn_cases.kv.middleware.middleware_records import startup
from sojourn_cases.kv.multiget import multiget_blocks, repetition_ratio

PERIOD_S = 0.05


def bins_at(times: np.ndarray, t_s: float) -> pl.DataFrame:
    """As the proxy writes them, at the end of a period."""
    rows = response_bins.of_times(times).with_columns(pl.col("count").cast(pl.UInt64))
    return rows.select(t_s=pl.lit(t_s), low_s="low_s", high_s="high_s", count="count")


def log_of(counts: list[int], start_s: float) -> pl.DataFrame:
    """One thread's log: arrivals and completions by period."""
    ends = start_s + PERIOD_S * np.arange(1, len(counts) + 1)
    return pl.DataFrame({"t_s": ends, "length_s": PERIOD_S, "thread": 0, "arrivals": counts, "completions": counts})


def folder_of(
    path: Path, client: np.ndarray, middleware: np.ndarray | None, factors: dict[str, Any] | None = None, **more: Any
) -> RunFolder:
    """A run whose sides answered in [10, 11): before and after it, other times that must not count."""
    done = np.concatenate([np.full(50, 9.9), np.linspace(10.0, 10.999, len(client)), np.full(50, 11.01)])
    sent = done - np.concatenate([np.full(50, 0.5), client, np.full(50, 0.5)])
    manifest = {"section": "multiget", "valid": True, "reasons": [], "checks": {}, "kv": {}, "window_s": [10.0, 11.0]}
    folder = RunFolder.create(path, {**manifest, "factors": factors or {}, **more})
    request_frame({"intended_s": sent, "done_s": done}).write_parquet(path / "requests.parquet")
    if middleware is not None:
        bins = [bins_at(np.full(50, 0.4), 9.95), bins_at(middleware, 10.5), bins_at(np.full(50, 0.4), 11.04)]
        log = pl.DataFrame({"t_s": [9.95, 10.5, 11.04], "length_s": [0.05, 0.05, 0.05]})
        response_bins.keep(folder, [log], [pl.concat(bins)])
    return folder


def factors(sharded: bool) -> dict[str, Any]:
    given = {"design": "staged", "servers": 3, "proxies": 2, "workers": 8, "workload": "multi-6"}
    return {**given, "sharded": sharded, "clients": 12}


def test_both_sides_have_what_lies_in_the_window_and_no_more(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    middleware = rng.gamma(4.0, 1e-4, 4000)
    client = middleware + 2e-4
    folder = folder_of(tmp_path / "run", client, middleware)
    sides = response_bins.read([folder.path])
    assert {side: int(bins["count"].sum()) for side, bins in sides.items()} == {"client": 4000, "middleware": 4000}
    for q in (0.25, 0.5, 0.75, 0.9, 0.99):
        for side, times in (("client", client), ("middleware", middleware)):
            assert response_bins.quantiles(sides[side], [q])[0] == pytest.approx(
                np.quantile(times, q), abs=response_bins.FINE_S
            )


def test_quantiles_are_straight_within_a_bin_and_unknown_in_the_overflow() -> None:
    bins = response_bins.of_times(np.array([1e-6, 2e-6, 3e-6, 4e-6, 2.0, 3.0]))
    assert response_bins.quantiles(bins, [1 / 3]) == [pytest.approx(2.5e-6)]
    assert np.isnan(response_bins.quantiles(bins, [0.9])[0])
    assert np.isnan(response_bins.quantiles(bins.clear(), [0.5])[0])


def test_steps_add_up_with_what_lies_beyond() -> None:
    times = np.array([0.0, 99e-6, 101e-6, 9.95e-3, 10.05e-3, 0.5, 0.9999, 1.5])
    counts, beyond, overflow = response_bins.steps(response_bins.of_times(times), 10.1e-3)
    assert (counts[0], counts[1], counts[99], counts[100]) == (2, 1, 1, 1)
    assert (int(counts.sum()), beyond, overflow) == (5, 3, 1)


def test_sampled_records_count_for_all(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "run", np.full(10, 1e-3), None, generator={"sample_every": 4})
    assert int(response_bins.of_client(folder)["count"].sum()) == 40


def test_nothing_is_kept_without_a_middleware_nor_found(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "run", np.ones(1), None, factors(False))
    response_bins.keep(folder, [], [])
    assert response_bins.read([folder.path]) == {}
    assert list(multiget_blocks([])) == []


def test_start_up_zeros_lower_the_mean_of_a_whole_log() -> None:
    """4 periods without a request, then 6 with 10 each, then 2 empty ones after the last: 60 in 0.5 s, not in 0.3 s."""
    found = startup([log_of([0] * 4 + [10] * 6 + [0] * 2, 5.0)])
    assert found["startup_s"] == pytest.approx(0.2)
    assert found["mw_whole_per_s"] == pytest.approx(60 / 0.5)
    two = startup([log_of([0, 10, 10], 5.0), log_of([0, 0, 0, 10], 5.0)])
    assert two["startup_s"] == pytest.approx(0.1)
    assert two["mw_whole_per_s"] == pytest.approx(20 / 0.15 + 10 / 0.2)
    assert startup([]) == startup([log_of([0, 0], 1.0)]) == {}


def seen(repetition: int, sharded: bool, x: float) -> dict[str, Any]:
    return row_of(x, **factors(sharded), repetition=repetition)


def test_ratios_are_taken_in_pairs() -> None:
    """What all runs of a repetition share does not widen the interval."""
    whole, split = (
        [seen(k, s, x * d) for k, d in ((1, 1.0), (2, 3.0), (3, 0.2))] for s, x in ((False, 1e3), (True, 8e2))
    )
    exact = repetition_ratio(rows_of(*split), rows_of(*whole), "throughput_per_s")
    assert exact is not None
    assert exact.value == pytest.approx(0.8)
    logs = np.log([0.7, 0.8, 0.9])
    pairs = [seen(k, True, r * 1e3) for k, r in ((1, 0.7), (2, 0.8), (3, 0.9))]
    found = repetition_ratio(rows_of(*pairs), rows_of(*(seen(k, False, 1e3) for k in (1, 2, 3))), "throughput_per_s")
    assert found is not None
    half = t.ppf(0.95, 2) * logs.std(ddof=1) / 3**0.5
    assert found.low == pytest.approx(np.exp(logs.mean() - half))
    assert repetition_ratio(rows_of(seen(1, True, 1.0)), rows_of(seen(2, False, 1.0)), "throughput_per_s") is None


def with_metrics(folder: RunFolder, *rows: dict[str, Any]) -> RunFolder:
    Metrics.of(rows, "measured").write(folder.path / "metrics.parquet")
    return folder


def test_the_multi_get_section_has_the_network_as_the_shift(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    runs = []
    for repetition in (1, 2, 3):
        for sharded in (False, True):
            times = rng.gamma(4.0, 1e-4, 4000)
            folder = folder_of(
                tmp_path / f"{repetition}{sharded}", times + 1e-3, times, factors(sharded), repetition=repetition,
            )  # fmt: skip
            folder.manifest["kv"] = {"startup_s": 0.1, "mw_whole_per_s": 800.0}
            both = [metric("throughput", 1e3, station=station, unit="1/s") for station in ("", "middleware")]
            runs.append(with_metrics(folder, *both))
    split, sides, text, figure = multiget_blocks(runs)
    assert (
        isinstance(split, Table) and isinstance(sides, Table) and isinstance(text, Text) and isinstance(figure, Figure)
    )
    assert split.rows[0][:2] == ("staged", "6")
    for row in sides.rows:
        if "client" in row:
            shift = dict(zip(sides.columns, row, strict=True))["shift of p50"]
            assert shift == pytest.approx(1.0, abs=2e-3)  # ms
    assert "-20.0 % off" in text.markdown and "0.10 s of its log" in text.markdown
    assert [s.name for s in figure.series] == [
        "client, whole",
        "middleware, whole",
        "client, split",
        "middleware, split",
    ]
    for s in figure.series:
        shares = sum(y for y in s.y[1:-1:2] if y is not None)
        assert 95 < shares <= 100.001  # % of the requests; the note has the rest


def test_a_factorial_experiment_shows_variation_errors_and_scale(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    runs = []
    for r in (1, 2, 3):
        for s in (1, 3):
            for w in (8, 32):
                x = 1000.0 * s * w * float(np.exp(rng.normal(0, 0.01)))
                given = {"workload": "get", "servers": s, "workers": w}
                folder = RunFolder.create(tmp_path / f"{r}-{s}-{w}", {"section": "factorial", "factors": given})
                runs.append(with_metrics(folder, metric("throughput", x, unit="1/s"), metric("response_time", 12 / x)))
    names = ["servers", "workers"]
    blocks = list(effects_blocks("factorial", runs, names, "workload"))
    assert [type(b) for b in blocks] == [Table, Figure, Figure, Figure, Text] * 2
    table, variation, *_, text = blocks[:5]
    assert isinstance(variation, Figure) and isinstance(text, Text) and isinstance(table, Table)
    assert table.title == "factorial, get: throughput, 1/s"
    assert variation.x_names == ("A", "B", "AB", "error")
    assert sum(v for v in variation.series[0].y if v is not None) == pytest.approx(100)
    assert sum(v for v in variation.series[1].y if v is not None) == pytest.approx(100)
    assert "A servers (1, 3), B workers (8, 32)" in variation.note
    assert "analyse the logarithm of the response: effects multiply" in text.markdown
    single = [b for b in effects_blocks("factorial", runs[:4], names, "workload") if isinstance(b, Text)]
    assert "no errors to examine" in single[0].markdown
