"""A plan of the workbench: M/M/1 with 0.01 s, at a rate that one server cannot bear."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")

from ui_folder import MM1

from sojourn.errors import InputError, SojournError
from sojourn.plan import PlannedConfiguration
from sojourn.plan.plan_report import front_figure
from sojourn.plan.plan_result import TermValue
from sojourn.ui.plan_answers import planned

SERVERS, RATE = "stations.cpu.servers", {"classes.user.rate_per_s": 150.0}


def test_the_cheapest_that_meets_the_objective_is_chosen_and_a_point() -> None:
    found = planned(MM1, "one.toml", RATE, {SERVERS: [1, 2, 3, 4]}, "mean < 30ms", SERVERS, 700)
    chosen = found["front"][found["chosen"]]
    assert chosen["settings"] == {SERVERS: 2} and chosen["met"] and chosen["cost"] == 2
    assert chosen["y"] == pytest.approx(10 / (1 - 0.75**2))  # M/M/2: S / (1 - rho^2), in ms
    assert found["lines"][0].startswith("choose, cheapest: stations.cpu.servers = 2")
    assert any("one step: stations.cpu.servers 2 → 3" in line for line in found["steps"])
    rows = {row["series"]: row for row in found["figures"][0]["spec"]["data"]["values"]}
    assert rows["objective"]["y"] == [pytest.approx(30), pytest.approx(30)]
    assert rows["meets the objective"]["x"][0] == 2


def test_what_misses_the_objective_is_said() -> None:
    found = planned(MM1, "one.toml", RATE, {SERVERS: [1, 2]}, "mean < 1ms", SERVERS, 700)
    assert found["lines"][0] == "nothing meets the objective"
    assert found["front"][found["chosen"]]["settings"] == {SERVERS: 2}


@pytest.mark.parametrize(
    ("vary", "objective", "cost", "names"),
    [
        ({"no.such": [1.0]}, "mean < 1s", "1", "no.such"),
        ({SERVERS: [1, 2]}, "mean <", SERVERS, "mean"),
        ({SERVERS: [1, 2]}, "mean < 1s", "cores", "cores"),
        ({SERVERS: range(1, 100), "demands_s.cpu.user": [0.01] * 5}, "mean < 1s", SERVERS, "495 configurations"),
    ],
)
def test_bad_questions_are_named(vary: dict[str, list[float]], objective: str, cost: str, names: str) -> None:
    with pytest.raises(SojournError) as told:
        planned(MM1, "one.toml", {}, vary, objective, cost, 700)
    assert names in str(told.value)
    assert isinstance(told.value, InputError) or told.value.remedy


@pytest.mark.parametrize(
    ("met", "share", "name"),
    [
        (True, 0.9, "meets the objective"), (True, None, "meets the objective"), (True, 0.62, "meets it, but not for sure"),
        (False, 0.4, "misses it"),
    ],
)  # fmt: skip
def test_what_is_met_in_too_few_draws_is_not_called_a_success(met: bool, share: float | None, name: str) -> None:
    term = TermValue("mean < 4ms", "mean", 1.0, 0.003 if met else 0.005, None, None)
    one = PlannedConfiguration({"servers": 2}, 2.0, met, 0.0, (term,), share, None, None, True)
    assert front_figure([one]).series[0].name == name
