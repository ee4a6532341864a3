"""ASL report (2017), Section 6: 2^3·3 factorial experiments. Expected: data/asl_factorial.csv (recomputed, see errata)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn.design import anova, factorial_effects

DATA = Path(__file__).parent / "data"
TABLES = {1: "throughput", 2: "response_time", 4: "throughput", 5: "response_time", 7: "throughput", 8: "response_time"}
FACTORS = {"servers": "A_servers", "middlewares": "B_middlewares", "workers": "C_worker_threads"}


def runs(table: int) -> pl.DataFrame:
    """The report's table as a run list."""
    (path,) = DATA.glob(f"asl_table{table:02d}_factorial_*.csv")
    rows = pl.read_csv(path).to_dicts()
    response = next(name for name in rows[0] if name.startswith("y1_"))[3:]
    return pl.DataFrame([
        {**{name: row[column] for name, column in FACTORS.items()}, "repetition": r, "y": row[f"y{r}_{response}"]}
        for row in rows for r in (1, 2, 3)
    ])  # fmt: skip


def golden(table: int) -> dict[str, dict[str, Any]]:
    rows = pl.read_csv(DATA / "asl_factorial.csv").filter(pl.col("table") == table)
    return {row["parameter"]: row for row in rows.to_dicts()}


def effect_name(parameter: str) -> str:
    letters = dict(zip("ABC", FACTORS, strict=True))
    return "mean" if parameter == "q0" else "·".join(letters[x] for x in parameter[1:])


@pytest.mark.parametrize("table", TABLES)
def test_effects_intervals_and_both_conventions(table: int) -> None:
    found, expected = factorial_effects(runs(table), "y", list(FACTORS), level=0.9), golden(table)
    assert found.degrees == 16
    assert found.sse == pytest.approx(expected.pop("SSE")["estimate"], rel=1e-9)
    assert found.sst == pytest.approx(expected.pop("SST")["estimate"], rel=1e-9)
    for parameter, want in expected.items():
        row = found.effect(effect_name(parameter))
        scale = abs(want["estimate"])
        assert row["estimate"] == pytest.approx(want["estimate"], abs=1e-9 * scale)
        assert row["std_error"] == pytest.approx(want["std_error"], rel=1e-9)
        assert (row["low"], row["high"]) == pytest.approx((want["ci90_low"], want["ci90_high"]), rel=1e-9)
        if parameter != "q0":
            assert 100 * row["share_of_total"] == pytest.approx(want["variation_pct_incl_SSE"], rel=1e-9)
            assert 100 * row["share_of_explained"] == pytest.approx(want["variation_pct_excl_SSE"], rel=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_the_analysis_of_variance_says_the_same(table: int) -> None:
    effects, variance = (
        factorial_effects(runs(table), "y", list(FACTORS)),
        anova(runs(table), "y", list(FACTORS), order=3),
    )
    shares = dict(zip(variance.table["source"], variance.table["share_of_total"], strict=True))
    for name, share in zip(effects.table["effect"], effects.table["share_of_total"], strict=True):
        if name != "mean":
            assert shares[name.replace("·", " x ")] == pytest.approx(share, rel=1e-8)
    estimates = dict(zip(variance.coefficients["term"], variance.coefficients["estimate"], strict=True))
    assert estimates["workers"] == pytest.approx(effects.effect("workers")["estimate"], rel=1e-9)
