"""The key-value study without a machine: plan, points, laws, knees, resumption and report, on the simulated system."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from small_study import Counting, mistaken, refuses_another, resumed, written

from sojourn.errors import StudyError
from sojourn.report import render_html
from sojourn.study import run_study
from sojourn.study.folder import open_study
from sojourn.study.kv.analysis import disturbed, knee, laws, limited_by, too_small
from sojourn.study.kv.document import kv_document, verdict_lines
from sojourn.study.kv.modelled import judged
from sojourn.study.kv.plan import is_kv, read_kv_plan
from sojourn.study.kv.points import Point
from sojourn.study.kv.run import measure
from sojourn.study.kv.seen import Seen, frame
from sojourn.study.kv.simulated import SimulatedSystem

ROOT = Path(__file__).parents[2]
SMALL = """
name = "kv"
title = "small"
testbed = "kv"
[load]
seconds = 0.5
repetitions = 2
[[section]]
name = "proxy"
design = ["staged"]
workers = [8]
workload = ["get"]
clients = [1, 8, 16, 32, 66]
[[section]]
name = "factorial"
design = ["staged"]
servers = [1, 2]
workers = [4, 8]
workload = ["get"]
clients = [40]
factors = ["servers", "workers"]
"""


class Simulated(Counting):
    def seen(self, point: Point) -> Seen:
        return replace(SimulatedSystem().run(point), client_share=0.1)

    def ping(self) -> dict[str, float]:
        return {"median_s": 1e-4, "low_s": 1e-4, "high_s": 2e-4}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, SMALL)


def test_the_study_of_the_tree_is_sound() -> None:
    assert is_kv(ROOT / "studies/kv")
    assert not is_kv(ROOT / "studies/web")
    whole, quick = (read_kv_plan(ROOT / "studies/kv", quick=q) for q in (False, True))
    count = [sum(len(p.points(s)) for s in p.sections()) for p in (whole, quick)]
    assert count[0] > 800
    assert 100 <= count[1] <= 160  # at about a second each, four minutes
    assert whole.fingerprint != quick.fingerprint
    factorial = next(s for s in whole.sections() if s.name == "factorial")
    assert len(whole.points(factorial)) == 8 * 3 * 3


def test_points_lack_what_their_design_lacks() -> None:
    (section,) = [s for s in read_kv_plan(ROOT / "studies/kv").sections() if s.name == "proxy"]
    direct = {(p.workers, p.proxies) for p in section.points(1.0) if p.design == "direct"}
    assert direct == {(0, 1), (0, 2)}
    names = [p.name for p in section.points(1.0)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"get"', '"got"'), "use set, get, mixed or multi-KEYS"),
        (('"staged"', '"threaded"'), "use none, direct, staged"),
        (("workers = [8]", "workers = [0]"), "give numbers from 1 to 1024"),
        (('name = "proxy"', 'name = "models"'), "is taken"),
        (("seconds", "secnds"), "secnds"),
        (("[load]", "[load"), "mend the TOML"),
    ],
)
def test_mistakes_are_named(file: Path, change: tuple[str, str], message: str) -> None:
    assert message in mistaken(file, SMALL.replace(*change, 1), read_kv_plan)


def test_only_known_parts(file: Path) -> None:
    assert [s.name for s in read_kv_plan(file, only=("proxy", "models")).sections()] == ["proxy"]
    with pytest.raises(StudyError, match="document, ping, models, proxy, factorial"):
        read_kv_plan(file, only=("proxies",))
    with pytest.raises(StudyError, match="one whole"):
        run_study(ROOT / "studies/web", only=("proxy",))


def test_measured_judged_and_reported_and_resumed(file: Path, tmp_path: Path) -> None:
    plan, system, out = read_kv_plan(file), Simulated(), tmp_path / "out"
    found = measure(plan, open_study(out, plan, print), lambda _: None, system)
    assert len(system.runs) == 5 * 2 + 4 * 2
    text = "\n".join(verdict_lines(found))
    assert "0 misses, 0 errors" in text
    assert "network of queues, staged: median error of throughput" in text
    network = next(j for j in found.models if j.model == "network of queues, staged")
    assert [p.clients for p in network.points] == [8, 32]
    assert network.median_error()[0] < 0.08
    page = render_html(kv_document(found, plan, verdict_lines(found)))
    for heading in ("Laws", "Limits", "Models", "Maximum throughput and knee", "get: throughput, 1/s"):
        assert heading in page

    rows = resumed(out, plan, system, measure)
    assert rows.drop("seconds").equals(found.seen.drop("seconds"), null_equal=True)
    refuses_another(out, plan, read_kv_plan(file, seed=2))


def test_the_document_alone_needs_no_machine(tmp_path: Path) -> None:
    result = run_study(ROOT / "studies/kv", out=tmp_path / "out", only=("document",), say=lambda _: None)
    assert "statements in" in result.verdict[-1]
    assert "copied, not computed" in result.report.read_text()


def row(clients: int, x: float, r: float, **more: float) -> Seen:
    return Seen("s", "staged", 1, 1, 8, "get", False, clients, 1, 1.0, x, r, **more)  # type: ignore[arg-type]


def test_laws_hold_and_are_broken() -> None:
    good = row(10, 1000.0, 0.0099, mw_throughput_per_s=1000.0, queue_s=0.004, queue_length=4.1)
    wrong = row(10, 1000.0, 0.005, mw_throughput_per_s=1000.0, queue_s=0.004, queue_length=8.0)
    short = row(1, 100.0, 0.01, mw_throughput_per_s=100.0, queue_s=1e-3, queue_length=0.1)
    checked = laws(frame([good, wrong, short]))
    assert checked["interactive"].to_list() == ["holds", "broken", "holds"]
    assert checked["little"].to_list() == ["holds", "broken", None]
    assert checked["interactive_error"][1] == pytest.approx(-0.5)


def test_a_knee_with_its_interval_and_states() -> None:
    curve = {1: 100.0, 5: 480.0, 10: 850.0, 20: 990.0, 40: 1000.0, 80: 900.0}
    found = knee("x", frame(row(n, x, n / x) for n, x in curve.items()))
    assert found.clients == pytest.approx(10.0)
    assert (found.low, found.high, found.at) == (10, 20, 40)
    assert found.states[10] == "under-saturated"
    assert found.states[20] == found.states[40] == "saturated"
    assert found.states[80] == "over-saturated"


@pytest.mark.parametrize(
    ("cpu", "limit"),
    [
        ({"client_share": 0.95}, "client"),
        ({"client_share": 0.2, "server_cpu_s": 0.95e-3}, "server CPU"),
        ({"client_share": 0.2, "net_cpu_s": 0.92e-3}, "net thread"),
        ({"client_share": 0.6, "client_cpu_s": 6e-4, "server_cpu_s": 7e-4, "net_cpu_s": 6e-4}, "the machine's cores"),
        ({"server_cpu_s": 5e-4, "net_cpu_s": 4.5e-4, "pinned": True}, "a core that servers and middlewares share"),
        ({"server_cpu_s": 5e-4, "net_cpu_s": 4.5e-4, "pinned": False}, "round trip"),
        ({"client_share": 0.2, "service_s": 7.9e-3}, "workers"),
        ({"client_share": 0.2, "service_s": 1e-3}, "round trip"),
    ],
)
def test_what_limits_a_point(cpu: dict[str, float], limit: str) -> None:
    (given,) = frame([row(10, 1000.0, 0.01, **cpu)]).to_dicts()
    assert limited_by(given, 2) == limit
    assert too_small(given, 2) == (limit not in ("server CPU", "net thread", "workers", "round trip"))


def test_an_empty_frame_has_all_columns() -> None:
    empty = frame([])
    assert empty.height == 0
    assert {"clients", "throughput_per_s", "sharded"} <= set(empty.columns)
    assert empty.schema["sharded"] == pl.Boolean
    assert math.isnan(row(1, 1.0, 1.0).net_s)


def test_what_others_disturbed_is_neither_fitted_nor_judged() -> None:
    """More than 5 % of the cores used by others: 0.1 of two."""
    rows = frame(
        [row(n, 100.0 * n, 0.01, others_cores=used) for n, used in ((1, 0.0), (4, 0.09), (16, 0.11), (64, math.nan))]
    )
    assert rows.select(disturbed(2))["disturbed"].to_list() == [False, False, True, False]
    held_out = [point.clients for judgement in judged(rows, 2) for point in judgement.points]
    assert 16 not in held_out and held_out
