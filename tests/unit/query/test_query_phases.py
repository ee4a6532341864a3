"""States of a service by its own record of phase times: n(app), busy(app), its utilisation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from query_golden import model
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.query import query
from sojourn.query.sources.share_interval import share_needs
from sojourn.query.sources.station import begins
from sojourn.query.told import times
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run
from sojourn.simulate.simulated_run import as_run

THREADS = {"pages": ["item", "wait"], "weight": 1, "config": {"cores": [0, 1], "threads_per_core": 2}}
BACKEND = THREADS | {
    "config": {"cores": [0], "threads_per_core": 1, "backend": {"safe": {"workers": 4}, "control": None}}
}


def rows(came: Any, begin: Any, end: Any, page: int = 0) -> pl.DataFrame:
    frame = pl.DataFrame({"received_s": came, "start_s": begin, "end_s": end})
    return frame.with_columns(drawn_s=pl.col("end_s") - pl.col("start_s"), page=pl.lit(page))


@pytest.fixture(scope="module")
def mm4(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """An M/M/4 whose service has recorded its phases: 200 s of training seed 500 000."""
    folder = tmp_path_factory.mktemp("phases")
    seen = as_run(model(), folder / "plain", seed=500_000, until_s=200).frame("requests")
    assert seen is not None
    came, end = seen["intended_s"].to_numpy(), seen["done_s"].to_numpy()
    app = rows(came, begins(came, end, 4), end)
    requests = {"intended_s": came, "done_s": end}
    return write_run(
        folder / "phased", manifest={"name": "mm4", "records": {"app": THREADS}}, requests=requests, app=app
    )


@pytest.mark.parametrize(("text", "truth"), [
    ("utilisation{station=app}", 0.75), ("mean(distribution(n(app)))", 4.5283018868), ("mean(distribution(busy(app)))", 3.0),
    ("probability({n(app) >= 4})", 0.5094339623), ("probability({busy(app) == 4})", 0.5094339623),
    ("probability({n(app) == 0} )", 0.0377358491), ("mean(passage(from {n(app) == 0} to {n(app) >= 8}))", 0.3066849566),
])  # fmt: skip
def test_the_truth_lies_within_the_interval(mm4: RunFolder, text: str, truth: float) -> None:
    """Closed forms of query_golden.py; one record, seven intervals."""
    found = query(text, mm4)
    assert found.low is not None and found.high is not None and found.value is not None
    by = 1.960 / 1.645  # to the interval at 95 %: seven at 90 % would hold all at once in half of all records only
    assert found.value - by * (found.value - found.low) <= truth <= found.value + by * (found.high - found.value), (
        found.reason
    )


def test_by_hand(tmp_path: Path) -> None:
    """Of each second one request is there for 0.2 s, then two for 0.3 s, the second of which waits for the first 0.1 s."""
    start = np.arange(200.0)
    came = np.concatenate([start, start + 0.2])
    begin = np.concatenate([start, start + 0.3])
    end = np.concatenate([start + 0.5, start + 0.5])
    order = np.argsort(came)
    app = rows(came[order], begin[order], end[order])
    requests = {"intended_s": came, "done_s": end + 0.1}
    run = write_run(tmp_path / "run", manifest={"name": "x", "records": {"app": THREADS}}, requests=requests, app=app)

    def said(text: str) -> float:
        value = query(text, run).value
        assert value is not None
        return value

    assert said("mean(distribution(n(app)))") == pytest.approx(0.8, abs=0.01)
    assert said("mean(distribution(busy(app)))") == pytest.approx(0.7, abs=0.01)
    assert said("utilisation{station=app}") == pytest.approx(0.175, abs=0.003)
    assert said("probability({n(app) == 2 and busy(app) == 1})") == pytest.approx(0.1, abs=0.005)
    assert said("probability({n() == 2 and n(app) == 0})") == pytest.approx(0.1, abs=0.005)
    assert said("mean(n())") == pytest.approx(1.0, abs=0.01)
    windows = query("utilisation{station=app} < 0.2 and mean(wait) < 60ms in 90% of 20s windows", run)
    assert windows.reason.startswith("met in 9 of 9"), windows.reason


def test_servers_behind_the_waiting_page(tmp_path: Path) -> None:
    start = np.arange(400.0) * 0.5
    for name, app, config, answer in (
        ("waits", rows(start, start, start + 0.2, 1), BACKEND, 0.1), ("threads", rows(start, start, start + 0.2), BACKEND, 0.4),
    ):  # fmt: skip
        requests = {"intended_s": start, "done_s": start + 0.2}
        run = write_run(
            tmp_path / name, manifest={"name": name, "records": {"app": config}}, requests=requests, app=app
        )
        assert query("utilisation{station=app}", run).value == pytest.approx(answer, abs=0.005)


def test_what_is_refused(mm4: RunFolder, tmp_path: Path) -> None:
    plain = as_run(sj.Model.parse(TWO), tmp_path / "two", seed=1, until_s=30)
    assert "for n(app) record the service's own times" in query("probability({n(app) > 1})", plain).reason
    assert "record phase times (app.parquet)" in query("utilisation{station=app}", plain).reason
    assert "use one of app" in query("probability({n(disk) > 1})", mm4).reason
    assert "no classes" in query("probability({n(app, user) > 1})", mm4).reason
    changing = BACKEND["config"] | {"backend": {"safe": {"workers": 4}, "control": "/run/x"}}  # type: ignore[operator]
    start = np.arange(400.0) * 0.5
    run = write_run(tmp_path / "run", manifest={"name": "x", "records": {"app": BACKEND | {"config": changing}}},
                    requests={"intended_s": start, "done_s": start + 0.2}, app=rows(start, start, start + 0.2, 1))  # fmt: skip
    assert "mean(busy(app))" in query("utilisation{station=app}", run).reason
    many = rows(start, start, start + 0.2).with_columns(weight=pl.lit(2))
    run = write_run(
        tmp_path / "many", manifest={"name": "x"}, requests={"intended_s": start, "done_s": start + 0.2}, app=many
    )
    assert "only some of its requests" in query("probability({n(app) > 1})", run).reason


TWO = """
[stations.a]
[stations.b]
[classes.user]
kind = "open"
rate_per_s = 10
[demands_s]
a = { user = 0.01 }
b = { user = 0.01 }
"""


def test_how_many_windows_would_decide() -> None:
    """All of n met, 99 % asked: Jeffreys' low end of n successes is the 5 % quantile of beta(n + 1/2, 1/2), about 1 - 1.921/n, half
    the 95 % quantile of chi-square with one degree of freedom; so 192 windows, 27 times 7. At the limit itself none decides."""
    assert share_needs(1.0, 7, 0.99) == pytest.approx(192 / 7, rel=0.05)
    assert share_needs(0.5, 100, 0.99) == 1.0
    assert share_needs(0.9, 10, 0.9) == np.inf


@pytest.mark.parametrize(
    ("more", "said"), [(1.14, "1.1"), (9.96, "10"), (37.2, "37"), (864.0, "860"), (12345.0, "12000")]
)
def test_times_as_a_person_writes_them(more: float, said: str) -> None:
    assert times(more) == said


def test_a_folder_that_holds_runs(mm4: RunFolder, tmp_path: Path) -> None:
    found = CliRunner().invoke(command_line(), ["query", "rate(departures) > 1/s", str(mm4.path.parent)])
    assert found.exit_code == 0, found.output
    assert [line.split(":")[0] for line in found.output.splitlines()] == ["phased", "plain"]
    assert "no run folder" in str(CliRunner().invoke(command_line(), ["query", "p99", str(tmp_path)]).exception)


def test_stations_that_have_the_metric(mm4: RunFolder) -> None:
    why = query("throughput{station=x} > 1/s", mm4).reason
    assert "no station 'x'" in why and "core" not in why
