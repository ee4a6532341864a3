"""What a site completes at most and what limits it, on runs made of demands that are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from ntier_runs import TRUE_S, run, runs

from sojourn.errors import StudyError
from sojourn.table import Metrics
from sojourn_cases.ntier.maxima import maxima, maxima_analysis
from sojourn_cases.ntier.tier_demands import tier_demands

FULL_S = sum(full for name, (full, _) in TRUE_S.items() if name != "client")


def test_the_peak_and_the_decline_beyond_it() -> None:
    """Demands are the same, so throughput is in the ratio of utilisations: .99 with 80 users, .96 with 160, -3 % and demands beside."""
    seen = [tier_demands(run(u, users=n)) for n, u in ((20, 0.4), (80, 0.99), (160, 0.96))]
    (one,) = maxima(seen)
    assert one.users == 80 and one.per_s.value == pytest.approx(0.99 / FULL_S, rel=1e-3)
    assert one.decline == pytest.approx(0.96 / 0.99 - 1, abs=1e-3)
    assert one.limiting_tier[0] == "application" and one.limiting_tier[1] == pytest.approx(2.1e-3 / FULL_S, abs=0.01)
    assert one.limit == "cores 99 % busy; application first (89 % of the path)"


def test_the_analysis_tells_maxima_and_what_models_said_of_them() -> None:
    own = runs(noise=0.02)
    plan = SimpleNamespace(
        study=SimpleNamespace(section=[SimpleNamespace(name="a", vary={"users": [1, 2]})], predict=[])
    )
    most = maxima(tier_demands(one) for one in own)[0]
    said = Metrics.of([{"metric": "throughput", "value": 1.1 * most.per_s.value}], "test")
    model = SimpleNamespace(knows=lambda factors: factors["users"] == most.users, predict=lambda factors, level: said)
    found = SimpleNamespace(
        of=lambda *names: own if names == ("a",) else [], rivals=SimpleNamespace(fitted={"tenth too high": model})
    )
    told = maxima_analysis(cast(Any, found), cast(Any, plan), {})
    assert told.lines[0].startswith("browse, pages of 2 ms, 1 core: at most 4") and "application first" in told.lines[0]
    (table,) = told.sections[0].blocks
    assert table.columns[-1] == "tenth too high" and table.rows[0][-1] == pytest.approx(0.1)
    with pytest.raises(StudyError, match="it has none"):
        maxima_analysis(cast(Any, found), cast(Any, plan), {"sections": []})


def test_configurations_that_differ_in_more_than_the_cores_are_told_apart() -> None:
    """Demands are alike, so the most of each is in the ratio of utilisations: .99 of the one, half of that of the other."""
    shares = {"first": (0.4, 0.99), "spread": (0.4, 0.495)}
    own = [run(u, users=n, placement=p) for p, each in shares.items() for n, u in zip((20, 80), each, strict=True)]
    plan = SimpleNamespace(
        study=SimpleNamespace(section=[SimpleNamespace(name="a", vary={"users": [20, 80]})], predict=[])
    )
    found = SimpleNamespace(of=lambda *names: own, rivals=None)
    told = maxima_analysis(cast(Any, found), cast(Any, plan), {})
    assert [line.partition(":")[0] for line in told.lines] == [
        "browse, pages of 2 ms, placement first, 1 core", "browse, pages of 2 ms, placement spread, 1 core",
    ]  # fmt: skip
    (table,) = told.sections[0].blocks
    assert table.columns[:3] == ("mix", "placement", "work, ms") and [row[1] for row in table.rows] == [
        "first",
        "spread",
    ]
    most = [row[table.columns.index("most, 1/s")] for row in table.rows]
    path = [FULL_S, sum(full + idle * 0.505**2 for name, (full, idle) in TRUE_S.items() if name != "client")]
    assert most == pytest.approx([0.99 / FULL_S, 0.495 / path[1]], rel=1e-3)
