"""Closed and mixed networks of textbooks and papers; each case names book, page and example.

"(via octave)": numbers known to us through the tests of octave's `queueing` package 1.2.7 (M. Marzolla), which name the
same page. Digits as printed there. Bolch: Bolch, Greiner, de Meer, Trivedi, Queueing Networks and Markov Chains (1998).
"""

from __future__ import annotations

import pytest
from book_models import DELAY, EXACT, one_class, ps, several, stations_of

from sojourn.model import Closed, Delay, LoadDependent, Model, Queue
from sojourn.solve import solve
from sojourn.solve.method import RequestedOutputs

# Jain, The Art of Computer Systems Performance Analysis (1991), Example 34.2, pp. 576-578, Table 34.1:
# N, response at CPU, A, B per visit, of the system, throughput, numbers at CPU, A, B
JAIN_34_1 = [
    (1, 0.125, 0.300, 0.200, 6.000, 0.100, 0.200, 0.300, 0.100),
    (2, 0.150, 0.390, 0.220, 7.400, 0.175, 0.421, 0.684, 0.193),
    (3, 0.178, 0.505, 0.239, 9.088, 0.229, 0.651, 1.158, 0.273),
    (4, 0.206, 0.647, 0.255, 11.051, 0.266, 0.878, 1.721, 0.338),
    (5, 0.235, 0.816, 0.268, 13.256, 0.290, 1.088, 2.365, 0.388),
    (17, 0.370, 3.962, 0.300, 47.045, 0.333, 1.974, 13.195, 0.499),
    (18, 0.372, 4.259, 0.300, 50.032, 0.333, 1.981, 14.187, 0.499),
    (19, 0.373, 4.556, 0.300, 53.022, 0.333, 1.987, 15.181, 0.500),
    (20, 0.373, 4.854, 0.300, 56.016, 0.333, 1.991, 16.177, 0.500),
]


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("row", JAIN_34_1, ids=lambda r: f"N={r[0]}")
def test_jain_p578_example_34_2_table_34_1(row: tuple[float, ...], method: str) -> None:
    m = solve(one_class([0.125, 0.3, 0.2], [16, 10, 5], [1, 1, 1], int(row[0]), think_s=4), method)
    assert stations_of(m, "response_time", 3) == pytest.approx(row[1:4], abs=5.1e-4)
    assert m.value("response_time") == pytest.approx(row[4], abs=5.1e-4)
    assert m.value("throughput") == pytest.approx(row[5], abs=5.1e-4)
    assert stations_of(m, "queue_length", 3) == pytest.approx(row[6:9], abs=5.1e-4)


@pytest.mark.parametrize("method", EXACT)
def test_jain_example_35_5_table_35_5_distribution_at_disk_a(method: str) -> None:
    """Printed: probabilities of 0, 2, 3 jobs at disk A, mean, variance, X, utilisations, R."""
    model = one_class([0.78, 2.34, 1.56], [1, 1, 1], [1, 1, 1], 3, think_s=4.68)
    m = solve(model, method, requested_outputs=RequestedOutputs(state_probabilities=3))
    p = [m.value("queue_length_probability", "s2", n=n) for n in range(4)]
    assert [p[0], p[2], p[3]] == pytest.approx([0.383, 0.211, 0.070], abs=5.1e-4)
    assert sum(p) == pytest.approx(1, rel=1e-12)
    assert m.value("queue_length", "s2") == pytest.approx(0.97, abs=5.1e-3)
    assert m.value("queue_length_variance", "s2") == pytest.approx(0.87, abs=5.1e-3)
    assert m.value("throughput") == pytest.approx(0.264, abs=5.1e-4)
    # 0.264 is rounded before it is multiplied there
    assert stations_of(m, "utilisation", 3) == pytest.approx([0.206, 0.618, 0.412], abs=1e-3)
    assert m.value("response_time") == pytest.approx(6.694, abs=5e-3)


@pytest.mark.parametrize("method", EXACT)
def test_menasce_2004_chapter_12_database_server_two_customers(method: str) -> None:
    """Performance by Design, 12.2: CPU 10 s, fast disk 15 s and slow disk 30 s, each in half the requests."""
    m = solve(one_class([10, 15, 30], [1, 0.5, 0.5], [1, 1, 1], 2), method)
    assert stations_of(m, "queue_length", 3) == pytest.approx([0.5913, 0.4174, 0.9913], abs=5.1e-5)
    # P(2,0,0) + P(1,1,0) + P(1,0,1) = (16 + 12 + 24)/115
    assert m.value("utilisation", "s1") == pytest.approx(52 / 115, rel=1e-12)


