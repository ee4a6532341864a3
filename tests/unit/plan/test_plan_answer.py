"""What a plan says: what to choose first, what limits it, what one step more buys, and what to do where nothing will do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from plan_models import ONE, erlang_response
from test_plan_fit import fitted_one
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.plan.load import Load


def test_what_to_choose_comes_first_and_what_is_alike_is_one_line() -> None:
    found = sj.plan(fitted_one(), {"cores": range(2, 9)}, "mean < 30ms", "cores", load=200)
    assert found.first is not None and found.cheapest is not None
    lines = found.lines()
    assert lines[0].startswith("choose, least regret") and found.first.name in lines[0]
    assert sum(found.first.name + ";" in line for line in lines if not line.startswith("one step")) == 1
    plain = sj.plan(sj.Model.parse(ONE), {"cores": range(2, 9)}, "mean < 30ms", "cores", load=200)
    assert plain.lines()[0].startswith("choose, cheapest: cores = ")
    assert any("missed objective counts" in note and "--miss-price" in note for note in found.notes)


def test_a_step_says_what_it_does_to_the_chance_and_where_it_leaves_what_was_measured() -> None:
    found = sj.plan(fitted_one(), {"cores": range(2, 10)}, "mean < 25ms", "cores", load=280)
    assert (
        found.first is not None
        and found.first.settings == {"cores": 8}
        and [step.to_value for step in found.steps] == [9, 7]
    )
    up, down = (step.told(found.first) for step in found.steps)
    assert all("of the draws meet the objective" in told for told in (up, down))
    assert "OUTSIDE" in up and "OUTSIDE" not in down


def test_where_nothing_will_do_the_nearest_is_told_with_what_limits_it() -> None:
    none = sj.plan(fitted_one(), {"cores": range(2, 5)}, "mean < 30ms", "cores", load=390)
    assert none.first is None and none.lines()[0] == "nothing meets the objective"
    assert none.nearest is not None
    assert none.nearest.settings == {"cores": 4}  # none carries the work of 7.8 servers: the largest
    assert not any("choose" in line or "regret:" in line for line in none.lines())
    near = sj.plan(sj.Model.parse(ONE), {"cores": range(3, 6)}, "mean < 20.1ms", "cores", load=100)
    assert near.nearest is not None and near.nearest.settings == {"cores": 5}
    assert near.nearest.violation == pytest.approx(erlang_response(100, 0.02, 5) / 0.0201 - 1)
    assert near.limiting_term.startswith("mean(response_time) < 20.1ms") and [step.to_value for step in near.steps] == [
        4
    ]


def test_what_meets_it_only_outside_says_its_steps_too() -> None:
    beyond = sj.plan(fitted_one(), {"cores": range(2, 16)}, "mean < 25ms", "cores", load=500)
    assert (
        beyond.first is None
        and beyond.cheapest_outside_validated_range is not None
        and beyond.steps
        and beyond.limiting_term
    )
    assert beyond.lines()[0].startswith("no configuration within the measured range meets the objective")
    assert beyond.lines()[1].startswith("cheapest, but outside the validated range: cores = ")


def test_parts_of_servers_and_of_users() -> None:
    with pytest.raises(InputError, match=r"cores = 2.5; give whole numbers"):
        sj.plan(sj.Model.parse(ONE), {"cores": [2.5, 3]}, "mean < 30ms", "cores", load=100)
    rounded = sj.plan(sj.Model.parse(ONE.replace('"stations.cpu.servers"', '"stations.cpu.servers = 2 * cores"')),
                      {"cores": [1.5, 2]}, "mean < 30ms", "cores", load=100)  # fmt: skip
    assert rounded.cheapest is not None and rounded.cheapest.settings == {"cores": 1.5}
    whole = Load("day.csv", "trace", np.array([9.5, 9.75, 12.0]), np.array([0.25, 0.25, 0.5])).whole
    assert whole.levels.tolist() == [10.0, 12.0] and whole.share.tolist() == [0.5, 0.5]
    closed = ONE.replace('kind = "open"\nrate_per_s = 100.0', 'kind = "closed"\npopulation = 5\nthink_s = 1.0')
    found = sj.plan(sj.Model.parse(closed), {"cores": [2]}, "mean < 1s", "cores", load="100..300")
    assert [at.load for at in found.by_load] == [100, 129, 158, 186, 215, 243, 272, 300]


def test_the_command_says_what_is_missing_and_the_period_of_growth(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(ONE, encoding="utf-8")
    words = ["plan", str(path), "--vary", "cores=2..6", "--cost", "cores", "--objective", "mean < 30ms"]
    grown = CliRunner().invoke(command_line(["plan"]), [*words, "--load", "100+10%*3"])
    assert grown.exit_code == 0 and "period" in grown.stdout and "choose, cheapest" in grown.stdout
    level = CliRunner().invoke(command_line(["plan"]), words)
    assert "the load is that of the model, rate_per_s = 100" in level.stdout


def test_a_choice_that_few_draws_meet_has_the_cheapest_sure_one_beside_it() -> None:
    """Whatever the chances of the choices are, each as the first choice in turn."""
    found = sj.plan(fitted_one(), {"cores": range(2, 9)}, "mean < 25ms", "cores", load=200)
    chances = {one.settings["cores"]: one.share_of_draws_that_meet_it or 0.0 for one in found.pareto_front}
    for first in found.pareto_front:
        if not first.objective_met:
            continue
        told = replace(
            found, cheapest=first, least_mean_regret=first, least_max_regret=first, pareto_front=found.pareto_front
        )
        said = [line for line in told.lines() if line.startswith("to be 90 % sure")]
        assert bool(said) == (chances[first.settings["cores"]] < 0.9)
        enough = [cores for cores, chance in chances.items() if chance >= 0.9]
        assert not said or f"cores = {min(enough)}; " in said[0]
        assert not any(line.startswith("to be") for line in replace(told, cost_given=False).lines())
    assert any(chance < 0.9 for chance in chances.values()) and any(chance >= 0.9 for chance in chances.values())
