"""A plan without a cost, and of a model as it is: what is there is told (issue 29, point 15)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plan_models import ONE, erlang_response
from test_plan_fit import fitted_one
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError


def test_every_configuration_is_told_and_the_first_that_meets_it_is_named() -> None:
    found = sj.plan(sj.Model.parse(ONE), {"cores": [6, 3, 4, 2]}, "mean < 25ms", load=150)
    assert [one.settings["cores"] for one in found.pareto_front] == [6, 3, 4, 2] and not found.cost_given
    for one in found.pareto_front:
        cores = one.settings["cores"]
        stable = cores > 150 * 0.02
        assert one.objective_met == (stable and erlang_response(150, 0.02, cores) < 0.025)
        assert one.cost is None and one.mean_regret is None
    assert found.cheapest is not None and found.cheapest.settings == {"cores": 6}
    assert found.lines()[0].startswith("first that meets it: cores = 6") and "cost" not in found.lines()[0]
    assert not any("costs" in line or "saves" in line for line in found.lines())


def test_the_model_as_it_is() -> None:
    """M/M/4 of 20 ms, p99 at 150/s: ../shared/query_control.md, section 8."""
    alone = sj.plan(sj.Model.parse(ONE), {}, "p99 < 121ms", load="100..150")
    assert alone.cheapest is not None and alone.cheapest.terms[0].value == pytest.approx(0.120126163532, rel=1e-9)
    assert alone.configurations == 1 and alone.load_name == "rate_per_s"
    assert "the model unchanged" in "\n".join(alone.lines())


def test_a_price_needs_a_cost() -> None:
    with pytest.raises(InputError, match="it needs a cost"):
        sj.plan(sj.Model.parse(ONE), {"cores": [2]}, "mean < 25ms", miss_price=3.0)


def test_a_fit_without_a_cost_has_chances_and_no_regret() -> None:
    found = sj.plan(fitted_one(), {"cores": range(2, 9)}, "mean < 30ms", load=200)
    assert found.first == found.cheapest and found.least_mean_regret is None and found.miss_price is None
    assert all(one.share_of_draws_that_meet_it is not None for one in found.pareto_front if one.objective_met)
    assert not any("regret" in note for note in found.notes)


def test_the_command_tells_what_was_not_measured_and_ends_well(tmp_path: Path) -> None:
    """It ended with 7, as if the objective could not be met, where nothing like it was measured."""
    fitted_one().write(tmp_path / "fitted.toml")
    words = ["plan", str(tmp_path / "fitted.toml"), "--vary", "cores=2..15", "--load", "500", "--objective"]
    told = CliRunner().invoke(command_line(["plan"]), [*words, "mean < 25ms"])
    assert told.exit_code == 0 and "no configuration within the measured range meets the objective" in told.output
    assert "front" not in told.output and "outside what was measured" in told.output
    assert CliRunner().invoke(command_line(["plan"]), [*words, "mean < 1ms"]).exit_code == 7
    (tmp_path / "one.toml").write_text(ONE)
    words = ["plan", str(tmp_path / "one.toml"), "--objective", "mean < 1s", "--load", "40", "--json"]
    plain = CliRunner().invoke(command_line(["plan"]), words)
    assert plain.exit_code == 0 and json.loads(plain.stdout)["cheapest"]["settings"] == {}
