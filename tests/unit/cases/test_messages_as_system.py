"""The message service as a system: what its services say, from logs made by hand; its factors; its simulated twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.errors import InputError
from sojourn.fit.scalability_law import usl
from sojourn.runs.run_folder import RunFolder
from sojourn.study.system import Point
from sojourn_cases.messages.message_service import MessagesLoad, MessagesOptions, MessagesSystem
from sojourn_cases.messages.message_service_metrics import COLUMNS, ServiceLog, frame, service_rows
from sojourn_cases.messages.message_service_simulated import SimulatedMessages, SimulatedOptions

FACTORS = {"workers": 8, "connections": 4, "clients": 20, "retry_s": 0.1, "middlewares": 1}
NO_LEVELS = pl.DataFrame({"t_s": [10.5], "connections_in_use": [1]})


def requests(*rows: tuple[float, float, float, float, float, float, int]) -> pl.DataFrame:
    """(received, dispatch, parse, wait, database, respond, weight)"""
    names = ["received_s", "dispatch_s", "parse_s", "wait_s", "database_s", "respond_s", "weight"]
    return pl.DataFrame(rows, schema=names, orient="row")


REQUESTS = requests(
    (9.0, 0.1, 0.1, 0.1, 0.1, 0.1, 1), (10.0, 0.01, 0.02, 0.03, 0.04, 0.05, 1), (10.5, 0.04, 0.02, 0.03, 0.07, 0.05, 2)
)


def rows(logs: list[ServiceLog], **factors: int) -> dict[tuple[str, str], dict[str, float]]:
    """Of a window from 10 to 12 s."""
    end = {"completions": 1000, "seconds": 2.0, "cpu_by_thread_s": {"msg-dispatcher": 0.02, "msg-worker-0": 0.1}}
    ends = {f"middleware {k + 1}": end for k in range(len(logs))}
    folder = RunFolder(Path("x"), {"window_s": [10.0, 12.0], "service": ends})
    return {(r["station"], r["metric"]): r for r in service_rows(folder, logs, FACTORS | factors)}


def test_means_of_the_window_with_weights() -> None:
    """Two requests lie in it, the second of which stands for two; the dispatcher's CPU time is of all."""
    found = {key: r["value"] for key, r in rows([ServiceLog(REQUESTS, NO_LEVELS)]).items()}
    assert found["workers", "waiting_time"] == pytest.approx((0.01 + 2 * 0.04) / 3)
    assert found["database", "response_time"] == pytest.approx((0.04 + 2 * 0.07) / 3)
    assert found["parse", "service_time"] == pytest.approx(0.02)
    assert found["connections", "waiting_time"] == pytest.approx(0.03)
    assert found["respond", "service_time"] == pytest.approx(0.05)
    assert found["dispatcher", "service_time"] == pytest.approx(0.02 / 1000)
    assert found["dispatcher", "utilisation"] == pytest.approx(0.01)
    assert found["middleware", "response_time"] == pytest.approx(0.03 + 0.06 + 0.02 + 0.03 + 0.05 + 2e-5)
    assert found["middleware", "throughput"] == pytest.approx(3 / 2)
    # utilisation law: 1.5/s for 0.06 s of four connections, for 0.16 s of eight workers
    assert found["connections", "utilisation"] == pytest.approx(1.5 * 0.06 / 4)
    assert found["workers", "utilisation"] == pytest.approx(1.5 * 0.16 / 8)
    assert ("database", "queue_length") not in found  # one sample says nothing


def test_connections_of_all_services() -> None:
    """Two services with 1 and 3 in use, alternately one more: means 1.5 and 3.5; batches of an even number agree."""
    levels = [
        pl.DataFrame(
            {"t_s": [10 + 0.02 * k for k in range(100)], "connections_in_use": [low + k % 2 for k in range(100)]}
        )
        for low in (1, 3)
    ]
    found = rows([ServiceLog(REQUESTS, one) for one in levels], middlewares=2)["database", "queue_length"]
    assert found["value"] == pytest.approx(5.0)
    assert found["low"] == pytest.approx(5.0) == found["high"]


def test_a_run_without_requests_has_no_numbers() -> None:
    assert rows([ServiceLog(REQUESTS.clear(), NO_LEVELS)]) == {}


def test_factors() -> None:
    system = MessagesSystem(MessagesOptions(), MessagesLoad(), Path())
    assert system.settled({"clients": 2, "middlewares": 3}, "x") == {
        "workers": 20, "connections": 20, "clients": 3, "retry_s": 0.1, "middlewares": 3,
    }  # fmt: skip
    with pytest.raises(InputError, match="workers = 0"):
        system.settled({"workers": 0}, "x")


def test_the_twin_ends_in_run_folders_with_what_was_put_in(tmp_path: Path) -> None:
    """The instrumented times are those of the model, X (R + Z) = N, and the number in the database is X times its time."""
    options = SimulatedOptions()
    system = SimulatedMessages(options, MessagesLoad.model_validate({"for": 20.0}), tmp_path)
    with system.place() as place, system.open(place) as session:
        points = [Point("x", system.settled({"workers": w, "connections": c}, "x")) for w, c in ((20, 20), (8, 3))]
        seen = frame(session.run(point, tmp_path / point.name, 1) for point in points)
    for name in ("dispatch_s", "parse_s", "respond_s", "empty_share"):
        assert seen[name].to_numpy() == pytest.approx(getattr(options, name), rel=0.03), name
    cycle = seen["response_s"] + seen["empty_share"] * seen["retry_s"]
    assert (seen["throughput_per_s"] * cycle).to_numpy() == pytest.approx(90, rel=0.01)
    assert (seen["throughput_per_s"] * seen["database_s"]).to_numpy() == pytest.approx(seen["in_use"].to_numpy())
    assert seen["wait_s"][0] == pytest.approx(0.0, abs=1e-6) and seen["wait_s"][1] > 1e-3
    assert set(COLUMNS) < set(seen.columns) and seen["valid"].all()


def test_the_twin_s_database_follows_the_scalability_law() -> None:
    assert SimulatedOptions().rates_per_s == pytest.approx(usl(np.arange(1, 257), 400.0, 0.05, 0.002))
