"""Plans: the choice and the front are those that every configuration, solved one by one, gives; what is asked wrongly is refused."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plan_models import ONE, erlang_response
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError, SojournError
from sojourn.plan.choices import front, regrets, shortlist
from sojourn.plan.cost import Cost
from sojourn.plan.load import Load
from sojourn.plan.objective import Objective, Quantity
from sojourn.plan.staffing import servers_needed, waiting_probability

TWO = """
[stations.web]
servers = 2
[stations.db]
servers = 1
[classes.user]
kind = "open"
rate_per_s = %r
[demands_s]
web = { user = %r }
db = { user = %r }
"""


def beaten(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """Whether b is nowhere worse than a (cost, violation, -robustness) and better somewhere."""
    return all(y <= x for x, y in zip(a, b, strict=True)) and any(y < x for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("seed", range(100))
def test_choice_and_front_are_those_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rate, web_s, db_s = rng.uniform(20, 200), rng.uniform(0.005, 0.05), rng.uniform(0.002, 0.02)
    model = sj.Model.parse(TWO % (float(rate), float(web_s), float(db_s)))
    limit_s = float(rng.uniform(1.1, 3.0) * (web_s + db_s))
    a, b = float(rng.uniform(0.5, 2)), float(rng.uniform(0.5, 2))
    servers = {"stations.web.servers": [1, 2, 4, 7, 11], "stations.db.servers": [1, 2, 3, 5]}
    found = sj.plan(
        model, servers, f"mean < {1e3 * limit_s!r}ms and utilisation{{station=db}} < 0.8",
        f"{a!r}*stations.web.servers + {b!r}*stations.db.servers",
    )  # fmt: skip

    points: dict[tuple[int, int], tuple[float, float, float]] = {}
    for web, db in product(*servers.values()):
        offered = rate * db_s
        if rate * web_s >= web or offered >= db:
            continue
        response_s = sum(erlang_response(rate, s, m) for s, m in ((web_s, web), (db_s, db)))
        beyond = max(response_s / limit_s - 1, offered / db / 0.8 - 1)
        points[web, db] = a * web + b * db, max(beyond, 0.0), -max(-beyond, 0.0)
    good = {key: p for key, p in points.items() if p[1] == 0}
    if good:
        assert found.cheapest is not None
        assert tuple(found.cheapest.settings.values()) == min(good, key=lambda key: good[key][0])
    else:
        assert found.cheapest is None and found.nearest is not None
    kept = {key for key, p in points.items() if not any(beaten(p, other) for other in points.values())}
    assert {tuple(one.settings.values()) for one in found.pareto_front} == kept


def test_the_objective_holds_at_every_load() -> None:
    model = sj.Model.parse(ONE)
    whole = sj.plan(model, {"cores": range(1, 17)}, "mean < 25ms", "0.04*cores", load="200..400")
    alone = sj.plan(model, {"cores": range(1, 17)}, "mean < 25ms", "0.04*cores", load=400)
    assert whole.cheapest is not None and alone.cheapest is not None
    assert whole.cheapest.settings == alone.cheapest.settings == whole.by_load[-1].settings
    assert whole.cheapest.cost == pytest.approx(0.04 * whole.cheapest.settings["cores"])
    assert erlang_response(400, 0.02, whole.cheapest.settings["cores"]) < 0.025
    assert erlang_response(400, 0.02, whole.cheapest.settings["cores"] - 1) >= 0.025
    assert {step.to_value - step.from_value for step in whole.steps} == {1, -1}


def test_users_are_a_load_too() -> None:
    text = ONE.replace('kind = "open"\nrate_per_s = 100.0', 'kind = "closed"\npopulation = 5\nthink_s = 1.0')
    found = sj.plan(sj.Model.parse(text), {"cores": [1, 2, 3]}, "mean < 35ms", "cores", load=60)
    assert found.load_name == "users" and found.cheapest is not None and found.cheapest.settings["cores"] == 2


def test_p99_is_that_of_the_closed_form() -> None:
    """../shared/query_control.md, section 8: M/M/4 at 150/s, exponential 20 ms."""
    found = sj.plan(sj.Model.parse(ONE), {"cores": [4]}, "p99 < 121ms and p50 < 24ms", "cores", load=150)
    assert found.cheapest is not None
    assert [t.value for t in found.cheapest.terms] == pytest.approx([0.120126163532, 0.023125672572], rel=1e-9)


def test_the_command_ends_with_7_where_nothing_meets_the_objective(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(ONE)
    words = [
        "plan",
        str(tmp_path / "one.toml"),
        "--vary",
        "cores=1..3",
        "--cost",
        "cores",
        "--load",
        "100+10%*3",
        "--json",
    ]
    codes = []
    for limit in ("80ms", "1ms"):
        codes.append(CliRunner().invoke(command_line(["plan"]), [*words, "--objective", f"mean < {limit}"]))
    assert [one.exit_code for one in codes] == [0, 7]
    good, bad = (json.loads(one.stdout) for one in codes)
    assert good["cheapest"]["settings"] == {"cores": 3} and [at["load"] for at in good["by_load"]] == pytest.approx(
        [100, 110, 121, 133.1]
    )
    assert bad["cheapest"] is None and bad["nearest"]["violation"] == pytest.approx(
        erlang_response(133.1, 0.02, 3) / 0.001 - 1
    )


def test_an_objective_is_judged_by_term() -> None:
    mean, busy = Quantity("response_time"), Quantity("utilisation", "cpu")
    read = Objective.read("let slow(x) = mean > x; not slow(50ms) and (utilisation{station=cpu} < 0.8 or mean < 10ms)")
    values = {mean: np.array([0.04, 0.06, 0.04, math.nan]), busy: np.array([0.7, 0.7, 0.9, 0.1])}
    told = read.judge(values)
    assert told.met.tolist() == [True, False, False, False]
    assert told.violation[:3] == pytest.approx([max(-0.2, -0.125), 0.2, 0.125]) and told.violation[3] == math.inf


def test_the_front_and_regret_by_hand() -> None:
    cost, violation, robust = (
        np.array(x, float) for x in ([1, 2, 2, 3, 1], [0.5, 0, 0, 0, 0.5], [0, 0.9, 0.9, 0.8, 0])
    )
    assert sorted(front(cost, violation, robust)) == [0, 1, 2, 4]
    met = np.array([[False, True], [True, True]])
    assert regrets(np.array([1.0, 3.0]), met, 10.0).tolist() == [[8.0, 0.0], [0.0, 2.0]]
    assert shortlist(cost, violation, 2).tolist() == [0, 1]


def test_a_cost_is_arithmetic() -> None:
    cost = Cost.read("2*max(cores, 3) + ceil(nics/2)**2 - -1", ["cores", "nics"])
    assert cost.of({"cores": np.array([1, 5]), "nics": np.array([3, 1])}).tolist() == [11.0, 12.0]


@pytest.mark.parametrize(("text", "words"), [
    ("0.04*core", "did you mean cores"), ("__import__('os')", "'os'"), ("cores.__class__", "cores.__class__"),
    ("[cores]", "[cores]"), ("cores +", "cores +"), ("1/(cores-1)", "not a finite number at cores = 1"),
    ("True*cores", "True"), ("'a'*cores", "'a'"), ("cores if cores else 1", "cores if"), ("min(cores)", "min of 1"),
    ("(" * 900 + "cores" + ")" * 90, "(((("), ("1+" * 600 + "1", "1201 characters"), ("9**9**9**9", "not a finite"),
])  # fmt: skip
def test_a_cost_that_is_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        Cost.read(text, ["cores"]).of({"cores": np.array([1.0, 2.0])})
    assert words in str(error.value) and str(error.value).startswith("--cost")


def test_loads(tmp_path: Path) -> None:
    assert Load.read("900").levels.tolist() == [900] and Load.read("200..900").levels[[0, -1]].tolist() == [200, 900]
    assert Load.read("200..400:100").levels.tolist() == [200, 300, 400]
    assert Load.read("100+10%*2").levels == pytest.approx([100, 110, 121])
    trace = tmp_path / "trace.csv"
    trace.write_text("t_s,rate_per_s\n0,100\n10,300\n40,100\n")
    read = Load.read(trace)
    assert read.levels.tolist() == [100, 300] and read.share == pytest.approx([40 / 70, 30 / 70])


@pytest.mark.parametrize(("given", "words"), [
    ({"load": "900..200"}, "lower end first"), ({"load": "fast"}, "--load"), ({"load": 0}, "above 0"),
    ({"load": "none.csv"}, "none.csv"), ({"objective": "p99 < 50"}, "50ms"), ({"objective": "p99"}, "compare"),
    ({"objective": "probability({n() > 3}) < 0.1"}, "not available"), ({"objective": "p99(waiting_time{class=x}) < 1s"}, "no class"),
    ({"objective": "utilisation{station=cpuu} < 0.5"}, "did you mean cpu"), ({"vary": {"cores": []}}, "vary"),
    ({"vary": {"coress": [1]}}, "did you mean cores"), ({"vary": {"stations.cpuu.servers": [1]}}, "cpu"),
    ({"vary": {"cores": [0]}}, "servers"), ({"vary": {"cores": range(200_000)}}, "at most"), ({"level": 2}, "level"),
    ({"miss_price": -1}, "price"), ({"cost": "nics"}, "nics"),
])  # fmt: skip
def test_what_is_asked_wrongly_is_refused(given: dict[str, Any], words: str) -> None:
    usual: dict[str, Any] = {"vary": {"cores": [1, 2]}, "objective": "mean < 50ms", "cost": "cores"}
    with pytest.raises(SojournError) as error:
        sj.plan(sj.Model.parse(ONE), **{**usual, **given})
    assert words in str(error.value)


def test_square_root_staffing() -> None:
    """../shared/query_control.md, section 3, computed there."""
    told = waiting_probability([0.5, 1, 1.5, 2, 2.5])
    assert told == pytest.approx([0.505, 0.223, 0.085, 0.027, 0.0070], abs=5e-4)
    assert servers_needed(100, 1.0) == 110


def test_a_load_that_is_varied_is_not_given_too_and_is_judged_by_what_was_measured() -> None:
    model = sj.Model.parse(ONE)
    for name in ("rate_per_s", "classes.user.rate_per_s"):
        with pytest.raises(InputError, match="is varied, but a load is also given"):
            sj.plan(model, {name: [10.0, 20.0]}, "mean < 1s", name, load=15.0)
