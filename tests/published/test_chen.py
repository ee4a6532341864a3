"""Chen et al. (ICPE 2014) through the public API. Expected values: data/chen_*.csv (recomputed, see the errata)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq

from sojourn.solve import routing_probability, two_class
from sojourn.solve.two_class import PRINTED

DATA = Path(__file__).parent / "data"
MU1 = 3301.0  # Section 4.3
MU2 = {row["cores"]: float(row["mu2_req_per_s"]) for row in pl.read_csv(DATA / "chen_table2_mu2.csv").to_dicts()}
VARIANT = {"tandem": "paper", "shared": "shared"}


def rows(name: str) -> list[dict[str, float]]:
    return pl.read_csv(DATA / f"chen_{name}.csv", infer_schema_length=None).to_dicts()


@pytest.mark.parametrize("row", rows("cpu0"), ids=lambda r: f"{r['lambda_per_s']}-{r['p']}-{r['N']}")
def test_propositions_1_to_3(row: dict[str, float]) -> None:
    cores = 1 if row["p"] == 1 else 8
    m = two_class(
        row["lambda_per_s"], mu1_per_s=row["mu1_per_s"], mu2_per_s=row["mu2_per_s"], p=row["p"], capacity=int(row["N"]),
        cores=cores,
    )  # fmt: skip
    assert m.value("queue_length_probability", "leading", n=0) == pytest.approx(row["pi00"], rel=1e-11)
    assert m.value("queue_length", "leading") == pytest.approx(row["Ek_jobs"], rel=1e-12)
    assert m.value("loss_probability") == pytest.approx(row["PN"], rel=1e-10)
    assert m.value("residence_time", "leading") == pytest.approx(row["ET_s"], rel=1e-11)
    assert m.value("utilisation", PRINTED) == pytest.approx(row["U_prop3"], rel=1e-11)
    assert m.value("utilisation", "leading") == pytest.approx(row["U_offered_demand"], rel=1e-11)


@pytest.mark.parametrize("row", rows("prop3_utilisation"), ids=lambda r: f"{r['cores']}-{r['lambda_per_s']}")
def test_proposition_3_beside_the_corrected_utilisation(row: dict[str, float]) -> None:
    given = {
        "mu1_per_s": MU1,
        "mu2_per_s": MU2[int(row["cores"])],
        "capacity": int(row["N"]),
        "cores": int(row["cores"]),
    }
    paper = two_class(row["lambda_per_s"], **given)
    shared = two_class(row["lambda_per_s"], variant="shared", **given)
    assert paper.value("utilisation", PRINTED) == pytest.approx(row["U_prop3_paper"], rel=1e-8)
    assert paper.value("utilisation", "leading") == pytest.approx(row["U_offered_demand"], rel=1e-9)
    busy = 1 - paper.value("queue_length_probability", "leading", n=0)
    assert busy == pytest.approx(row["busy_any_tandem"], rel=1e-8)
    # shared: exactly the share of time that the core is busy
    assert shared.value("utilisation", "leading") == pytest.approx(
        1 - shared.value("queue_length_probability", "leading", n=0), rel=1e-10
    )
    assert min(1.0, row["rho_shared_cpu"]) == pytest.approx(shared.value("utilisation", "leading"), rel=2e-2)


@pytest.mark.parametrize("row", rows("saturation_rates"), ids=lambda r: f"{r['cores']}-{r['nics']}-{r['p_rule']}")
def test_saturation_by_rule_for_p(row: dict[str, float]) -> None:
    rule = {"uniform m/n": "uniform", "fixed point 1/U": "inverse-utilisation", "equal U": "equal-utilisation"}
    name = rule[str(row["p_rule"])]
    cores, nics = int(row["cores"]), int(row["nics"])
    mu2 = MU2[cores]
    assert routing_probability(name, cores, nics, mu2 / MU1) == pytest.approx(row["p"], rel=1e-12)
    for variant in ("tandem", "shared"):
        m = two_class(100, mu1_per_s=MU1, mu2_per_s=mu2, p_rule=name, cores=cores, nics=nics, variant=VARIANT[variant])
        assert m.value("saturation_rate") == pytest.approx(row[f"saturation_{variant}_per_s"], rel=1e-12)


@pytest.mark.parametrize("row", rows("rt_multiples"), ids=lambda r: f"{r['cores']}-{r['nics']}-{r['variant']}")
def test_rates_at_multiples_of_the_zero_load_response(row: dict[str, float]) -> None:
    cores = int(row["cores"])

    def response_s(rate: float) -> float:
        m = two_class(
            rate, mu1_per_s=MU1, mu2_per_s=MU2[cores], p=row["p"], capacity=100_000, cores=cores, nics=int(row["nics"]),
            variant=VARIANT[str(row["variant"])],
        )  # fmt: skip
        return m.value("response_time")

    zero = response_s(1.0)
    assert zero * 1e3 == pytest.approx(row["zero_load_rt_ms"], rel=1e-12)
    for times in (2, 3, 5, 10):
        expected = row[f"rate_at_{times}x_per_s"]
        rate = brentq(lambda r, goal=times * zero: response_s(r) - goal, expected - 2, expected + 2, xtol=1e-4)
        assert rate == pytest.approx(expected, abs=0.006)  # printed with two decimals


def test_singular_point_on_the_papers_own_grid() -> None:
    """4 cores, p = 1/4, 1200 req/s: beta is exactly 1, where eqs. (1) and (4) are 0/0."""
    m = two_class([1199.999999, 1200.0, 1200.000001], mu1_per_s=MU1, mu2_per_s=300, cores=4, capacity=1000)
    jobs = m.where(metric="queue_length", station="leading").frame["value"].to_numpy()
    assert np.all(np.isfinite(jobs)) and np.ptp(jobs) / jobs[1] < 1e-4


def test_knee_of_one_core() -> None:
    """Table 2 and the text: one core saturates at mu2 = 367 in the paper's chain (published knee 400, -8 %)."""
    m = two_class(1000, mu1_per_s=MU1, mu2_per_s=367, capacity=50)
    assert m.value("throughput") == pytest.approx(367, rel=1e-6)
