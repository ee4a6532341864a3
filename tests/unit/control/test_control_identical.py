"""Identical inputs, identical decisions: a dry run, a run that acts, a replay of its log, and one whose wall clock steps."""

from __future__ import annotations

import http.server
import json
import math
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sojourn.control import GuardRails, Hpa, ModelPolicy, replay
from sojourn.control.decision import Decide
from sojourn.control.live import run_live
from sojourn.control.live_log import LiveLog
from sojourn.control.live_metrics import LiveMetrics
from sojourn.control.policy_file import Policy
from sojourn.live_service.control_socket import Values

SECONDS, WORKERS = 60, 8
POLICIES: dict[str, Decide] = {
    "model": ModelPolicy(period_s=1.0, span_s=4.0, hold_s=5.0, most=40),
    "hpa": Hpa.model_validate({"period_s": 1.0, "target": 0.7, "down": {"stabilisation_s": 4}}),
}
RAILS = GuardRails(least=1, most=40)
PREFIX = "sojourn_web_"


def pages() -> list[str | None]:
    """A page a second of a load that rises and falls, with pages that are none between them; None: no answer."""
    found: list[str | None] = []
    came = 0.0
    for k in range(SECONDS):
        came += round(100 + 60 * math.sin(k / 5))
        figures = {
            "clock_seconds": 1000.0 + k, "arrivals_total": came, "departures_total": came, "refused_total": 0.0,
            "busy_seconds_total": 0.05 * came, "worker_seconds_total": WORKERS * (1000.0 + k), "present_seconds_total": 0.06 * came,
            "response_seconds_total": 0.06 * came, "workers": WORKERS, "cap": 500, "waiting": 0, "in_service": 0,
        }  # fmt: skip
        found.append("".join(f"{PREFIX}{name} {value}\n" for name, value in figures.items()))
    found[20] = None
    found[25] = "not metrics"
    found[30] = (found[30] or "").replace(f"{PREFIX}waiting 0", f"{PREFIX}waiting NaN")
    found[35] = (
        (found[34] or "")
        .replace("clock_seconds 1034.0", "clock_seconds 1035.0")
        .replace("arrivals_total", "arrivals_x")
    )
    return found


class Scripted(http.server.ThreadingHTTPServer):
    """Gives the pages, each once."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Page)
        self.left = pages()


class Page(http.server.BaseHTTPRequestHandler):
    server: Scripted

    def do_GET(self) -> None:
        text = self.server.left.pop(0)
        self.send_response(500 if text is None else 200)
        self.end_headers()
        self.wfile.write((text or "").encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    server = Scripted()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Acts:
    """An actuator that does as it is told."""

    def __init__(self) -> None:
        self.made: list[Values] = []

    def set(self, wanted: Values) -> Values:
        self.made.append(dict(wanted))
        return dict(wanted)

    def revert(self) -> Values:
        return {"workers": WORKERS}


class Clock:
    """Goes on only by sleeping."""

    now_s = 0.0

    def sleep(self, by_s: float) -> None:
        self.now_s += by_s


def decided(server: Scripted, name: str, folder: Path, actuator: Acts | None) -> list[dict[str, Any]]:
    server.left, clock = pages(), Clock()
    policy = Policy(name, POLICIES[name], "p99 < 300ms", RAILS)
    source = LiveMetrics(f"http://127.0.0.1:{server.server_port}", timeout_s=60.0)
    run_live(
        policy, source, actuator, LiveLog(folder), lambda: "" if server.left else "no page is left", period_s=1.0,
        clock=lambda: clock.now_s, sleep=clock.sleep,
    )  # fmt: skip
    rows = [json.loads(line) for line in (folder / "decisions.ndjson").read_text().splitlines()]
    return [row for row in rows if "event" not in row]


@pytest.mark.parametrize("name", POLICIES)
def test_dry_acting_and_replayed(scripted: Scripted, tmp_path: Path, name: str) -> None:
    actuator = Acts()
    dry, acting = (decided(scripted, name, tmp_path / one, at) for one, at in (("dry", None), ("acting", actuator)))
    assert len(dry) == len(acting) == SECONDS - 1
    for k, (one, other) in enumerate(zip(dry, acting, strict=True)):
        assert one == other, f"line {k}"
    assert sum("trouble" in row for row in dry) == 4
    assert {row["workers"] for row in dry if row["workers"] > WORKERS}, "it changes something"
    assert len(actuator.made) == SECONDS - 1 - 4
    again = replay(POLICIES[name], tmp_path / "acting", RAILS)
    assert [one.decision.to_dict() for one in again] == [
        {key: value for key, value in row.items() if key != "trouble"} for row in acting
    ]


@pytest.mark.parametrize("name", POLICIES)
def test_steps_of_the_wall_clock(
    scripted: Scripted, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A day forward, then ten back, at each look: nothing of what is decided changes."""
    still = decided(scripted, name, tmp_path / "still", Acts())
    real, step = time.time, [0]

    def stepped() -> float:
        step[0] += 1
        return real() + 86400 * (1 if step[0] % 2 else -10)

    look = time.gmtime
    monkeypatch.setattr(time, "time", stepped)
    monkeypatch.setattr(time, "gmtime", lambda at=None: look(stepped() if at is None else at))
    assert decided(scripted, name, tmp_path / "stepped", Acts()) == still
    assert step[0] > 10