@pytest.mark.parametrize("method", EXACT)
def test_menasce_2004_chapter_12_state_probabilities(method: str) -> None:
    model = one_class([10, 15, 30], [1, 0.5, 0.5], [1, 1, 1], 2)
    m = solve(model, method, requested_outputs=RequestedOutputs(state_probabilities=2))
    p = [m.value("queue_length_probability", "s1", n=n) for n in range(3)]
    assert p == pytest.approx([63 / 115, 36 / 115, 16 / 115], rel=1e-12)


@pytest.mark.parametrize("method", EXACT)
def test_bolch_p331_example_8_3_via_octave(method: str) -> None:
    m = solve(one_class([0.02, 0.2, 0.4, 0.6], [1, 0.4, 0.2, 0.1], [1] * 4, 6), method)
    assert stations_of(m, "utilisation", 4) == pytest.approx([0.198, 0.794, 0.794, 0.595], abs=1e-3)
    assert stations_of(m, "response_time", 4) == pytest.approx([0.025, 0.570, 1.140, 1.244], abs=1e-3)
    assert stations_of(m, "queue_length", 4) == pytest.approx([0.244, 2.261, 2.261, 1.234], abs=1e-3)
    assert stations_of(m, "throughput", 4) == pytest.approx([9.920, 3.968, 1.984, 0.992], abs=1e-3)


def test_bolch_p318_example_8_1_convolution_via_octave() -> None:
    m = solve(one_class([1 / 0.8, 1 / 0.6, 1 / 0.4], [1, 0.667, 0.2], [2, 3, 1], 3))
    assert m.method == "convolution"
    assert stations_of(m, "throughput", 3) == pytest.approx([0.945, 0.630, 0.189], abs=1e-3)
    assert stations_of(m, "utilisation", 3) == pytest.approx([0.590, 0.350, 0.473], abs=1e-3)
    assert stations_of(m, "queue_length", 3) == pytest.approx([1.290, 1.050, 0.660], abs=1e-3)
    assert stations_of(m, "response_time", 3) == pytest.approx([1.366, 1.667, 3.496], abs=1e-3)


def test_bolch_p333_example_8_4_two_servers_and_a_delay_via_octave() -> None:
    m = solve(one_class([0.5, 0.6, 0.8, 1], [1, 0.5, 0.5, 1], [2, 1, 1, DELAY], 3))
    assert stations_of(m, "queue_length", 4) == pytest.approx([0.624, 0.473, 0.686, 1.217], abs=1e-3)
    assert stations_of(m, "throughput", 4) == pytest.approx([1.218, 0.609, 0.609, 1.218], abs=1e-3)
    assert stations_of(m, "utilisation", 3) == pytest.approx([0.304, 0.365, 0.487], abs=1e-3)


def test_bolch_p349_example_8_7_load_dependent_via_octave() -> None:
    rates = [(2.0, 4.0, 4.0), (1.667,), (1.25,), (1.0, 2.0, 3.0)]
    stations = [LoadDependent(f"s{k + 1}", r) for k, r in enumerate(rates)]
    visits = {f"s{k + 1}": {"c1": v} for k, v in enumerate([1, 0.5, 0.5, 1])}
    m = solve(Model(stations=stations, classes=[Closed("c1", 3)], visits=visits))
    assert stations_of(m, "queue_length", 4) == pytest.approx([0.624, 0.473, 0.686, 1.217], abs=1e-3)
    assert stations_of(m, "response_time", 4) == pytest.approx([0.512, 0.776, 1.127, 1], abs=1e-3)


def test_bolch_p337_example_9_5_two_classes_with_two_servers_via_octave() -> None:
    stations = [Queue("s1", servers=2), *ps("s2"), Delay("s3")]
    classes = [Closed("c1", 2), Closed("c2", 1)]
    m = solve(several([[0.2, 0.4, 1], [0.2, 0.6, 2]], [[1, 0.6, 0.4], [1, 0.3, 0.7]], classes, stations))
    assert stations_of(m, "queue_length", 3) == pytest.approx([0.428, 0.726, 0.845], abs=1e-3)
    assert stations_of(m, "queue_length", 3, "c2") == pytest.approx([0.108, 0.158, 0.734], abs=1e-3)
    assert m.value("throughput", "s1", "c1") == pytest.approx(2.113, abs=1e-3)
    assert m.value("throughput", "s1", "c2") == pytest.approx(0.524, abs=1e-3)


