"""Bounds and mixed networks of textbooks and papers; names and "(via octave)" as in test_closed_books.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from book_models import EXACT, one_class, ps, several, stations_of

from sojourn.model import Closed, Model, Open, Queue
from sojourn.solve import solve
from sojourn.solve.bounds import asymptotic, geometric, one_chain


@pytest.mark.parametrize("method", EXACT[1:])
def test_zahorjan_in_lazowska_p148_mixed_model_via_octave(method: str) -> None:
    """Two open classes beside the two closed ones of p. 142: the closed ones find what is left."""
    classes = [Open("A", rate_per_s=1.0), Open("B", rate_per_s=0.5), Closed("C", 1), Closed("D", 1)]
    service = [[1 / 4, 1 / 6], [1 / 2, 1], [1 / 2, 1], [1, 4 / 3]]
    m = solve(several(service, [[1, 1]] * 4, classes, ps("cpu", "disk")), method)
    queue = [m.value("queue_length", s, c) for c in "CD" for s in ("cpu", "disk")]
    assert queue == pytest.approx([4 / 19, 15 / 19, 5 / 19, 14 / 19], rel=1e-12)


@pytest.mark.parametrize("method", EXACT[1:])
def test_bolch_p345_example_8_6_mixed_network_via_octave(method: str) -> None:
    classes = [Open("O1", rate_per_s=0.5), Open("O2", rate_per_s=0.25), Closed("c1", 1), Closed("c2", 1)]
    visits = [[2, 1], [2.5, 1.5], [1, 0.5], [1, 0.4]]
    service = [[0.4, 0.6], [0.8, 1.6], [0.3, 0.5], [0.5, 0.8]]
    m = solve(several(service, visits, classes, ps("s1", "s2")), method)
    assert stations_of(m, "utilisation", 2, "O1") == pytest.approx([0.4, 0.3], abs=1e-3)
    assert stations_of(m, "utilisation", 2, "O2") == pytest.approx([0.5, 0.6], abs=1e-3)
    assert stations_of(m, "response_time", 2, "c1") == pytest.approx([4.829, 6.951], abs=1e-3)
    assert stations_of(m, "response_time", 2, "c2") == pytest.approx([7.727, 11.636], abs=1e-3)
    assert stations_of(m, "queue_length", 2, "c1") == pytest.approx([0.582, 0.418], abs=1e-3)
    assert stations_of(m, "queue_length", 2, "c2") == pytest.approx([0.624, 0.376], abs=1e-3)
    assert stations_of(m, "queue_length", 2, "O1") == pytest.approx([8.822, 5.383], abs=1e-3)
    assert stations_of(m, "response_time", 2, "O2") == pytest.approx([17.645, 28.710], abs=1e-3)
    assert [m.value("throughput", cls=c) for c in ("c1", "c2")] == pytest.approx([0.120, 0.081], abs=1e-3)


@pytest.mark.parametrize("method", EXACT)
def test_schwetman_1982_p26_figure_10_mixed_via_octave(method: str) -> None:
    """Implementing the Mean Value Algorithm, CSD-TR 355, Purdue University."""
    service: Mapping[str, Any] = {"s1": {"open": 0.25}, "s2": {"open": 0.25, "closed": 0.10}}
    classes = [Open("open", rate_per_s=1.0), Closed("closed", 3)]
    # the open class comes first to s1, as in the figure; its closed class stays at s2
    m = solve(Model(stations=[Queue("s1"), *ps("s2")], classes=classes, service_s=service), method)
    assert m.value("utilisation", "s1", "open") == pytest.approx(0.25, abs=1e-3)
    assert m.value("response_time", "s2", "closed") == pytest.approx(3 * 0.1 / 0.75, rel=1e-12)


# G. Casale, R. R. Muntz, G. Serazzi: IEEE Trans. Comput. 57(6), 2008, Tables IV and V (via octave): N, X^-, X^+
CASALE_4 = [(2, 4.3040, 4.3174), (5, 6.6859, 6.7524), (10, 8.1521, 8.2690), (20, 9.0947, 9.2431), (80, 9.8233, 9.8765)]
CASALE_5 = [(2, 1.4319, 1.5195), (5, 3.3432, 3.5582), (10, 5.7569, 6.1410), (20, 8.0856, 8.6467), (80, 9.7147, 9.8594)]
CASALE = [(0.0, *row) for row in CASALE_4] + [(1.0, *row) for row in CASALE_5]


@pytest.mark.parametrize("row", CASALE, ids=lambda r: f"Z={r[0]:g} N={r[1]}")
def test_casale_2008_tables_4_and_5_geometric_bounds(row: tuple[float, ...]) -> None:
    """Ours are no wider than the printed ones (one row's upper end by 0.02 %), because U(n) falls with n."""
    model = one_class([0.1, 0.1, 0.09, 0.08], [1] * 4, [1] * 4, int(row[1]), think_s=row[0])
    low, high = geometric.between(one_chain.of([model.network]))
    exact = solve(model, "mva").value("throughput")
    assert row[2] - 5.1e-5 <= low[0] <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= high[0] <= row[3] * (1 + 2e-4)


def test_bolch_p913_example_9_6_asymptotic_bounds_via_octave() -> None:
    model = one_class([9.2, 8.0], [1, 1], [1, 1], 20, think_s=120)
    _, high = asymptotic.between(one_chain.of([model.network]), [model.network])
    assert high[0] == pytest.approx(0.109, abs=1e-3)
    assert 20 / high[0] - 120 == pytest.approx(64, abs=1e-6)
