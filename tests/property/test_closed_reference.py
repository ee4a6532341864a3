"""Exact methods against references that share nothing with them: enumeration in fractions, sums in 60 digits.

The lists of what other programs get wrong: errata, section 3, and octave's queueing package and LINE as measured there.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.model import Closed, Delay, LoadDependent, Model, Queue
from sojourn.solve import solve, sweep
from sojourn.solve.method import RequestedOutputs

STEADY = settings(max_examples=60, deadline=None, derandomize=True)
Speeds = list[list[float]]


def constants(demands: list[float], speeds: Speeds, think_s: float, most: int) -> tuple[list, list[list]]:
    """Normalising constants of the network, and of the network without each station, in 60 digits."""
    with mp.workdps(60):
        parts = [[mp.mpf(think_s) ** n / mp.factorial(n) for n in range(most + 1)]]
        for d, s in zip(demands, speeds, strict=True):
            term = [mp.mpf(1)]
            for n in range(1, most + 1):
                term.append(term[-1] * mp.mpf(d) / mp.mpf(s[min(n, len(s)) - 1]))
            parts.append(term)
        without = [convolved([p for j, p in enumerate(parts) if j != k + 1]) for k in range(len(demands))]
        return convolved(parts), [[t, w] for t, w in zip(parts[1:], without, strict=True)]


def convolved(parts: list[list]) -> list:
    whole = parts[0]
    for part in parts[1:]:
        whole = [mp.fsum(whole[i] * part[n - i] for i in range(n + 1)) for n in range(len(whole))]
    return whole


def reference(demands: list[float], speeds: Speeds, think_s: float, n: int) -> tuple[float, list[float]]:
    """Throughput and mean numbers."""
    with mp.workdps(60):
        g, stations = constants(demands, speeds, think_s, n)
        numbers = [mp.fsum(j * term[j] * rest[n - j] for j in range(n + 1)) / g[n] for term, rest in stations]
        return float(g[n - 1] / g[n]), [float(q) for q in numbers]


def model(demands: list[float], speeds: Speeds, think_s: float, n: int) -> Model:
    """A station of speeds 1, 2, … m is a queue with m servers, any other is load-dependent."""
    stations: list[Queue | LoadDependent] = []
    times = {}
    for k, (d, s) in enumerate(zip(demands, speeds, strict=True)):
        if s == [float(i + 1) for i in range(len(s))]:
            stations.append(Queue(f"s{k}", servers=len(s)))
            times[f"s{k}"] = {"c": d}
        else:
            stations.append(LoadDependent(f"s{k}", tuple(x / d for x in s)))
    return Model(stations=stations, classes=[Closed("c", n, think_s=think_s)], demands_s=times)


def servers(m: int) -> list[float]:
    return [float(i + 1) for i in range(m)]


def agree(demands: list[float], speeds: Speeds, think_s: float, n: int, rel: float = 1e-12) -> None:
    x, q = reference(demands, speeds, think_s, n)
    m = solve(model(demands, speeds, think_s, n), "convolution")
    assert m.value("throughput") == pytest.approx(x, rel=rel)
    assert [m.value("queue_length", f"s{k}") for k in range(len(demands))] == pytest.approx(q, rel=rel, abs=1e-300)


TELESTO = [8.059e-3, 12e-6, 14e-6, 22e-6]


@pytest.mark.parametrize("n", [20, 60, 90, 200, 1000])
@pytest.mark.parametrize("think_s", [0.0, 0.0258])
def test_25_servers_where_load_dependent_mva_goes_negative(n: int, think_s: float) -> None:
    """octave `qncsmva`: negative throughput; here X is m/D at last, and the numbers of all stations are right."""
    speeds = [servers(25), [1.0], servers(25), servers(25)]
    if n <= 200:
        agree(TELESTO, speeds, think_s, n)
    m = solve(model(TELESTO, speeds, think_s, n))
    assert 0 <= m.value("throughput") <= min(25 / TELESTO[0] * (1 + 1e-12), n / (think_s + sum(TELESTO)))
    assert m.value("queue_length") + m.value("throughput") * think_s == pytest.approx(n, rel=1e-12)
    if n >= 200:
        assert m.value("throughput") == pytest.approx(25 / TELESTO[0], rel=1e-9)


@pytest.mark.parametrize(("n", "expected"), [(80, None), (200, 2247.191011236)])
def test_18_servers_at_8_ms(n: int, expected: float | None) -> None:
    """octave is 2e-6 off at N = 80 without a sign; LINE says 3548.9/s and 6931/s at N = 200, capacity is 2247.191."""
    demands, speeds = [8.01e-3, 10e-6, 10e-6, 20e-6], [servers(18), [1.0], servers(20), servers(20)]
    agree(demands, speeds, 0.0258, n)
    if expected:
        assert solve(model(demands, speeds, 0.0258, n)).value("throughput") == pytest.approx(expected, rel=1e-9)


def test_128_servers_and_500_customers() -> None:
    agree([0.02, 1e-4], [servers(128), [1.0]], 0.05, 500)


@pytest.mark.parametrize("n", [100, 400])
def test_load_dependent_queue_lengths_beside_a_right_throughput(n: int) -> None:
    """Speeds that rise and fall, so that neither end of the distribution can be guessed from the other."""
    agree([0.01, 0.004, 0.02], [[1, 1.8, 2.4, 2.2, 1.9, 1.5], [1.0], [1, 3, 0.4, 5]], 0.3, n)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e3])
@pytest.mark.parametrize("think", [0.0, 1.0, 1e6])
def test_constants_that_would_leave_the_range_of_doubles(scale: float, think: float) -> None:
    """G is of the order of scale^N and think^N/N!: 1e-2700 to 1e1200 here."""
    agree([scale, 0.5 * scale], [servers(3), [1.0]], think * scale, 300)


def test_more_servers_than_customers_is_a_delay() -> None:
    m = solve(model([0.5, 0.2], [servers(1000), [1.0]], 1.0, 50), "convolution")
    other = Model(stations=[Delay("s0"), Queue("s1")], classes=[Closed("c", 50, think_s=1.0)],
                  demands_s={"s0": {"c": 0.5}, "s1": {"c": 0.2}})  # fmt: skip
    d = solve(other, "mva")
    assert m.value("throughput") == pytest.approx(d.value("throughput"), rel=1e-13)
    assert m.value("queue_length", "s0") == pytest.approx(d.value("queue_length", "s0"), rel=1e-12)


def test_a_thousand_servers_and_five_thousand_customers() -> None:
    m = solve(model([1.0, 1e-9, 5e-4], [servers(1000), [1.0], [1.0]], 2.0, 5000))
    x = m.value("throughput")
    assert 0 < x <= 1000 * (1 + 1e-12)
    assert m.value("queue_length") + 2.0 * x == pytest.approx(5000, rel=1e-12)
    assert m.value("queue_length", "s2") == pytest.approx(1.0, rel=1e-3)  # M/M/1 at rho = 0.5 behind a full station


@given(
    demands=st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=4),
    data=st.data(),
    think_s=st.sampled_from([0.0, 1e-9, 0.1, 5.0, 1e4]),
    n=st.integers(1, 60),
)
@STEADY
def test_any_speeds_against_sixty_digits(demands: list[float], data: st.DataObject, think_s: float, n: int) -> None:
    speed = st.one_of(st.integers(1, 40).map(servers), st.lists(st.floats(0.1, 50.0), min_size=1, max_size=6))
    speeds = [data.draw(speed) for _ in demands]
    speeds = [[x / s[0] for x in s] for s in speeds]
    agree(demands, speeds, think_s, n, rel=1e-11)


def enumerated(
    demands: list[list[Fraction]], speeds: list[list[int]], think_s: list[Fraction], population: list[int]
) -> tuple[list[Fraction], list[list[Fraction]], list[Fraction]]:
    """Throughputs, mean numbers [station][class], p(0) of each station: sums over all states, in fractions."""

    def weights(most: list[int]) -> dict[tuple, Fraction]:
        found = {}
        splits = [list(compositions(n, len(demands) + 1)) for n in most]
        for state in product(*splits):
            w = Fraction(1)
            for r, split in enumerate(state):
                w *= think_s[r] ** split[-1] / factorial(split[-1])
            for k, row in enumerate(demands):
                here = [split[k] for split in state]
                for j in range(sum(here)):
                    w *= Fraction(j + 1, speeds[k][min(j, len(speeds[k]) - 1)])
                for r, count in enumerate(here):
                    w *= row[r] ** count / factorial(count)
            found[state] = w
        return found

    whole = weights(population)
    g = sum(whole.values())
    less = [[*population[:r], population[r] - 1, *population[r + 1 :]] for r in range(len(population))]
    x = [sum(weights(n).values()) / g if min(n) >= 0 else Fraction(0) for n in less]
    q = [[sum(w * s[r][k] for s, w in whole.items()) / g for r in range(len(population))] for k in range(len(demands))]
    empty = [sum(w for s, w in whole.items() if not any(c[k] for c in s)) / g for k in range(len(demands))]
    return x, q, empty


def compositions(total: int, parts: int):  # type: ignore[no-untyped-def]
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


@given(st.data())
@STEADY
def test_several_classes_against_all_states_in_fractions(data: st.DataObject) -> None:
    classes, stations = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    population = [data.draw(st.integers(0, 3)) for _ in range(classes)]
    part = st.integers(0, 8).map(lambda i: Fraction(i, 4))
    demands = [[data.draw(part) for _ in range(classes)] for _ in range(stations)]
    think = [data.draw(st.integers(1, 8)) * Fraction(1, 2) for _ in range(classes)]
    counts = [data.draw(st.sampled_from([1, 1, 2, 3])) for _ in range(stations)]
    x, q, empty = enumerated(demands, [list(range(1, m + 1)) for m in counts], think, population)
    made = Model(
        stations=[Queue(f"s{k}", servers=m, discipline="ps") for k, m in enumerate(counts)],
        classes=[Closed(f"c{r}", n, think_s=float(z)) for r, (n, z) in enumerate(zip(population, think, strict=True))],
        demands_s={f"s{k}": {f"c{r}": float(d) for r, d in enumerate(row)} for k, row in enumerate(demands)},
    )
    for method in ("convolution", "mva-multiclass") if set(counts) == {1} else ("convolution",):
        m = solve(made, method, requested_outputs=RequestedOutputs(state_probabilities=3))
        for r in range(classes):
            assert m.value("throughput", cls=f"c{r}") == pytest.approx(float(x[r]), rel=1e-12)
            for k in range(stations):
                found = m.value("queue_length", f"s{k}", f"c{r}")
                assert found == pytest.approx(float(q[k][r]), rel=1e-12, abs=1e-15)
        if method == "convolution":
            found = [m.value("queue_length_probability", f"s{k}", n=0) for k in range(stations)]
            assert found == pytest.approx([float(p) for p in empty], rel=1e-12)


@given(
    demands=st.lists(st.floats(1e-6, 10.0), min_size=1, max_size=6),
    think_s=st.just(0.0) | st.floats(1e-30, 100.0),
    n=st.integers(1, 3000),
)
@STEADY
def test_mva_and_convolution_agree(demands: list[float], think_s: float, n: int) -> None:
    made = model(demands, [[1.0]] * len(demands), think_s, n)
    a, b = solve(made, "mva"), solve(made, "convolution")
    assert a.value("throughput") == pytest.approx(b.value("throughput"), rel=1e-11)
    for k in range(len(demands)):
        assert a.value("queue_length", f"s{k}") == pytest.approx(b.value("queue_length", f"s{k}"), rel=1e-9)


def test_ten_million_customers_in_one_class() -> None:
    made = model([0.01 * (k + 1) for k in range(10)], [[1.0]] * 10, 1.0, 10_000_000)
    m = solve(made)
    assert m.value("throughput") == pytest.approx(10.0, rel=1e-9)
    assert m.value("queue_length", "s9") == pytest.approx(1e7 - 10 - sum(k / (10 - k) for k in range(1, 10)), rel=1e-9)


def test_one_lattice_answers_a_sweep_over_populations() -> None:
    made = Model(stations=[Queue("cpu", servers=4, discipline="ps"), Queue("disk", discipline="ps")],
                 classes=[Closed("a", 1, think_s=1.0), Closed("b", 6)],
                 demands_s={"cpu": {"a": 0.3, "b": 0.5}, "disk": {"a": 0.2, "b": 0.1}})  # fmt: skip
    table = sweep(made, "classes.a.population", range(9))
    for n in (0, 1, 5, 8):
        alone = sweep(made, "classes.a.population", [n])
        key = {"classes.a.population": n}
        for cls in ("a", "b"):
            one, many = (t.value("queue_length", "cpu", cls, **key) for t in (alone, table))
            assert one == pytest.approx(many, rel=1e-12, abs=1e-15)
