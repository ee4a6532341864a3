"""The two-class model: laws, limits with closed forms by hand, statuses, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.errors import InputError
from sojourn.laws import broken, check_laws
from sojourn.solve import cite, routing_probability, two_class, two_class_bottleneck
from sojourn.solve.bottleneck import bottleneck

S, A = 1.5e-3, 0.5e-3
GIVEN = {"mu1_per_s": 1 / S, "mu2_per_s": 1 / A}
VARIANTS = ["paper", "shared", "priority"]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(VARIANTS),
    st.integers(1, 8),
    st.data(),
    st.floats(0.05, 1.3),
    st.integers(1, 2000),
    st.floats(0, 1e-3),
)
def test_laws_hold_everywhere(
    variant: str, cores: int, data: st.DataObject, load: float, capacity: int, handoff_s: float
) -> None:
    nics = data.draw(st.integers(1, cores))
    m = two_class(
        load * nics / (S + A), **GIVEN, cores=cores, nics=nics, variant=variant, capacity=capacity, handoff_s=handoff_s
    )
    findings = check_laws(m, servers={"leading": nics, "trailing": cores - nics})
    assert not broken(findings) and (findings or load >= 1)


def test_one_core_against_closed_forms_by_hand() -> None:
    rate, big = 300.0, 10**6
    paper = two_class(rate, **GIVEN, capacity=big).value("response_time")
    assert paper == pytest.approx(1 / (1 / S - rate) + 1 / (1 / A - rate), rel=1e-12)  # two M/M/1 in tandem
    shared = two_class(rate, **GIVEN, capacity=big, variant="shared").value("response_time")
    assert shared == pytest.approx((S + A) / (1 - rate * (S + A)), rel=1e-12)  # M/G/1-PS
    # no interrupts: M/M/1; exponential interrupts and pages of the same mean, priority: M/M/1 workload 2·S²·l/(1-rho)
    free = two_class(rate, mu1_per_s=np.inf, mu2_per_s=1 / A, variant="priority").value("response_time")
    assert free == pytest.approx(A / (1 - rate * A), rel=1e-12)
    # S = 1.5, A = 0.5 ms: E[G²] = 1.5² + 2·1.5·0.5 + 2·0.5² = 4.25 ms², rho = 0.6, V = 0.3·4.25/0.8 = 1.59375 ms
    both = two_class(rate, **GIVEN, variant="priority", handoff_s=3e-4).value("response_time")
    assert both == pytest.approx((1.59375e-3 + 2e-3) / 0.55 + 3e-4, rel=1e-12)


def test_a_crossing_delays_only_what_goes_to_another_core() -> None:
    for variant in VARIANTS:
        still, late = (
            two_class(100, **GIVEN, cores=4, nics=1, p=0.25, variant=variant, crossing_s=c).value("response_time")
            for c in (0.0, 4e-4)
        )
        assert late - still == pytest.approx(0.75 * 4e-4, rel=1e-9)
        assert two_class(100, **GIVEN, cores=1, nics=1, variant=variant, crossing_s=1.0).value("response_time") < 0.1


def test_all_variants_agree_with_no_load() -> None:
    for variant in VARIANTS:
        for cores, nics in ((1, 1), (2, 1), (4, 2)):
            m = two_class(1e-3, **GIVEN, cores=cores, nics=nics, variant=variant, client_s=1e-4)
            assert m.value("response_time") == pytest.approx(S + 1e-4 + A, rel=1e-5)


def test_saturation_is_where_a_core_has_no_time_left() -> None:
    for variant, expected in {"paper": 1 / S, "shared": 1 / (S + A / 2), "priority": 1 / (S + A / 2)}.items():
        assert two_class(1, **GIVEN, cores=2, variant=variant).value("saturation_rate") == pytest.approx(expected)
    spread = two_class(1, **GIVEN, cores=2, nics=2, variant="priority").value("saturation_rate")
    assert spread == pytest.approx(2 / (S + A))
    trailing = two_class(1, **GIVEN, cores=3, p=0.0, variant="shared", client_s=0).value("saturation_rate")
    assert trailing == pytest.approx(min(1 / S, 2 / A))


def test_statuses_say_what_to_do() -> None:
    over = two_class([100, 5000], **GIVEN, cores=2, variant="priority")
    assert over.status == "saturated" and "lower the rate" in over.message
    assert np.isnan(over.value("response_time", rate_per_s=5000)) and over.value("response_time", rate_per_s=100) > 0
    assert over.value("throughput", rate_per_s=5000) == over.value("saturation_rate", rate_per_s=5000)
    trailing = two_class(1000, mu1_per_s=10_000, mu2_per_s=300, p=0.1, cores=2)
    assert trailing.status == "trailing_unstable" and "raise p" in trailing.message
    assert trailing.value("throughput") == pytest.approx(300 + 100, rel=1e-6)
    assert np.isnan(trailing.value("response_time")) and trailing.value("queue_length", "leading") > 0
    above = two_class(360, mu1_per_s=3301, mu2_per_s=367)
    assert above.status == "ok" and "above_one" in above.message and above.value("utilisation", "leading") > 1


def test_whole_numbers_may_come_as_floats() -> None:
    one, two = (two_class(100, **GIVEN, capacity=c, cores=k, variant="shared") for c, k in ((50, 2), (50.0, 2.0)))
    assert one == two


def test_p_rules() -> None:
    assert routing_probability("uniform", 4, 1, 0.1) == 0.25
    for rule in ("uniform", "inverse-utilisation", "equal-utilisation"):
        assert routing_probability(rule, 4, 4, 0.3) == 1
        p = routing_probability(rule, np.arange(2, 9), 1, 0.1)
        assert np.all((p > 0) & (p < 1)) and np.all(np.diff(p) < 0)
    # the fixed point by its definition, at k = m too
    for n, m, r in ((2, 1, 0.1), (4, 2, 3.0), (8, 1, 0.01), (8, 7, 0.5)):
        p, k = float(routing_probability("inverse-utilisation", n, m, r)), n - m
        assert p * k * k * (r + p) == pytest.approx(m * m * (1 - p) ** 2, rel=1e-12)
    assert routing_probability("equal-utilisation", 2, 1, 5.0) == 0
    with pytest.raises(InputError, match="p_rule: 'best'; use one of uniform"):
        routing_probability("best", 2, 1, 1.0)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"total_rate_per_s": 0}, "total_rate_per_s"),
        ({"total_rate_per_s": [1, -2]}, "total_rate_per_s"),
        ({"total_rate_per_s": np.nan}, "total_rate_per_s"),
        ({"mu1_per_s": 0}, "mu1_per_s"),
        ({"mu2_per_s": np.inf}, "mu2_per_s"),
        ({"capacity": 0}, "capacity"),
        ({"cores": 0}, "cores"),
        ({"cores": 2, "nics": 3}, "nics"),
        ({"p": 1.1}, "p"),
        ({"p_rule": "x", "cores": 2}, "p_rule"),
        ({"variant": "tandem"}, "variant"),
        ({"handoff_s": -1}, "handoff_s"),
        ({"client_s": np.nan}, "client_s"),
        ({"page_scv": -1}, "page_scv"),
    ],
)
def test_bad_input_names_the_argument(change: dict, place: str) -> None:
    with pytest.raises(InputError, match=f"^{place}: "):
        two_class(**({"total_rate_per_s": 100, **GIVEN} | change))


def test_bottleneck_in_words() -> None:
    assert (
        bottleneck({"interrupts": 0.78, "pages": 0.21, "client": 0.001}, cores=2, nics=1)
        == "core 0: interrupts 78 %, pages 21 %"
    )
    assert bottleneck({"pages": 0.3}, cores=4, nics=1, trailing_busy=0.9) == "cores 1-3: pages 90 %"
    assert bottleneck({}, cores=1, nics=1) == "core 0: idle"
    text = two_class_bottleneck(interrupt_s=S, page_s=A, p=0.5, cores=2, nics=1)
    assert text == "core 0: interrupts 86 %, pages 14 % at saturation, 571 /s"
    assert two_class_bottleneck(interrupt_s=S, page_s=A, p=0.5, cores=2, nics=2, rate_per_s=200).startswith(
        "cores 0-1: inter"
    )


def test_every_variant_cites_its_source() -> None:
    for variant in VARIANTS:
        assert cite(f"two-class/{variant}")
    assert "Kleinrock" in cite("mmm")
    with pytest.raises(InputError, match="method: 'x'"):
        cite("x")
