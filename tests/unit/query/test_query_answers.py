"""Answers of run folders: three-valued logic, intervals, refusals, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import query_golden
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.errors import InputError, QueryError, SourceRefused
from sojourn.query import values as V  # noqa: N812
from sojourn.query.sources.measured import MeasuredSource
from sojourn.query.values import Estimate, Truth
from sojourn.simulate.simulated_folder import write_run

T, F, U = Truth(True), Truth(False), Truth(None)


def test_kleene() -> None:
    """S. C. Kleene, Introduction to Metamathematics (1952), section 64: the strong tables."""
    three = (T, F, U)
    assert [V.both(a, b).value for a in three for b in three] == [
        True,
        False,
        None,
        False,
        False,
        False,
        None,
        False,
        None,
    ]
    assert [V.either(a, b).value for a in three for b in three] == [
        True,
        True,
        True,
        True,
        False,
        None,
        True,
        None,
        None,
    ]
    assert [V.negated(a).value for a in three] == [False, True, None]


@pytest.mark.parametrize(
    ("relation", "a", "b", "found"),
    [
        ("<", (1, 0.9, 1.1), (2, 2, 2), True), ("<", (2, 1.9, 2.1), (2, 2, 2), None), ("<", (3, 2, 4), (2, 2, 2), False),
        ("<=", (3, 2, 4), (2, 2, 2), None), ("<=", (1, 0.5, 2), (2, 2, 2), True), (">", (3, 2, 4), (2, 2, 2), None),
        (">=", (3, 2, 4), (2, 2, 2), True), ("==", (2, 2, 2), (2, 2, 2), True), ("==", (2, 1, 3), (2, 2, 2), None),
        ("!=", (1, 0.5, 1.5), (2, 2, 2), True), ("<", (1, -np.inf, np.inf), (2, 2, 2), None),
    ],
)  # fmt: skip
def test_an_interval_that_holds_the_limit_cannot_tell(
    relation: str, a: tuple[float, ...], b: tuple[float, ...], found: bool | None
) -> None:
    assert V.compare(relation, Estimate(*a), Estimate(*b)).value is found


def test_how_much_longer() -> None:
    """Half-widths shrink with the root of the length: ±4 around 10 reaches 9 no more when it is ±1, at 16 times the length."""
    found = V.compare("<", Estimate(10, 6, 14, spent_s=1.0), Estimate.exact(9))
    assert found.value is None and found.more == pytest.approx(16)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1000 requests, one each 10 ms: those of 5 ms and of 15 ms alternate, the last of each hundred fails. So one is present for
    5 of 10 ms, and two for 5 of 20 ms."""
    path = tmp_path_factory.mktemp("runs") / "regular"
    k = np.arange(2000)
    begin = k * 0.01
    took = np.where(k % 2, 0.015, 0.005)
    write_run(path, manifest={"name": "regular", "factors": {}, "warm_up_s": 0.5},
              requests={"intended_s": begin, "done_s": begin + took, "failure": np.where(k % 100 == 99, 5, 0)})  # fmt: skip
    return path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("p25", 0.005), ("p75", 0.015), ("mean", (0.5 * 0.005 + 0.49 * 0.015) / 0.99), ("errors", 0.01), ("rate(arrivals)", 100),
        ("probability(response <= 10ms)", 0.5), ("mean(n())", 1.0), ("probability({n() == 0})", 0.25), ("probability({n() == 1})", 0.5),
        ("mean(n()) - 0.5 * 2", 0.0), ("mean(distribution(n() over {n() >= 1}))", 4 / 3), ("p90(n())", 2),
        ("mean(passage(from {n() == 2} to {n() == 0}))", 0.005), ("mean(passage(from {n() == 0} to {n() == 0}))", 0.02),
        ("mean(passage(from within {n() == 0} to {n() == 2}))", 0.0125), ("probability({n() == 2} at 17ms from {n() == 0})", 1.0),
        ("probability(passage(from {n() == 0} to {n() == 0} avoiding {n() == 2}) < 1h)", 0.0),
    ],
)  # fmt: skip
def test_numbers_by_hand(run: Path, text: str, value: float) -> None:
    """Of 20 ms: from 5 to 10 none is present, from 10 to 20 one (that of 15 ms), from 20 to 25 two: it and the next."""
    found = sj.query(text, run)
    assert found.value == pytest.approx(value, rel=2e-3, abs=5e-4), found.reason
    assert found.low is None or found.low <= found.value


