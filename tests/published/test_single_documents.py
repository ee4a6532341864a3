"""Single stations of the documents through the public API. Expected values: data/*.csv (recomputed, see the errata)."""

from __future__ import annotations

import functools
from pathlib import Path

import polars as pl
import pytest

import sojourn as sj
from sojourn.fit.scalability_law import fit_usl, peak
from sojourn.solve.expected_maximum import busiest_load, normal_maximum
from sojourn.solve.method import RequestedOutputs
from sojourn.table import Metrics

DATA = Path(__file__).parent / "data"
CLOSE = 1e-9
ASL = {
    10: "mm1_wt64",
    11: "mm1_wt32",
    12: "mm1_wt16",
    13: "mm1_wt8",
    14: "mm128_vc33",
    15: "mm128_vc17",
    16: "mm128_vc9",
}


def rows(name: str) -> list[dict]:
    return pl.read_csv(DATA / f"{name}.csv", infer_schema_length=None).to_dicts()


def queue(rate: float, service_s: float, servers: int, **wanted) -> Metrics:
    model = sj.Model([sj.Queue("q", servers=servers)], [sj.Open("job", rate)], service_s={"q": {"job": service_s}})
    return sj.solve(model, requested_outputs=RequestedOutputs(**wanted))


def quantity(m: Metrics, name: str) -> float:
    """A quantity of the documents, SI."""
    if name.startswith("w") and name[1:].isdigit():
        return m.value("waiting_time_quantile", "q", q=float(name[1:]) / 100)
    direct = {
        "rho": "utilisation", "C": "waiting_probability", "En": "queue_length", "Varn": "queue_length_variance",
        "Er": "response_time", "Varr": "response_time_variance", "Ew": "waiting_time", "Varw": "waiting_time_variance",
    }  # fmt: skip
    if name == "p0":
        return m.value("queue_length_probability", "q", n=0)
    if name in direct:
        return m.value(direct[name], "q")
    in_line = m.value("throughput", "q") * m.value("waiting_time", "q")
    if name == "Enq":
        return in_line
    assert name == "Varnq"  # jobs in line, from the law of the number present: p(n) is asked for to n = 2000
    p = m.frame.filter((pl.col("metric") == "queue_length_probability") & (pl.col("class") == ""))
    return sum(max(n - 25, 0) ** 2 * v for n, v in zip(p["n"], p["value"], strict=True)) - in_line**2


@functools.cache
def telesto() -> Metrics:
    return queue(2498, 1 / 124.1, 25, quantiles=(0.9, 0.99), state_probabilities=2000)


@pytest.mark.parametrize("row", rows("telesto_mm25"), ids=lambda r: r["quantity"])
def test_telesto_section_2_3(row: dict) -> None:
    assert quantity(telesto(), row["quantity"]) == pytest.approx(row["value_si_units"], rel=CLOSE)


def test_telesto_law_of_the_number_present() -> None:
    for row in rows("telesto_mm25_pn"):
        found = telesto().value("queue_length_probability", "q", n=row["n"])
        assert found == pytest.approx(row["p_n"], rel=CLOSE), row["n"]


@functools.cache
def asl(table: int) -> Metrics:
    given = {r["variable"]: float(r["estimated"]) for r in rows(f"asl_table{table}_{ASL[table]}")}
    return queue(given["λ"], 1 / given["μ"], 1 if table < 14 else 128, state_probabilities=0)


@pytest.mark.parametrize("row", rows("asl_mm1_mm128"), ids=lambda r: f"table-{r['table']}-{r['quantity']}")
def test_asl_tables_10_to_16(row: dict) -> None:
    name = row["quantity"]
    # times are in ms there, variances in s^2 x 1000: the same factor
    scale = 1e-3 if name in ("Er", "Ew", "Varr", "Varw") else 1.0
    expected = row["value_ms_and_s2e3_as_in_the_tables"] * scale
    assert quantity(asl(row["table"]), name) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("row", rows("mm8"), ids=lambda r: f"{r['S_s']}-{r['utilisation_pct']}")
def test_ascknd_mm8(row: dict) -> None:
    m = queue(row["utilisation_pct"] / 100 * 8 / row["S_s"], row["S_s"], 8)
    assert m.value("response_time", "q") == pytest.approx(row["response_s"], rel=CLOSE)


@pytest.mark.parametrize("row", rows("helpdesk"), ids=lambda r: r["site"])
def test_ascknd_helpdesk(row: dict) -> None:
    m = queue(row["lambda_per_min"] / 60, row["S_min"] * 60, row["m"])
    assert m.value("utilisation", "q") == pytest.approx(row["rho"], rel=CLOSE)
    assert m.value("waiting_probability", "q") == pytest.approx(row["erlang_c"], rel=CLOSE)
    assert m.value("response_time", "q") == pytest.approx(row["response_min"] * 60, rel=CLOSE)
    assert m.value("waiting_time", "q") == pytest.approx(row["wait_min"] * 60, rel=CLOSE)


@pytest.mark.parametrize("row", rows("expected_max_of_normals"), ids=lambda r: str(r["n"]))
def test_expected_maximum_of_normals(row: dict) -> None:
    assert normal_maximum(row["n"]) == pytest.approx(row["exact_E_max"], rel=CLOSE)
    assert row["bound_sqrt_2_ln_n"] > 1.08 * normal_maximum(row["n"])  # errata, section 5: an upper bound only


# errata, section 5: sigma = 0.5, mean 1; exact and Monte Carlo (+/- 0.02) with the count fixed, Monte Carlo with hashing
BALANCE = [(64, 4, 2.059, 4.604), (64, 8, 2.013, 4.502), (256, 16, 3.532, 7.898)]


@pytest.mark.parametrize(("items", "loads", "fixed", "hashed"), BALANCE)
def test_ascknd_busiest_of_several_loads(items: int, loads: int, fixed: float, hashed: float) -> None:
    over = busiest_load(items, loads, deviation=0.5) - items / loads
    assert over == pytest.approx(fixed, abs=5e-4)
    over = busiest_load(items, loads, deviation=0.5, assignment="random") - items / loads
    assert over == pytest.approx(hashed, abs=5e-4)


X4 = {"slope 0.5 (X4=2.5)": 2.5, "X4=3": 3.0, "+50 % compounding (X4=3.375)": 3.375, "perfect (X4=4)": 4.0}
LOSS = {"XEN": 0.06, "KVM and CH": 0.12, "physical": 0.15}


@pytest.mark.parametrize("row", rows("ntier_usl"), ids=lambda r: f"{r['assumption']}-{r['hypervisor']}")
def test_ntier_scalability(row: dict) -> None:
    four = X4[row["assumption"]]
    found = fit_usl([1, 4, 8], [1, four, four * (1 - LOSS[row["hypervisor"]])], constrained=False)
    assert found.sigma == pytest.approx(row["sigma_contention"], rel=CLOSE)
    assert found.kappa == pytest.approx(row["kappa_coherency"], rel=CLOSE)
    assert peak(found.sigma, found.kappa) == pytest.approx(row["N_star"], rel=CLOSE)
    assert found.best_size == row["integer_peak"]
    assert found.valid == (row["valid_sigma_ge_0"] == "yes")
    assert found.intervals["sigma"] is None  # three points, three parameters: nothing is tested