@pytest.mark.parametrize("method", EXACT[1:])
def test_lazowska_p142_two_classes_exact_via_octave(method: str) -> None:
    """Quantitative System Performance (1984), 7.4: A 1, 3 s and B 2, 4 s, one customer each."""
    classes = [Closed("A", 1), Closed("B", 1)]
    m = solve(several([[0.1, 1 / 3], [0.4, 1]], [[10, 9], [5, 4]], classes, ps("cpu", "disk")), method)
    queue = {("cpu", "A"): 4 / 19, ("disk", "A"): 15 / 19, ("cpu", "B"): 5 / 19, ("disk", "B"): 14 / 19}
    for (station, cls), expected in queue.items():
        assert m.value("queue_length", station, cls) == pytest.approx(expected, rel=1e-12)
    residence = [m.value("residence_time", s, c) for c in "AB" for s in ("cpu", "disk")]
    assert residence == pytest.approx([4 / 3, 5, 5 / 2, 7], rel=1e-12)
    assert [m.value("throughput", cls=c) for c in "AB"] == pytest.approx([3 / 19, 2 / 19], rel=1e-12)


def test_lazowska_p144_two_classes_schweitzer_via_octave() -> None:
    """The same model by the approximate method (their iteration stops early: three digits)."""
    classes = [Closed("A", 1), Closed("B", 1)]
    m = solve(several([[1, 3], [2, 4]], [[1, 1], [1, 1]], classes, ps("cpu", "disk")), "schweitzer")
    assert m.status == "approximate"
    queue = [m.value("queue_length", s, c) for c in "AB" for s in ("cpu", "disk")]
    assert queue == pytest.approx([0.192, 0.808, 0.248, 0.752], abs=1e-3)
    assert [m.value("throughput", cls=c) for c in "AB"] == pytest.approx([0.154, 0.104], abs=1e-3)
    assert [m.value("response_time", cls=c) for c in "AB"] == pytest.approx([6.508, 9.614], abs=5e-3)


def test_lazowska_p117_schweitzer_via_octave() -> None:
    """6.4.2: CPU 0.605, disks 2.1 and 1.35 s, three terminals thinking 15 s."""
    m = solve(one_class([0.605, 2.1, 1.35], [1, 1, 1], [1, 1, 1], 3, think_s=15), "schweitzer")
    assert stations_of(m, "queue_length", 3) == pytest.approx([0.0973, 0.4021, 0.2359], abs=1e-3)
    assert m.value("throughput") == pytest.approx(0.1510, abs=1e-3)
    assert m.value("response_time") == pytest.approx(4.87, abs=5e-3)


@pytest.mark.parametrize("method", EXACT[1:])
@pytest.mark.parametrize(
    ("population", "x", "queue", "response"),
    [((2, 1), (1.949, 0.064), 0.085, (0.027, 0.525)), ((15, 5), (14.323, 0.314), 0.970, (0.047, 0.934))],
    ids=["table 3 p22", "table 5 p23"],
)
def test_schwetman_1982_tables_3_and_5_via_octave(
    population: tuple[int, int], x: tuple[float, float], queue: float, response: tuple[float, float], method: str
) -> None:
    """CSD-TR 355: two classes that think 1 and 15 s and share a processor (0.025 and 0.5 s)."""
    classes = [Closed("c1", population[0], think_s=1.0), Closed("c2", population[1], think_s=15.0)]
    m = solve(several([[0.025], [0.5]], [[1], [1]], classes, ps("s1")), method)
    assert [m.value("response_time", "s1", c.name) for c in classes] == pytest.approx(response, abs=1e-3)
    # table 3 prints the throughput of the thinking station for class 1: X_1 + none
    assert m.value("throughput", cls="c2") == pytest.approx(x[1], abs=1e-3)
    assert m.value("throughput", cls="c1") == pytest.approx(x[0], abs=1e-3)
    assert m.value("queue_length", "s1") == pytest.approx(queue, abs=1e-3)


