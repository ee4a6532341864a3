"""The message study without a machine: plan, points, laws, limits, resumption and report, on the simulated system."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from small_study import Counting, mistaken, refuses_another, resumed, written

from sojourn.errors import StudyError
from sojourn.report import render_html
from sojourn.study import run_study
from sojourn.study.folder import open_study
from sojourn.study.messages.analysis import busy, laws, shares, undisturbed
from sojourn.study.messages.document import messages_document, verdict_lines
from sojourn.study.messages.plan import read_messages_plan
from sojourn.study.messages.points import Point
from sojourn.study.messages.run import measure
from sojourn.study.messages.seen import Seen, configurations, frame, name_of
from sojourn.study.messages.simulated import SimulatedSystem

ROOT = Path(__file__).parents[2]
SMALL = """
name = "messages"
title = "small"
testbed = "messages"
[load]
seconds = 1.0
repetitions = 2
[reference]
workers = 20
connections = 20
clients = 60
retry_s = 0.05
[calibration]
connections = [1, 4, 12, 24, 40]
[best]
workers_most = 40
connections_most = 40
[[section]]
name = "pools"
vary = "workers"
workers = [4, 12, 20, 24, 36]
together = true
[[section]]
name = "clients"
clients = [10, 30, 60, 120]
[[section]]
name = "middlewares"
vary = "middlewares"
workers = [6]
connections = [3, 6]
middlewares = [1, 2]
"""


class Simulated(Counting):
    def seen(self, point: Point) -> Seen:
        return SimulatedSystem().run(point)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, SMALL)


def test_the_study_of_the_tree_is_sound() -> None:
    whole, quick = (read_messages_plan(ROOT / "studies/messages", quick=q) for q in (False, True))
    count = [len(p.first()) + sum(len(p.points(s)) for s in p.sections()) for p in (whole, quick)]
    assert count[0] > 120
    assert 30 <= count[1] <= 80  # at less than three seconds each, under four minutes
    assert whole.fingerprint != quick.fingerprint
    reference = [p for p in whole.first() if p.section == "reference"]
    assert len(reference) == 5
    assert {(p.workers, p.connections, p.clients, p.retry_s) for p in reference} == {(20, 20, 90, 0.1)}
    assert all(
        p.clients > p.connections and p.workers > p.connections for p in whole.first() if p.section == "calibration"
    )


@pytest.mark.parametrize("repetitions", [1, 3])
def test_models_are_fitted_to_runs_among_those_they_are_judged_by(file: Path, repetitions: int) -> None:
    file.write_text(SMALL.replace("repetitions = 2", f"repetitions = {repetitions}"))
    plan = read_messages_plan(file)
    found = measure(plan, open_study(file.parent / "out", plan, print), print, Simulated())
    assert found.fitted is not None
    # Each size once a repetition, but for the first, which came before all other runs.
    assert len(found.fitted.runs) == 5 * max(repetitions - 1, 1)


def test_sections_take_what_they_do_not_say_from_the_reference(file: Path) -> None:
    plan = read_messages_plan(file)
    pools, clients, middlewares = plan.sections()
    assert {(p.workers, p.connections) for p in plan.points(pools)} == {(n, n) for n in (4, 12, 20, 24, 36)}
    assert {(p.clients, p.workers, p.retry_s) for p in plan.points(clients)} == {
        (n, 20, 0.05) for n in (10, 30, 60, 120)
    }
    assert len({p.name for p in plan.points(middlewares)}) == 2 * 2 * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("workers = [4,", "workers = [0,"), "give numbers from 1 to 1024"),
        (("together = true", "together = true\nconnections = [2]"), "leave one of them out"),
        (('name = "pools"', 'name = "best"'), "is taken"),
        (('vary = "workers"', 'vary = "work"'), "vary"),
        (("retry_s = 0.05", "retry_s = -1"), "retry_s"),
        (("seconds", "secnds"), "secnds"),
        (("[load]", "[load"), "mend the TOML"),
    ],
)
def test_mistakes_are_named(file: Path, change: tuple[str, str], message: str) -> None:
    assert message in mistaken(file, SMALL.replace(*change, 1), read_messages_plan)


def test_only_known_parts(file: Path) -> None:
    assert [s.name for s in read_messages_plan(file, only=("pools", "models")).sections()] == ["pools"]
    with pytest.raises(StudyError, match="reference, calibration, pools, clients, middlewares, best, models"):
        read_messages_plan(file, only=("pool",))


def test_measured_judged_and_reported_and_resumed(file: Path, tmp_path: Path) -> None:
    plan, system, out = read_messages_plan(file), Simulated(), tmp_path / "out"
    found = measure(plan, open_study(out, plan, print), lambda _: None, system)
    names = [j.model for j in found.models]
    assert names == ["document", "measured", "usl"]
    by = {j.model: j for j in found.models}
    assert len(by["measured"].points) >= 4 + 3 + 4
    for model in ("measured", "usl"):  # held out: every configuration but the reference's
        assert by[model].median_error()[0] < 0.05
        assert by[model].median_error("response_error")[0] < 0.07
    assert not any(p.configuration == "workers 20, connections 20, clients 60, retry 50 ms" for p in by["usl"].points)
    written = json.loads((out / "best.json").read_text())
    assert [c["model"] for c in written] == names
    assert {r.best.model: r.lost.value < 0.05 for r in found.regrets}.items() >= {"measured": True, "usl": True}.items()

    text = verdict_lines(found)
    assert text[0].startswith("reference (20 workers, 20 connections, 60 clients)")
    assert any("regret" in line for line in text) and any("0 errors, 0 wrong" in line for line in text)
    page = render_html(messages_document(found, plan, text))
    for heading in (
        "Best pool sizes",
        "Database",
        "Completions of the database",
        "Limits",
        "Laws",
        "pools: throughput",
    ):
        assert heading in page

    assert resumed(out, plan, system, measure).equals(found.seen, null_equal=True)
    refuses_another(out, plan, read_messages_plan(file, seed=2))


class Disturbed(Simulated):
    """Others use 1.5, 0.5, 0.05 cores in turn."""

    def seen(self, point: Point) -> Seen:
        return replace(super().seen(point), others_cores=(1.5, 0.5, 0.05)[(len(self.runs) - 1) % 3])


@pytest.mark.parametrize(("tries", "kept", "runs"), [(1, 1.5, 3), (2, 0.5, 5), (3, 0.05, 9), (9, 0.05, 9)])
def test_a_disturbed_run_is_repeated(file: Path, tmp_path: Path, tries: int, kept: float, runs: int) -> None:
    file.write_text(SMALL.replace("[load]", f"[load]\ntries = {tries}").replace("repetitions = 2", "repetitions = 3"))
    plan, system = read_messages_plan(file, only=("reference",)), Disturbed()
    found = measure(plan, open_study(tmp_path / "out", plan, print), lambda _: None, system)
    assert len(system.runs) == runs
    assert set(found.seen["others_cores"]) >= {kept}
    assert ("disturbed" in "\n".join(verdict_lines(found))) == (kept > 0.2)


def test_sections_without_a_fit_are_reported(file: Path, tmp_path: Path) -> None:
    plan = read_messages_plan(file, only=("clients", "models"))
    found = measure(plan, open_study(tmp_path / "out", plan, print), lambda _: None, Simulated())
    assert found.fitted is None and not found.models
    assert "clients: throughput" in render_html(messages_document(found, plan, verdict_lines(found)))


def test_a_study_of_this_kind_is_found(file: Path) -> None:
    with pytest.raises(StudyError, match="use some of reference"):
        run_study(file, only=("proxy",))


def row(x: float, r: float, **more: float) -> Seen:
    given = {"workers": 8, "connections": 4, "clients": 20, "retry_s": 0.1, "middlewares": 1} | more
    return Seen(
        "s",
        **given,
        repetition=1,
        seconds=1.0,
        throughput_per_s=x,
        response_s=r,
        **({"empty_share": 0.1} if "empty_share" not in more else {}),
    )  # type: ignore[arg-type]


def test_the_interactive_law_has_the_retry_delay() -> None:
    """1000/s x (10 ms + 0.1 x 100 ms) = 20 clients."""
    checked = laws(frame([row(1000.0, 0.010), row(1000.0, 0.020)]))
    assert checked["interactive"].to_list() == ["holds", "broken"]
    assert checked["interactive_error"].to_list() == pytest.approx([0.0, 0.5])
    assert checked["little"].to_list() == [None, None]


def test_little_s_law_on_the_pool() -> None:
    """1000/s x 3 ms = 3 connections; samples with a standard error of 0.2 around 3.5 allow it, without they do not."""
    rows = [
        row(1000.0, 0.01, database_s=3e-3, in_use=n, in_use_error=e)
        for n, e in ((3.1, 0.0), (3.5, 0.2), (3.5, 0.0), (0.5, 0.0))
    ]
    assert laws(frame(rows))["little"].to_list() == ["holds", "holds", "broken", None]


@pytest.mark.parametrize(
    ("times", "limit"),
    [
        ({"client_share": 0.95}, "client"),
        ({"dispatch_share": 0.93}, "dispatcher"),
        ({"dispatch_s": 0.95e-3}, "dispatcher"),
        ({"client_cpu_s": 4e-4, "service_cpu_s": 6e-4, "database_cpu_s": 9e-4}, "the machine's cores"),
        ({"database_cpu_s": 9e-4, "others_cores": 1.0}, "the machine's cores"),
        ({"database_s": 3.8e-3}, "connections"),
        ({"database_s": 3e-3, "wait_s": 0.1e-3, "parse_s": 4.5e-3}, "workers"),
        ({"database_s": 1e-3}, "round trip"),
    ],
)
def test_what_limits_a_run(times: dict[str, float], limit: str) -> None:
    (given,) = frame([row(1000.0, 0.01, **times)]).to_dicts()
    assert busy(given, 2).limit == limit


def test_a_disturbed_run_is_left_out_where_there_is_another() -> None:
    rows = [
        row(1.0, 1.0, others_cores=0.5),
        row(2.0, 1.0, others_cores=0.1),
        row(3.0, 1.0),
        row(4.0, 1.0, clients=9, others_cores=1.0),
    ]
    assert undisturbed(frame(rows))["throughput_per_s"].to_list() == [2.0, 3.0, 4.0]


def test_shares_of_the_cpu_time() -> None:
    (given,) = frame(
        [row(1000.0, 0.01, client_cpu_s=2e-4, service_cpu_s=1e-4, database_cpu_s=6e-4, others_cores=0.1)]
    ).to_dicts()
    assert shares(given) == pytest.approx({"client": 0.2, "service": 0.1, "database": 0.6, "others": 0.1})


def test_configurations_have_names() -> None:
    ((c, rows),) = configurations(frame([row(1.0, 1.0, middlewares=2)]))
    assert rows.height == 1
    assert name_of(c) == "workers 8, connections 4, clients 20, retry 100 ms, middlewares 2"
    assert name_of(c | {"middlewares": 1}) == "workers 8, connections 4, clients 20, retry 100 ms"
    assert name_of(c | {"middlewares": 1}, ["clients", "middlewares"]) == "clients 20, middlewares 1"


def test_an_empty_frame_has_all_columns() -> None:
    empty = frame([])
    assert empty.height == 0
    assert empty.schema["wrong"] == pl.Int64