def test_sets_of_states(run: Path) -> None:
    assert sj.query("states(probability in [0.4, 1]) subset {n() == 1}", run).verdict == "yes"
    assert sj.query("states(probability in [0.2, 1]) subset {n() == 1}", run).verdict == "no"
    assert sj.query("states(probability in [0.2, 1])", run).reason == "{0, 1, 2}"
    assert sj.query("failed subset arrivals", run).verdict == "yes"


def test_windows_of_time(run: Path) -> None:
    assert sj.query("p90 < 20ms in 90% of 500ms windows", run).verdict in ("yes", "cannot tell")
    assert sj.query("p90 < 10ms in 90% of 500ms windows", run).verdict == "no"


def test_a_table_of_metrics() -> None:
    rows = [{"metric": "response_time", "value": 0.05, "low": 0.04, "high": 0.06, "source": "measured"},
            {"metric": "response_time_quantile", "q": 0.99, "value": 0.2, "source": "measured"},
            {"metric": "throughput", "value": 100.0, "low": 98.0, "high": 102.0, "source": "measured"},
            {"metric": "loss_probability", "value": 0.01, "low": 0.0, "high": 0.02, "source": "measured"}]  # fmt: skip
    table = sj.Metrics.of(rows)
    answers = {"mean < 70ms": "yes", "mean < 45ms": "cannot tell", "rate < 90/s": "no", "errors < 3%": "yes", "p99 < 1s": "cannot tell",
               "p90 < 1s": "cannot tell", "mean(n()) < 3": "cannot tell", "probability(response < 1s) > 0.5": "cannot tell"}  # fmt: skip
    assert {text: sj.query(text, table).verdict for text in answers} == answers
    assert "interval unknown" in sj.query("p99 < 1s", table).reason
    exact = sj.Metrics.of([row | {"source": "analytic", "low": None, "high": None} for row in rows])
    assert sj.query("p99 < 201ms and mean <= 50ms", exact).verdict == "yes"


def test_what_is_not_in_the_record_is_refused_by_name(run: Path) -> None:
    found = sj.query("p99(waiting_time) < 5ms", run)
    assert found.verdict == "cannot tell" and "waiting_time: not known; record the service's own times" in found.reason
    assert sj.query("p99(waiting_time) < 5ms and errors < 0.1%", run).verdict == "no", "no is no, whatever the other is"
    assert sj.query("mean(n(disk))", run).verdict == "cannot tell"
    with pytest.raises(SourceRefused, match="n\\(disk\\): not seen"):
        MeasuredSource(sj.RunFolder.open(run)).states(sj.query("mean(n(disk))", run).tree.query.density.function)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="give a run folder or a model"):
        sj.query("p99 < 1s", 3)


def test_command_line(run: Path, tmp_path: Path) -> None:
    def ends(*words: str) -> tuple[int, str]:
        found = CliRunner().invoke(command_line(["query"]), ["query", *words])
        return found.exit_code, found.output

    def ends_with_error(*words: str) -> None:
        found = CliRunner().invoke(command_line(["query"]), ["query", *words])
        assert found.exception is not None
        raise found.exception

    code, told = ends("p50 < 50ms", str(run))  # of a run in which 20 of 1950 requests failed
    assert code == 0 and told.splitlines()[0] == f"regular: yes: {sj.query('p50 < 50ms', run).reason}"
    assert told.splitlines()[1].startswith("  regular is NOT VALID: 20 of 1950 requests")
    assert ends("p50 < 1ms", str(run))[0] == 7
    assert ends("errors < 1.01%", str(run))[0] == 8
    assert ends("p50 < 1s", str(run), str(run), "--json")[0] == 0
    answers = json.loads(ends("p50 < 1ms", str(run), "--json")[1])["answers"]
    assert [one["verdict"] for one in answers] == ["no"]
    model = tmp_path / "m4.toml"
    model.write_text(query_golden.MODEL)
    assert ends("p95", str(model))[1] == "m4: 82.6 ms\n"
    assert (
        ends("utilisation{station=cpu}", str(model), "--set", "stations.cpu.servers=5,rate_per_s=187.5")[1]
        == "m4: 0.750\n"
    )
    assert ends("p95 > 1us", "--simulated-model", str(model), "--seed", "3", "--set", "rate_per_s=15")[0] == 0
    with pytest.raises(InputError, match="did you mean rate_per_s"):
        ends_with_error("p95", str(model), "--set", "rate_per=15")
    file = tmp_path / "slo.ptq"
    file.write_text("p50 < 1ms\n  and p99 < 5")
    with pytest.raises(QueryError) as error:
        from sojourn.cli.query import query

        query(str(file))
    assert str(error.value).startswith(f"{file}:2:13: a number without unit") and str(error.value).endswith(
        "\n                ^"
    )
