"""What `sojourn try` shows: its service, its model, and how it says what came out. The whole of it is live (tests/live/test_try.py)."""

from __future__ import annotations

import http.client
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sojourn.errors import InputError, RunFolderError
from sojourn.lab.waiting_service import WaitingService
from sojourn.trial import Prediction, Trial, trial
from sojourn.trial.trial import model


def ask(url: str, times: int) -> list[tuple[int, bytes]]:
    """Over one connection."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    found = []
    for _ in range(times):
        connection.request("GET", "/")
        answer = connection.getresponse()
        found.append((answer.status, answer.read()))
    connection.close()
    return found


def test_the_service_answers_over_kept_connections_and_counts() -> None:
    service = WaitingService(3, 0.001)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = [one for part in pool.map(lambda _: ask(service.url, 5), range(4)) for one in part]
        assert found == [(200, b"ok\n")] * 20
        time.sleep(0.1)  # a worker counts after it has answered
        done = service.worker.stop()
        assert done is not None and done["summary"] == {"answered": 20}
    finally:
        service.close()
    assert service.worker.process.poll() is not None


def test_predictions_that_were_checked_are_not_written_again(tmp_path: Path) -> None:
    (tmp_path / "checks/workers-2/rate-190").mkdir(parents=True)
    (tmp_path / "checks/workers-2/rate-190/manifest.json").write_text("{}")
    (tmp_path / "predictions.json").write_text("before")
    with pytest.raises(RunFolderError, match="choose another --out"):
        trial(tmp_path)
    assert (tmp_path / "predictions.json").read_text() == "before"


@pytest.mark.parametrize(("workers", "mean_s"), [(0, 0.01), (1, 0.0), (1, -1.0), (1, float("nan")), (1, float("inf"))])
def test_a_service_that_cannot_be(workers: int, mean_s: float) -> None:
    with pytest.raises(InputError, match="workers"):
        WaitingService(workers, mean_s)


def test_a_request_without_end_is_closed_and_others_are_answered() -> None:
    service = WaitingService(1, 0.001)
    try:
        with (
            socket.create_connection(("127.0.0.1", urlsplit(service.url).port or 0), timeout=10) as client,
            pytest.raises(OSError),
        ):
            for _ in range(1000):
                client.sendall(b"a" * 65536)
        assert ask(service.url, 1) == [(200, b"ok\n")]
    finally:
        service.close()


def test_twice_the_workers_bear_twice_as_much() -> None:
    """M/M/c is full at c over the mean service time."""
    found = model()
    assert found.factors == {"workers": "stations.workers.servers"} and found.stations[0].servers == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("measured", "high", "reasons", "told"),
    [
        (0.012, 0.02, (), "inside"),
        (0.022, 0.02, (), "outside"),
        (0.022, None, (), "inside"),
        (0.012, 0.02, ("disturbed",), "not valid"),
    ],
)
def test_a_prediction_beside_its_run(measured: float, high: float | None, reasons: tuple[str, ...], told: str) -> None:
    one = Prediction(2, 190.0, 0.015, 0.010, high, measured, reasons)
    assert one.told == told and one.where == "2 workers, 190 /s"
    found = Trial({35.0: 0.009}, (0.008, 0.007, 0.009), (250.0, 220.0, 280.0), (one,), 0.9, "runs/try", 61.0)
    assert found.last_line().startswith(f"{int(told == 'inside')} of {int(not reasons)} measured values")
    assert found.to_dict()["predictions"][0]["inside_interval"] is one.inside_interval
