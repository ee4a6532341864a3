"""Examples of textbooks on single stations. An id names book and example; `digits` are those that are printed.

Expected values are the printed ones. Where the text of a book shows a value only as a fraction, it is given as one.
"""

from __future__ import annotations

import math

import pytest

import sojourn as sj
from sojourn.solve.method import RequestedOutputs
from sojourn.solve.single.erlang import erlang_b, erlang_c
from sojourn.table import Metrics

MINUTE, HOUR = 60.0, 3600.0
Check = tuple[str, float, float]  # metric (or name~q, name#n), printed value, unit of one in the last printed digit


def solved(rate: float, service: float | sj.Distribution, servers: int = 1, *, unit: float = 1.0, **queue) -> Metrics:
    """An open queue; `rate` per `unit` and `service` in `unit` seconds."""
    time = service if isinstance(service, sj.Distribution) else service * unit
    model = sj.Model([sj.Queue("q", servers, **queue)], [sj.Open("c", rate / unit)], service_s={"q": {"c": time}})
    return sj.solve(model, requested_outputs=RequestedOutputs(quantiles=(0.9,), state_probabilities=20))


def value(m: Metrics, name: str) -> float:
    if "#" in name:
        return m.value("queue_length_probability", "q", n=int(name.partition("#")[2]))
    if "~" in name:
        metric, _, q = name.partition("~")
        return m.value(metric, "q", q=float(q))
    if name == "in_line":
        return m.value("throughput", "q") * m.value("waiting_time", "q")
    if name == "loss_probability":
        return m.value(name, "q", "c")
    return m.value(name, "q")


