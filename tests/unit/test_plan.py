"""Plans: the choice and the front are those that every configuration, solved one by one, gives; what is asked wrongly is refused."""

from __future__ import annotations

import json
import math
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError, SojournError
from sojourn.fit.fit_runs import FitRun, FitRuns
from sojourn.fit.fitted import ParameterEstimate
from sojourn.plan.choices import front, regrets, shortlist
from sojourn.plan.cost import Cost
from sojourn.plan.load import Load
from sojourn.plan.objective import Objective, Quantity
from sojourn.plan.staffing import servers_needed, waiting_probability

ONE = """
[stations.cpu]
servers = 4
[classes.user]
kind = "open"
rate_per_s = 100.0
[demands_s.cpu]
user = 0.02
[factors]
cores = "stations.cpu.servers"
"""
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
    assert {tuple(one.settings.values()) for one in found.front} == kept


def erlang_response(rate: float, service_s: float, servers: int) -> float:
    """M/M/m by Erlang's recursion."""
    offered, lost = rate * service_s, 1.0
    for k in range(1, servers + 1):
        lost = offered * lost / (k + offered * lost)
    waits = lost / (1 - offered / servers * (1 - lost))
    return service_s + waits * service_s / (servers - offered)


def test_the_objective_holds_at_every_load() -> None:
    model = sj.Model.parse(ONE)
    whole = sj.plan(model, {"cores": range(1, 17)}, "mean < 25ms", "0.04*cores", load="200..400")
    alone = sj.plan(model, {"cores": range(1, 17)}, "mean < 25ms", "0.04*cores", load=400)
    assert whole.cheapest is not None and alone.cheapest is not None
    assert whole.cheapest.settings == alone.cheapest.settings == whole.by_load[-1].settings
    assert whole.cheapest.cost == pytest.approx(0.04 * whole.cheapest.settings["cores"])
    assert erlang_response(400, 0.02, whole.cheapest.settings["cores"]) < 0.025
    assert erlang_response(400, 0.02, whole.cheapest.settings["cores"] - 1) >= 0.025
    assert {step.to - step.from_ for step in whole.steps} == {1, -1}


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
    words = ["plan", str(tmp_path / "one.toml"), "--vary", "cores=1..3", "--cost", "cores", "--load", "100+10%*3", "--json"]
    codes = []
    for limit in ("80ms", "1ms"):
        codes.append(CliRunner().invoke(command_line(["plan"]), [*words, "--objective", f"mean < {limit}"]))
    assert [one.exit_code for one in codes] == [0, 7]
    good, bad = (json.loads(one.stdout) for one in codes)
    assert good["cheapest"]["settings"] == {"cores": 3} and [at["load"] for at in good["by_load"]] == pytest.approx([100, 110, 121, 133.1])
    assert bad["cheapest"] is None and bad["nearest"]["violation"] == pytest.approx(erlang_response(133.1, 0.02, 3) / 0.001 - 1)


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
    ("[cores]", "[cores]"), ("cores +", "cores +"), ("1/(cores-1)", "no finite number at cores = 1"),
    ("True*cores", "True"), ("'a'*cores", "'a'"), ("cores if cores else 1", "cores if"), ("min(cores)", "min of 1"),
    ("(" * 900 + "cores" + ")" * 90, "(((("), ("1+" * 600 + "1", "1201 characters"), ("9**9**9**9", "no finite"),
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
    ({"objective": "probability({n() > 3}) < 0.1"}, "not asked of many"), ({"objective": "p99(waiting_time{class=x}) < 1s"}, "no class"),
    ({"objective": "utilisation{station=cpuu} < 0.5"}, "did you mean cpu"), ({"vary": {}}, "vary"),
    ({"vary": {"coress": [1]}}, "did you mean cores"), ({"vary": {"stations.cpuu.servers": [1]}}, "cpu"),
    ({"vary": {"cores": [0]}}, "servers"), ({"vary": {"cores": range(200_000)}}, "at most"), ({"level": 2}, "level"),
    ({"price": -1}, "price"), ({"cost": "nics"}, "nics"),
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