def test_schwetman_1980_p9_figure_7_two_classes_via_octave() -> None:
    """Testing Network-of-Queues Software, CSD-TR 330."""
    visits = [[1.00, 0.45, 0.50, 0.00], [1.00, 0.00, 0.50, 0.49]]
    service = [[0.01, 0.09, 0.10, 0.08], [0.05, 0.09, 0.10, 0.08]]
    m = solve(several(service, visits, [Closed("c1", 3), Closed("c2", 2)], ps("s1", "s2", "s3", "s4")))
    assert stations_of(m, "utilisation", 3) == pytest.approx([0.1215, 0.4921, 0.6075], abs=1e-4)
    assert stations_of(m, "queue_length", 3) == pytest.approx([0.2131, 0.7539, 2.0328], abs=1e-4)
    second = [m.value("queue_length", s, "c2") for s in ("s1", "s3", "s4")]
    assert second == pytest.approx([0.5011, 1.1839, 0.3149], abs=1e-4)
    residence = [m.value("residence_time", s, "c2") for s in ("s1", "s3", "s4")]
    assert residence == pytest.approx([0.0729, 0.1724, 0.0458], abs=1e-4)
    assert stations_of(m, "throughput", 3) == pytest.approx([12.1517, 5.4682, 6.0758], abs=1e-4)


@pytest.mark.parametrize("method", EXACT)
def test_schwetman_1982_figure_9_class_switching_via_octave(method: str) -> None:
    """CSD-TR 355: a job at the CPU becomes class 2 with probability 0.1, and class 1 again with 0.2."""
    routing = {
        "c1": {"s1": {"s2": 0.7, "s3": 0.2, "s1/c2": 0.1}, "s2": {"s1": 1.0}, "s3": {"s1": 1.0}},
        "c2": {"s1": {"s2": 0.3, "s3": 0.5, "s1/c1": 0.2}, "s2": {"s1": 1.0}, "s3": {"s1": 1.0}},
    }
    service = {"s1": {"c1": 0.01, "c2": 0.05}, "s2": {"c1": 0.07, "c2": 0.07}, "s3": {"c1": 0.10, "c2": 0.10}}
    model = Model(stations=ps("s1", "s2", "s3"), classes=[Closed("c1", 3), Closed("c2", 0)], service_s=service,
                  routing=routing)  # fmt: skip
    m = solve(model, method)
    assert stations_of(m, "throughput", 3) == pytest.approx([12.609, 8.826, 2.522], abs=1e-3)
    assert stations_of(m, "throughput", 3, "c2") == pytest.approx([6.304, 1.891, 3.152], abs=1e-3)
    assert stations_of(m, "queue_length", 3) == pytest.approx([0.185, 1.175, 0.412], abs=1e-3)
    assert stations_of(m, "queue_length", 3, "c2") == pytest.approx([0.462, 0.252, 0.515], abs=1e-3)
    assert stations_of(m, "utilisation", 3) == pytest.approx([0.126, 0.618, 0.252], abs=1e-3)
    assert stations_of(m, "response_time", 3) == pytest.approx([0.015, 0.133, 0.163], abs=1e-3)


def test_schwetman_1980_p9_figure_6_forty_and_four_via_octave() -> None:
    """CSD-TR 330; the numbers are those of JMVA (the report's own differ, says the test that we know them from)."""
    disks = ["s3", "s4", "s5", "s6"]
    quarter = dict.fromkeys(disks, 0.25)
    routing = {
        "c1": {"s1": {"s2": 1.0}, "s2": quarter, **{d: {"s1": 0.9, "s2": 0.1} for d in disks}},
        "c2": {"s1": {"s2": 1.0}, "s2": quarter, **{d: {"s1": 0.05, "s2": 0.95} for d in disks}},
    }
    service = {"s1": {"c1": 5.0, "c2": 10.0}, "s2": {"c1": 0.010, "c2": 0.100}} | {
        d: {"c1": 0.035, "c2": 0.035} for d in disks
    }
    model = Model(stations=[Delay("s1"), *ps("s2", *disks)], classes=[Closed("c1", 40), Closed("c2", 4)],
                  service_s=service, routing=routing)  # fmt: skip
    m = solve(model)
    assert stations_of(m, "residence_time", 3) == pytest.approx([5, 0.024363, 0.011081], abs=1e-5)
    assert stations_of(m, "residence_time", 3, "c2") == pytest.approx([10, 3.636155, 0.197549], abs=1e-5)
    busy = [m.value("utilisation", s, "c1") for s in ("s2", "s3")]
    assert busy == pytest.approx([0.087684, 0.076724], abs=1e-5)
    assert [m.value("queue_length", "s1", c) for c in ("c1", "c2")] == pytest.approx([39.457941, 2.772704], abs=1e-5)