M, H = MINUTE, HOUR
STUDENTS = solved(1 / 6, 20, 5, unit=M)
CASES: dict[str, tuple[Metrics, list[Check]]] = {
    "jain-1991-example-31.1-gateway": (
        solved(125, 0.002),
        [("utilisation", 0.25, 0), ("queue_length", 0.33, 0.005), ("response_time", 2.66e-3, 1e-5)],  # truncated
    ),
    "jain-1991-example-31.2-students-at-five-terminals": (
        STUDENTS,
        [("utilisation", 0.67, 0.005), ("queue_length_probability#0", 0.0318, 5e-5), ("waiting_probability", 0.33, 0.005),
         ("queue_length", 4.0, 0.05), ("in_line", 0.65, 0.005), ("response_time", 24 * M, 0.5 * M),
         ("response_time_variance", 479 * M**2, 0.5 * M**2), ("waiting_time_quantile~0.9", 14 * M, 0.5 * M)],
    ),
    "jain-1991-example-31.3-five-separate-queues": (
        solved(1 / 30, 20, unit=M),
        [("response_time", 60 * M, 0.5 * M), ("response_time_variance", 3600 * M**2, 0.5 * M**2)],
    ),
    "jain-1991-example-31.4-gateway-with-two-buffers": (
        solved(125, 0.002, capacity=2),
        [("queue_length_probability#0", 0.762, 5e-4), ("queue_length_probability#1", 0.191, 6e-4),
         ("queue_length_probability#2", 0.0476, 5e-5), ("queue_length", 0.286, 5e-4), ("in_line", 0.0476, 5e-5),
         ("throughput", 119, 0.5), ("response_time", 2.40e-3, 5e-6)],
    ),
    "gross-harris-2008-example-2.1-hair-salon": (
        solved(5, 1 / 6, unit=H),
        [("queue_length", 5, 0), ("in_line", 25 / 6, 0), ("queue_length_probability#0", 1 / 6, 0),
         ("response_time", H, 0), ("waiting_time", 5 / 6 * H, 0)],
    ),
    "gross-harris-2008-section-2.4-eye-clinic": (
        solved(6, 1 / 3, 3, unit=H),
        [("queue_length_probability#0", 1 / 9, 0), ("in_line", 8 / 9, 0), ("queue_length", 26 / 9, 0),
         ("waiting_time", 80 / 9 * M, 0), ("response_time", 260 / 9 * M, 0)],
    ),
    "gross-harris-2008-section-2.5-emission-inspection": (  # p7 = 576 p0 with p0 rounded; 12.3 from it
        solved(1, 6, 3, unit=M, capacity=7),
        [("queue_length_probability#0", 0.00088, 5e-6), ("in_line", 3.09, 0.005), ("queue_length", 6.06, 0.005),
         ("response_time", 12.3 * M, 0.06 * M), ("loss_probability", 30.4 / 60, 0.12 / 60)],
    ),
    "kleinrock-1975-section-5.6-m-h2-1": (  # b(x) = 1/4 exp(-x) + 3/4 2 exp(-2x), lambda = 1: q = 1.79, p0 = 3/8
        solved(1, sj.Hyperexponential((0.25, 0.75), (1.0, 0.5))),
        [("queue_length", 1.79, 0.005), ("utilisation", 5 / 8, 0),
         *((f"queue_length_probability#{k}", 3 / 32 * 0.4**k + 9 / 32 * (2 / 3) ** k, 1e-15) for k in range(20))],
    ),
    "allen-1990-example-5.2.1-message-switching": (  # 240 messages a minute, 176 characters at 800/s
        solved(4, 176 / 800),
        [("utilisation", 0.88, 0), ("queue_length", 7.33, 0.005), ("response_time", 1.83, 0.005),
         ("waiting_time", 1.61, 0.005), ("response_time_quantile~0.9", 4.22, 0.005)],
    ),
    "ross-2010-example-8.2-one-per-12-minutes": (
        solved(1 / 12, 8, unit=M), [("queue_length", 2, 0), ("response_time", 24 * M, 0)],
    ),
    "ross-2010-example-8.2-one-per-10-minutes": (
        solved(1 / 10, 8, unit=M), [("queue_length", 4, 0), ("response_time", 40 * M, 0)],
    ),
    "winston-2004-section-20.4-example-3-drive-in-teller": (
        solved(10, 1 / 15, unit=H),
        [("queue_length_probability#0", 1 / 3, 0), ("in_line", 4 / 3, 0), ("queue_length", 2, 0),
         ("response_time", 12 * M, 0)],
    ),
    "winston-2004-section-20.4-example-4-petrol-pump": (
        solved(7.5, 1 / 15, unit=H), [("queue_length", 1, 0), ("response_time", 0.13 * H, 0.005 * H)],
    ),
    "winston-2004-section-20.4-example-4-panic-buying": (
        solved(15, 1 / 18, unit=H), [("queue_length", 5, 0), ("response_time", 20 * M, 0)],
    ),
    "winston-2004-section-20.5-example-8-barber-shop": (
        solved(20, 1 / 5, unit=H, capacity=10),
        [("loss_probability", 0.75, 0.005), ("throughput", 5 / H, 0.005 / H), ("queue_length", 9.67, 0.005),
         ("response_time", 1.93 * H, 0.005 * H)],
    ),
    "winston-2004-section-20.6-example-9-two-tellers": (
        solved(80, 1.2 / 60, 2, unit=H),
        [("waiting_probability", 0.71, 0.005), ("in_line", 2.84, 0.005), ("queue_length", 4.44, 0.005),
         ("response_time", 0.055 * H, 0.0006 * H)],
    ),
    "hillier-lieberman-2015-section-17.6-county-hospital-one-doctor": (
        solved(2, 1 / 3, unit=H),
        [("queue_length_probability#0", 1 / 3, 0), ("in_line", 4 / 3, 0), ("queue_length", 2, 0),
         ("waiting_time", 2 / 3 * H, 0), ("response_time", H, 0), ("waiting_probability", 0.667, 5e-4)],
    ),
    "hillier-lieberman-2015-section-17.6-county-hospital-two-doctors": (
        solved(2, 1 / 3, 2, unit=H),
        [("queue_length_probability#0", 1 / 2, 0), ("queue_length_probability#1", 1 / 3, 0), ("in_line", 1 / 12, 0),
         ("queue_length", 3 / 4, 0), ("waiting_time", H / 24, 0), ("response_time", 3 / 8 * H, 0),
         ("waiting_probability", 0.167, 5e-4)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_open_queue(name: str) -> None:
    m, checks = CASES[name]
    assert m.status == "ok"
    for metric, printed, half in checks:
        assert value(m, metric) == pytest.approx(printed, rel=1e-12, abs=half), metric


def test_jain_1991_example_31_1_buffers() -> None:
    """P(13 or more) = 0.25^13 = 1.49e-8, about 15 packets a billion; below 1e-6 from n = 9.96, so 10 buffers, on."""
    m = CASES["jain-1991-example-31.1-gateway"][0]
    more = 1 - sum(value(m, f"p#{n}") for n in range(13))
    assert more == pytest.approx(1.49e-8, abs=5e-11)
    assert 1 - sum(value(m, f"p#{n}") for n in range(10)) < 1e-6 < 1 - sum(value(m, f"p#{n}") for n in range(9))


def test_gross_harris_2008_example_2_1_seats() -> None:
    """P(5 or more) = 0.402: an arrival finds none of the four seats free."""
    m = CASES["gross-harris-2008-example-2.1-hair-salon"][0]
    assert 1 - sum(value(m, f"p#{n}") for n in range(5)) == pytest.approx(0.402, abs=5e-4)


def test_kleinrock_1975_section_6_4_g_m_1() -> None:
    """A*(s) = 2 mu^2/((s + mu)(s + 2 mu)): sigma = 2 - sqrt 2, W(y) = 1 - (2 - sqrt 2) exp(-mu (sqrt 2 - 1) y)."""
    gaps = sj.PhaseType((1.0, 0.0), ((-1.0, 1.0), (0.0, -2.0)))
    model = sj.Model([sj.Queue("q")], [sj.Open("c", arrivals=gaps)], service_s={"q": {"c": 1.0}})
    m = sj.solve(model, requested_outputs=RequestedOutputs(quantiles=(0.9,)))
    sigma = 2 - math.sqrt(2)
    assert m.method == "gm1" and m.value("waiting_probability", "q") == pytest.approx(sigma, rel=1e-13)
    wait = math.log(sigma / 0.1) / (math.sqrt(2) - 1)
    assert m.value("waiting_time_quantile", "q", q=0.9) == pytest.approx(wait, rel=1e-12)


# Rappaport, Wireless Communications (1996), Table 3.4, Capacity of an Erlang B system: channels, offered erlangs at a
# grade of service of 0.01, 0.005, 0.002, 0.001. (Also in every table of Erlang B, e.g. Cooper 1981.)
ERLANG_B = [
    (2, 0.153, 0.105, 0.065, 0.046), (4, 0.869, 0.701, 0.535, 0.439), (5, 1.36, 1.13, 0.900, 0.762),
    (10, 4.46, 3.96, 3.43, 3.09), (20, 12.0, 11.1, 10.1, 9.41), (24, 15.3, 14.2, 13.0, 12.2),
    (40, 29.0, 27.3, 25.7, 24.5), (70, 56.1, 53.7, 51.0, 49.2), (100, 84.1, 80.9, 77.4, 75.2),
]  # fmt: skip


@pytest.mark.parametrize("row", ERLANG_B, ids=lambda r: f"rappaport-1996-table-3.4-{r[0]}-channels")
def test_erlang_b_tables(row: tuple) -> None:
    channels, *offered = row
    for a, grade in zip(offered, (0.01, 0.005, 0.002, 0.001), strict=True):
        # three digits, some cut off and some rounded: the grade lies between those of one digit less and more
        digit = 10.0 ** (max(math.floor(math.log10(a)), -1) - 2)
        digit *= 1.1  # 25.7 should be 25.6
        assert erlang_b(a - digit, channels) < grade < erlang_b(a + digit, channels), a


def test_rappaport_1996_example_3_6_erlang_c() -> None:
    """15 channels, 9 erlangs (from a chart): 5 % are delayed; of these 56.29 % more than 10 s (calls of 0.029 h)."""
    m = solved(9 / (0.029 * 3600), 0.029 * 3600, 15)
    late = m.value("waiting_probability", "q")
    assert late == pytest.approx(0.05, abs=0.008)
    assert erlang_c(9, 15) == pytest.approx(late, rel=1e-14)
    mean = m.value("waiting_time", "q") / late
    assert math.exp(-10 / mean) == pytest.approx(0.5629, abs=1e-4)


# Hillier, Lieberman (2015), Section 17.6, P(wait > t hours): doctors, t, printed (rounded or cut off)
LATE = [(1, 0.5, 0.404), (1, 1.0, 0.245), (2, 0.5, 0.022), (2, 1.0, 0.003)]


@pytest.mark.parametrize("row", LATE, ids=lambda r: f"hillier-lieberman-2015-table-17.2-{r[0]}-doctors-{r[1]}h")
def test_county_hospital_waits(row: tuple[int, float, float]) -> None:
    doctors, hours, printed = row
    model = sj.Model([sj.Queue("q", doctors)], [sj.Open("c", 2 / HOUR)], service_s={"q": {"c": HOUR / 3}})
    m = sj.solve(model, requested_outputs=RequestedOutputs(quantiles=(1 - printed - 1e-3, 1 - printed + 1e-3)))
    low, high = (m.value("waiting_time_quantile", "q", q=q) for q in (1 - printed - 1e-3, 1 - printed + 1e-3))
    assert low <= hours * HOUR <= high


# Hillier, Lieberman (2015), Section 17.8: wait without service, hours, of critical, serious and stable patients
# (the cells that we could be sure of; the book subtracts rounded means, so that the last of its digits may be off)
PRIORITIES = [
    ("priority_preemptive", 1, (0.024, 0.154), 5e-4), ("priority_preemptive", 2, (0.00037, 0.00793, 0.06542), 1.5e-5),
    ("priority", 1, (0.238, 0.325), 5e-4), ("priority", 2, (0.029, 0.033, 0.048), 5e-4),
]  # fmt: skip


@pytest.mark.parametrize("row", PRIORITIES, ids=lambda r: f"hillier-lieberman-2015-table-17.4-{r[0]}-{r[1]}-doctors")
def test_county_hospital_priorities(row: tuple) -> None:
    discipline, doctors, printed, half = row
    rates = {"critical": 0.2, "serious": 0.6, "stable": 1.2}
    classes = [sj.Open(name, rate / HOUR, priority=k) for k, (name, rate) in enumerate(rates.items())]
    service = dict.fromkeys(rates, HOUR / 3)
    model = sj.Model([sj.Queue("q", doctors, discipline)], classes, service_s={"q": service})
    m = sj.solve(model)
    for name, wait in zip(rates, printed, strict=False):
        assert m.value("waiting_time", "q", name) == pytest.approx(wait * HOUR, abs=half * HOUR)
    if doctors == 1:
        other = sj.solve(model, "mmm-priority")
        for name in rates:
            expected = m.value("waiting_time", "q", name)
            assert other.value("waiting_time", "q", name) == pytest.approx(expected, rel=1e-12)


def test_winston_2004_section_20_9_patrol_cars() -> None:
    """Five cars, up 30 days, two repairers, 3 days: p = .619 .310 .062 .009 .001, L = .465, W = 3.08 days.

    The book multiplies rounded values: .310 is .3093.
    """
    day = 86400.0
    model = sj.Model([sj.Queue("shop", 2)], [sj.Closed("car", 5, 30 * day)], service_s={"shop": {"car": 3 * day}})
    m = sj.solve(model, "machine-repair", requested_outputs=RequestedOutputs(state_probabilities=4))
    for n, printed in enumerate((0.619, 0.310, 0.062, 0.009, 0.001)):
        assert m.value("queue_length_probability", "shop", n=n) == pytest.approx(printed, abs=7.5e-4)
    assert m.value("queue_length", "shop") == pytest.approx(0.465, abs=5e-4)
    assert m.value("response_time", "shop") == pytest.approx(3.08 * day, abs=0.006 * day)


def test_winston_2004_section_20_7_example_12_ice_cream_shops() -> None:
    """Three shops open a year and stay ten months: 2.5 on average, whatever the distribution."""
    for stay in (10 / 12, sj.Deterministic(10 / 12), sj.Lognormal(10 / 12, 3.0)):
        model = sj.Model([sj.Delay("town")], [sj.Open("shop", 3.0)], service_s={"town": {"shop": stay}})
        assert sj.solve(model).value("queue_length", "town") == pytest.approx(2.5, rel=1e-12)


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_nelson_tantawi_1988_eq_6_two_branches(rho: float) -> None:
    """T_2 = (12 - rho)/8 x 1/(mu - lambda) exactly, and the approximation passes through it and through T_B at rho = 0."""

    def response(branches: int, rate: float, method: str) -> float:
        model = sj.Model([sj.ForkJoin("f", branches)], [sj.Open("c", rate)], service_s={"f": {"c": 1.0}})
        return sj.solve(model, method).value("response_time", "f", "c")

    exact = (12 - rho) / 8 / (1 - rho)
    assert response(2, rho, "fork-join") == pytest.approx(exact, rel=1e-13)
    assert response(2, rho, "nelson-tantawi") == pytest.approx(exact, rel=1e-13)
    # without load: the maximum of B exponentials, H_B
    assert response(5, 1e-12, "nelson-tantawi") == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5, rel=1e-9)
