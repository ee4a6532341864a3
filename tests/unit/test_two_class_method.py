"""The two-class model as methods on a multicore station: the same numbers as `two_class`, over rates and sizes."""

from __future__ import annotations

import pytest

import sojourn as sj
from sojourn.errors import MethodRefused, ModelError

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
    with pytest.raises(MethodRefused, match=f"kind `multicore`, which only `{name}` supports; use {name}"):
        sj.solve(model(variant), method="mva")
    other = VARIANTS[VARIANTS.index(variant) - 1]
    with pytest.raises(MethodRefused, match=f"has the variant `{variant}`"):
        sj.solve(model(variant), method=f"two-class/{other}")
    station = sj.Multicore("cpu", 2, 1, S, variant)
    times = {"cpu": {"web": A}}
    closed = sj.Model([station], [sj.Closed("web", 3, 1.0)], service_s=times)
    bursty = sj.Model([station], [sj.Open("web", arrivals=sj.Deterministic(0.1))], service_s=times)
    disk = {"disk": {"web": sj.Deterministic(A)}}
    two = sj.Model([station, sj.Queue("disk")], [sj.Open("web", 1.0)], service_s={**times, **disk})
    hosts = [station, sj.Multicore("other", 2, 1, S, variant)]
    both = sj.Model(hosts, [sj.Open("web", 1.0)], service_s={**times, "other": {"web": A}})
    idle = model(variant, rate=0.0)
    for wrong, reason in (
        (closed, "one open class"),
        (bursty, "Poisson"),
        (two, "`disk` has the discipline `fcfs`"),
        (both, "the model has 2"),
        (idle, "above 0"),
    ):
        with pytest.raises(MethodRefused, match=reason):
            sj.solve(wrong, method=name)
    if variant != "priority":
        with pytest.raises(MethodRefused, match="not exponential"):
            sj.solve(model(variant, page=sj.Deterministic(A)), method=name)


GIVEN = {"handoff_s": 2e-4, "crossing_s": 3e-4, "client_s": 5e-5}


@pytest.mark.parametrize("variant", VARIANTS)
def test_delays_client_and_variances_are_those_of_two_class(variant: str) -> None:
    more = {"interrupt_scv": 0.7, "page_scv": 0.5} if variant == "priority" else {}
    own = {**GIVEN, "interrupt_scv": more.get("interrupt_scv", 0.0)}
    station = sj.Multicore("cpu", 4, 1, S, variant, 0.3, 50, **own)
    page = sj.Erlang(A, 2) if more else A  # scv 1/2
    ours = sj.solve(sj.Model([station], [sj.Open("web", 900.0)], service_s={"cpu": {"web": page}}))
    theirs = sj.two_class(
        900.0, mu1_per_s=1 / S, mu2_per_s=1 / A, p=0.3, cores=4, capacity=50, variant=variant, **GIVEN, **more
    )
    assert ours.value("response_time", cls="web") == pytest.approx(theirs.value("response_time"), rel=1e-12)
    assert ours.value("saturation_rate") == pytest.approx(theirs.value("saturation_rate"), rel=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_other_stations_are_solved_alone_at_their_rate(variant: str) -> None:
    rate, half = 400.0, 200.0
    stations = [sj.Delay("network"), sj.Queue("proxy"), sj.Multicore("cpu", 4, 2, S, variant)]
    times = {"network": {"web": sj.Deterministic(0.003)}, "proxy": {"web": 0.001}, "cpu": {"web": A}}
    r = sj.solve(sj.Model(stations, [sj.Open("web", rate)], service_s=times, visits={"cpu": {"web": 0.5}}))
    alone = sj.two_class(half, mu1_per_s=1 / S, mu2_per_s=1 / A, cores=4, nics=2, variant=variant)
    mm1_s = 1 / (1000 - rate)
    assert r.status == "approximate" and r.method == f"two-class/{variant}"
    assert r.value("response_time", cls="web") == pytest.approx(0.003 + mm1_s + alone.value("response_time") / 2)
    assert r.value("response_time", station="cpu") == pytest.approx(alone.value("response_time"))
    assert r.value("saturation_rate") == pytest.approx(min(1000.0, 2 * alone.value("saturation_rate")))


def test_with_delays_alone_it_is_as_exact_as_the_cores_are() -> None:
    stations = [sj.Multicore("cpu", 2, 2, S), sj.Delay("network")]
    times = {"cpu": {"web": A}, "network": {"web": 0.003}}
    model_ = sj.Model(stations, [sj.Open("web", 300.0)], service_s=times)
    r = sj.solve(model_)
    alone = sj.two_class(300.0, mu1_per_s=1 / S, mu2_per_s=1 / A, cores=2, nics=2, variant="priority")
    assert r.status == "ok" and r.value("response_time") == pytest.approx(0.003 + alone.value("response_time"))
    late = sj.sweep(model_, "classes.web.rate_per_s", [300.0, 1000.0])
    assert late.frame.filter(late.frame["metric"] == "saturation_rate")["value"].to_list() == pytest.approx(
        [2 / (S + A)] * 2
    )
    assert late.status == "saturated"


def test_a_file_says_all_of_it() -> None:
    text = """
[stations.cpu]
kind = "multicore"
cores = 4
nics = 1
interrupt_s = { free = true, start = 3e-4 }
crossing_s = { free = true, low = 0 }
interrupt_scv = { free = true, low = 0, start = 1 }
client_s = 2e-5
p = "inverse-utilisation"
[classes.user]
kind = "open"
rate_per_s = 100
[service_s.cpu]
user = { kind = "lognormal", mean = 0.003, scv = 0.8 }
[factors]
cores = "stations.cpu.cores"
nics = "stations.cpu.nics"
[observed]
cpu.leading = "leading"
cpu.interrupts = "leading interrupts"
"""
    model_ = sj.Model.parse(text)
    assert sj.Model.parse(model_.to_toml()) == model_
    assert dict(model_.observed) == {"cpu.leading": "leading", "cpu.interrupts": "leading interrupts"}
    assert sj.solve(model_).value("response_time", cls="user") == pytest.approx(
        sj.two_class(
            100.0, mu1_per_s=1 / 3e-4, mu2_per_s=1 / 3e-3, cores=4, p_rule="inverse-utilisation", variant="priority",
            crossing_s=0.01, client_s=2e-5, interrupt_scv=1.0, page_scv=0.8,
        ).value("response_time"), rel=1e-12,
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"observed\.cpu\.client"):
        sj.Model.parse(text.replace("cpu.leading", "cpu.client"))
    with pytest.raises(ModelError, match=r"stations\.cpu\.client_s"):
        sj.Model.parse(text.replace("2e-5", "-1"))
