"""What `solve` gives on random models keeps the operational laws; checked by the laws' own module, from the rows alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sojourn as sj
from sojourn.laws import broken, check_laws

times = st.floats(1e-6, 10.0)


@st.composite
def models(draw: st.DrawFn) -> sj.Model:
    """Product form: shared stations, 1 to 3 classes; demands over seven powers of ten; visits other than 1."""
    count = draw(st.integers(1, 4))
    kinds = [draw(st.sampled_from(("queue", "many", "delay"))) for _ in range(count)]
    stations: list[Any] = [
        sj.Delay(f"s{i}")
        if kind == "delay"
        else sj.Queue(f"s{i}", 1 if kind == "queue" else draw(st.integers(2, 9)), "ps")
        for i, kind in enumerate(kinds)
    ]
    users = [
        sj.Closed(f"c{i}", draw(st.integers(1, 6)), draw(st.just(0.0) | times)) for i in range(draw(st.integers(1, 3)))
    ]
    service = {s.name: {c.name: draw(times) for c in users} for s in stations}
    visits = {s.name: {c.name: draw(st.floats(0.1, 5)) for c in users} for s in stations}
    return sj.Model(stations, users, service_s=service, visits=visits)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(models())
def test_laws_hold(model: sj.Model) -> None:
    r = sj.solve(model)
    servers = {s.name: s.servers for s in model.stations if isinstance(s, sj.Queue)}
    findings = check_laws(r, servers=servers)
    assert findings and not broken(findings)
    for c in model.classes:
        assert isinstance(c, sj.Closed) and isinstance(c.think_s, float)
        x, response = r.value("throughput", cls=c.name), r.value("response_time", cls=c.name)
        assert x * (response + c.think_s) == pytest.approx(c.population, rel=1e-6)  # interactive response time law
