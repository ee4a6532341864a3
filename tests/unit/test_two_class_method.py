"""The two-class model as methods on a multicore station: the same numbers as `two_class`, over rates and sizes."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.errors import MethodRefused

S, A = 1e-4, 2e-3
VARIANTS = ["priority", "shared", "paper"]


def model(
    variant: str, cores: int = 4, nics: int = 2, rate: float = 300.0, page: object = A, p: object = "uniform"
) -> sj.Model:
    station = sj.Multicore("cpu", cores, nics, S, variant, p, capacity=50)  # type: ignore[arg-type]
    return sj.Model([station], [sj.Open("web", rate)], service_s={"cpu": {"web": page}})  # type: ignore[dict-item]


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_numbers_are_those_of_two_class(variant: str) -> None:
    rates = [100.0, 500.0, 1500.0, 3000.0]
    ours = sj.sweep(model(variant), "classes.web.rate_per_s", rates)
    theirs = sj.two_class(rates, mu1_per_s=1 / S, mu2_per_s=1 / A, cores=4, nics=2, capacity=50, variant=variant)
    assert ours.method == f"two-class/{variant}"
    seen = 0
    for row in theirs.frame.iter_rows(named=True):
        place = {"station": row["station"], "n": row["n"], "classes.web.rate_per_s": row["rate_per_s"]}
        if row["metric"] == "loss_probability" and variant == "priority" and not row["station"]:
            continue  # nothing is lost there, and no row says so
        value = float("nan") if row["value"] is None else row["value"]
        assert ours.value(row["metric"], **place) == pytest.approx(value, rel=1e-12, abs=0, nan_ok=True)
        seen += 1
    assert seen > 70


@pytest.mark.parametrize("variant", VARIANTS)
def test_cores_nics_and_p_can_be_varied(variant: str) -> None:
    r = sj.sweep(model(variant), {"stations.cpu.cores": [2, 4], "stations.cpu.p": [0.25, 0.5]})
    one = sj.two_class(300.0, mu1_per_s=1 / S, mu2_per_s=1 / A, cores=4, nics=2, p=0.25, capacity=50, variant=variant)
    at = {"stations.cpu.cores": 4, "stations.cpu.p": 0.25}
    assert r.value("response_time", cls="web", **at) == pytest.approx(one.value("response_time"), rel=1e-12)


def test_only_the_trailing_cores_of_priority_are_approximate() -> None:
    assert sj.solve(model("priority")).status == "approximate"
    exact = sj.solve(model("priority", cores=2))
    assert exact.status == "ok" and "here it is exact" in exact.message
    assert sj.solve(model("priority", rate=5000.0)).status == "saturated"
    assert sj.solve(model("priority", page=sj.Erlang(A, 2), cores=2)).value("response_time") < exact.value(
        "response_time"
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_refusals(variant: str) -> None:
    name = f"two-class/{variant}"
    with pytest.raises(MethodRefused, match=f"kind multicore, which only {name} reads; use {name}"):
        sj.solve(model(variant), method="mva")
    other = VARIANTS[VARIANTS.index(variant) - 1]
    with pytest.raises(MethodRefused, match=f"asks for variant {variant}"):
        sj.solve(model(variant), method=f"two-class/{other}")
    station = sj.Multicore("cpu", 2, 1, S, variant)
    times = {"cpu": {"web": A}}
    closed = sj.Model([station], [sj.Closed("web", 3, 1.0)], service_s=times)
    bursty = sj.Model([station], [sj.Open("web", arrivals=sj.Deterministic(0.1))], service_s=times)
    two = sj.Model([station, sj.Queue("disk")], [sj.Open("web", 1.0)], service_s={**times, "disk": {"web": A}})
    idle = model(variant, rate=0.0)
    for wrong, reason in ((closed, "one open class"), (bursty, "Poisson"), (two, "2 stations"), (idle, "above 0")):
        with pytest.raises(MethodRefused, match=reason):
            sj.solve(wrong, method=name)
    if variant != "priority":
        with pytest.raises(MethodRefused, match="not exponential"):
            sj.solve(model(variant, page=sj.Deterministic(A)), method=name)
