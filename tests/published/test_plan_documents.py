"""The fourth document's merging, table and balancing through `sj.plan`. Expected: data/*.csv, and the errata, section 5."""

from __future__ import annotations

from pathlib import Path

import mpmath
import polars as pl
import pytest

import sojourn as sj
from sojourn.errors import InputError
from sojourn.plan.merge import Merged

DATA = Path(__file__).parent / "data"
DIGITS = 1e-12  # files have 15 or 16


def rows(name: str) -> list[dict]:
    return pl.read_csv(DATA / f"{name}.csv", infer_schema_length=None).to_dicts()


def desk(name: str, servers: int, rate_per_min: float, service_min: float = 30.0) -> sj.Model:
    service = {"desk": {"call": 60 * service_min}}
    return sj.Model([sj.Queue("desk", servers)], [sj.Open("call", rate_per_min / 60)], service_s=service, name=name)


def helpdesk(service_a: float = 30.0, service_b: float = 30.0) -> Merged:
    a, b = (next(r for r in rows("helpdesk") if r["site"] == site) for site in "AB")
    parts = ((a, service_a), (b, service_b))
    return sj.plan.merge(*(desk(r["site"], r["m"], r["lambda_per_min"], s) for r, s in parts))


def test_helpdesk() -> None:
    found = helpdesk()
    for one, row in zip((*found.desks, found.merged_queue), rows("helpdesk"), strict=True):
        assert (one.servers, one.status) == (row["m"], "ok")
        assert one.utilisation == pytest.approx(row["rho"], rel=DIGITS)
        assert one.response_s is not None and one.waiting_s is not None
        assert one.response_s / 60 == pytest.approx(row["response_min"], rel=DIGITS)
        assert one.waiting_s / 60 == pytest.approx(row["wait_min"], rel=DIGITS)


def test_helpdesk_priority_for_old_customers() -> None:
    """Cobham: W_1 = W_0/(1 - s), W_2 = W_0/((1 - s)(1 - rho)), W_0 = C S/m; whoever goes first, the mean wait stays."""
    found, (a, b, both) = helpdesk(), rows("helpdesk")
    base = both["erlang_c"] * both["S_min"] / both["m"]
    for order, row, other in zip(found.priorities, (a, b), (b, a), strict=True):
        own = row["lambda_per_min"] * row["S_min"] / both["m"]
        first, second = base / (1 - own), base / ((1 - own) * (1 - both["rho"]))
        assert order.waiting_s[row["site"]] / 60 == pytest.approx(first, rel=1e-9)
        assert order.waiting_s[other["site"]] / 60 == pytest.approx(second, rel=1e-9)
        mean = (row["lambda_per_min"] * first + other["lambda_per_min"] * second) / both["lambda_per_min"]
        assert mean == pytest.approx(both["wait_min"], rel=1e-9)


def test_merged_service_time_is_weighted_by_call_rate() -> None:
    """The errata's example: 20 and 40 min with the rates of the document."""
    found = helpdesk(20.0, 40.0)
    assert found.merged_queue.service_s / 60 == pytest.approx(33.85, abs=0.005)
    assert found.merged_queue.method != found.desks[0].method and any("not M/M/m" in note for note in found.notes)
    assert found.merged_response_s["B"] - found.merged_response_s["A"] == pytest.approx(20 * 60)


def test_merge_refuses_another_kind_of_model() -> None:
    two = sj.Model(
        [sj.Queue("a"), sj.Queue("b")], [sj.Open("x", 1.0)], demands_s={"a": {"x": 0.1}, "b": {"x": 0.1}}, name="two"
    )
    with pytest.raises(InputError, match="two: another kind of model"):
        sj.plan.merge(two, two)
    with pytest.raises(InputError, match="give two or more"):
        sj.plan.merge(two)


def test_mm8_table() -> None:
    expected = rows("mm8")
    for service_s in sorted({r["S_s"] for r in expected}):
        own = [r for r in expected if r["S_s"] == service_s]
        found = sj.plan.staff_table(8, service_s)
        assert found["utilisation"].to_list() == pytest.approx([r["utilisation_pct"] / 100 for r in own])
        assert found["response_s"].to_list() == pytest.approx([r["response_s"] for r in own], rel=DIGITS)


@pytest.mark.parametrize("row", rows("expected_max_of_normals"), ids=lambda r: str(r["n"]))
def test_expected_maximum(row: dict) -> None:
    found = sj.plan.balance(row["n"])
    told = found.expected_max_of_normals, found.max_of_normals_bound, found.max_of_normals_by_blom
    expected = row["exact_E_max"], row["bound_sqrt_2_ln_n"], row["blom_approximation"]
    # the file's last entry is right to 12 digits only: test_expected_maximum_of_a_million
    assert told == pytest.approx(expected, rel=DIGITS if row["n"] < 10**6 else 3e-12)


def test_expected_maximum_of_a_million() -> None:
    """The same integral to 30 digits (mpmath): 4.86289748619646…, where the file has 4.86289748618336."""
    with mpmath.workdps(30):
        n, cuts = 10**6, [0, 2, 3, 3.5, 4, 4.5, 5, 5.5, 6, 8, 14, 20]
        exact = mpmath.quad(lambda x: -mpmath.expm1(n * mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2)), cuts)
    assert sj.plan.balance(n).expected_max_of_normals == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    ("items", "centres", "over", "at_random"), [(64, 4, 2.059, 4.604), (64, 8, 2.013, 4.502), (256, 16, 3.532, 7.898)]
)
def test_balance_of_the_errata(items: int, centres: int, over: float, at_random: float) -> None:
    """Errata: exact sigma sqrt(N/M) e_M and e_M sqrt(N(sigma^2 + lambda^2)/M), lambda = 1, sigma = 0.5."""
    found = sj.plan.balance(centres, items=items, item_mean=1.0, item_deviation=0.5)
    assert found.busiest_if_in_turn - items / centres == pytest.approx(over, abs=5e-4)
    assert found.busiest_if_random - items / centres == pytest.approx(at_random, abs=1.5e-3)


def test_quanta_of_the_errata() -> None:
    """11 frames of deviation 6 instead of an exchange of 1586: 80 times more even, and not 24."""
    found = sj.plan.balance(8, pieces_per_item=11, item_mean=20270, item_deviation=1586, piece_deviation=6)
    assert found.excess_ratio == pytest.approx(1586 / (6 * 11**0.5)) and round(found.excess_ratio or 0) == 80
    assert found.break_even_piece_deviation == pytest.approx(1586 / 11**0.5)