RUN_CORES, TRUE_S = (2, 4, 6, 8), 0.02


def fitted_one() -> sj.FittedModel:
    """The station measured at half load with 2 to 8 cores, each mean off by up to 4 %."""
    free = ONE.replace("user = 0.02", "user = { free = true }")
    runs = []
    for k, cores in enumerate(RUN_CORES * 2):
        rate = 0.4 * cores / TRUE_S * (1 + k // 4)
        off = 1 + 0.04 * math.sin(5 * k)
        means = {
            ("", "response_time"): (erlang_response(rate, TRUE_S, cores) * off, 0.03),
            ("", "throughput"): (rate, 0.01),
        }
        runs.append(FitRun(f"r{k}", {"cores": cores, "rate_per_s": rate}, means, {"cpu": rate * TRUE_S * off}))
    return sj.fit_model(FitRuns(runs), sj.Model.parse(free), draws=60)


def test_a_fit_has_chances_regret_and_a_validated_range(tmp_path: Path) -> None:
    fitted = fitted_one()
    fitted.write(tmp_path / "fitted.toml")
    found = sj.plan(tmp_path / "fitted.toml", {"cores": range(1, 11)}, "mean < 30ms", "cores", load="100..250")
    assert found.draws == 60 and found.first is found.least_regret is not None and found.cheapest is not None
    assert found.first.inside and found.first.cost >= found.cheapest.cost
    assert found.first.chance is not None and found.cheapest.chance is not None
    assert found.first.chance >= found.cheapest.chance
    term = found.cheapest.terms[0]
    assert term.low is not None and term.high is not None and term.low < term.value < term.high
    met = np.array([
        [erlang_response(250, float(d), c) < 0.03 if 250 * d < c else False for c in range(1, 11)]
        for d in fitted.draws[:, 0]
    ])  # fmt: skip
    if fitted.model_error is None:
        assert found.cheapest.chance == pytest.approx(met[:, int(found.cheapest.cost) - 1].mean())


def test_what_was_not_measured_is_marked_and_never_first() -> None:
    beyond = sj.plan(fitted_one(), {"cores": range(1, 16)}, "mean < 25ms", "cores", load=500)
    assert beyond.first is None and beyond.cheapest is None and beyond.cheapest_outside is not None
    assert beyond.cheapest_outside.inside is False and "OUTSIDE" in str(beyond)
    # 9 cores of a price of their own are cheapest, and were never run
    odd = sj.plan(fitted_one(), {"cores": range(1, 10)}, "mean < 30ms", "10 - cores", load=200)
    assert odd.first is not None and odd.first.settings["cores"] <= 8
    assert odd.cheapest_outside is not None and odd.cheapest_outside.settings["cores"] == 9


def test_a_factor_that_varied_must_be_said_and_a_path_may_stand_for_it() -> None:
    with pytest.raises(InputError, match="no cores; say it"):
        sj.plan(fitted_one(), {"demands_s.cpu.user": [0.02]}, "mean < 30ms", "1", load=100)
    found = sj.plan(fitted_one(), {"stations.cpu.servers": [3, 4, 9]}, "mean < 30ms", "stations.cpu.servers", load=150)
    assert [one.inside for one in found.front] == [True] * 2 + [False]


def test_what_the_arrays_cannot_take_is_lowered_again() -> None:
    text = ONE.replace('kind = "open"\nrate_per_s = 100.0', 'kind = "closed"\npopulation = 20\nthink_s = 0.1')
    text = text.replace("[factors]", '[stations.pool]\nkind = "pool"\nsize = 9\nover = ["cpu"]\n[factors]\nsessions = "stations.pool.size"')
    found = sj.plan(sj.Model.parse(text), {"sessions": [1, 2, 4], "cores": [4]}, "throughput > 90/s", "sessions")
    alone = [sj.solve(sj.Model.parse(text.replace("size = 9", f"size = {n}"))).value("throughput") for n in (1, 2, 4)]
    assert found.cheapest is not None and alone[1] > 90 > alone[0]
    assert found.cheapest.settings["sessions"] == 2
    assert found.cheapest.terms[0].value == pytest.approx(alone[1])


def two_class_fit(model: str = "two-class") -> sj.Fitted:
    rng = np.random.default_rng(1)
    values = {"mu1_per_s": 3300.0, "mu2_per_s": 370.0} if model == "two-class" else {"mu_per_s": 300.0}
    samples = {name: tuple(v * np.exp(0.03 * rng.standard_normal(50))) for name, v in values.items()}
    estimates = {name: ParameterEstimate(v, 0.9 * v, 1.1 * v) for name, v in values.items()}
    measured = ({"cores": 1, "nics": 1, "rate_low_per_s": 50, "rate_high_per_s": 900},
                {"cores": 8, "nics": 4, "rate_low_per_s": 50, "rate_high_per_s": 900})  # fmt: skip
    held = ({"cores": 4, "nics": 1, "rate_per_s": 500.0, "response_time": 0.05},)
    given = {"p_rule": "uniform"} if model == "two-class" else {}
    return sj.Fitted(model, "priority", estimates, given, samples, 0.95, 1, held, measured, ())


def test_cores_and_nics_of_a_two_class_fit() -> None:
    found = sj.plan(
        two_class_fit(), {"cores": range(1, 9), "nics": [1, 2, 4]}, "mean < 6ms", "0.04*cores + 0.01*nics", load=700
    )
    assert found.configurations == 8 + 7 + 5  # no more NICs than cores
    assert found.first is not None and found.cheapest is not None and found.draws == 50
    best = []
    for cores in range(1, 9):
        for nics in (n for n in (1, 2, 4) if n <= cores):
            told = sj.two_class(700, mu1_per_s=3300, mu2_per_s=370, cores=cores, nics=nics, variant="priority")
            row = told.frame.filter(metric="response_time", station="").row(0, named=True)
            if row["status"] == "ok" and row["value"] < 0.006:
                best.append((0.04 * cores + 0.01 * nics, {"cores": cores, "nics": nics}))
    assert found.cheapest.settings == min(best, key=lambda one: one[0])[1]


def test_quantiles_of_an_mmm_fit() -> None:
    found = sj.plan(two_class_fit("mmm"), {"cores": range(1, 9)}, "p99 < 16ms", "cores", load=700)
    assert found.cheapest is not None and found.cheapest.settings["cores"] == 5
    value = sj.Model([sj.Queue("q", 5)], [sj.Open("x", 700.0)], service_s={"q": {"x": 1 / 300}})
    exact = sj.solve(value).frame.filter(metric="response_time_quantile", q=0.99)["value"][0]
    assert found.cheapest.terms[0].value == pytest.approx(exact, rel=1e-9)


def test_quantiles_of_a_two_class_fit() -> None:
    found = sj.plan(two_class_fit(), {"cores": range(1, 9), "nics": [1, 2, 4]}, "p99 < 20ms", "cores + nics", load=700)
    assert found.cheapest is not None and found.first is not None and found.first.chance is not None
    with pytest.raises(InputError, match="tells no quantiles"):
        sj.plan(two_class_fit(), {"cores": [1]}, "p99(waiting_time) < 20ms", "cores", load=100)


def test_the_bench_of_known_services(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the fits that benches/plan/regret.py makes 400 of."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benches/plan"))
    bench = import_module("regret")
    assert bench.holds("one", {"cores": 45}, 1500.0) and not bench.holds("one", {"cores": 31}, 1500.0)
    rows = [bench.planned("one", seed) for seed in (1, 2)]
    for row in rows:
        assert row["refused"] == "" and row["regret_cost"] >= row["point_cost"] and row["regret_chance"] >= row["point_chance"]
    assert "| one | 2 |" in bench.summary(rows)
