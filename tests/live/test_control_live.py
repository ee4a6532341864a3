"""A live service under control: whatever happens to its controller or its metrics, it is back in its safe settings within the lease."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from controlled import LEASE_S, PERIOD_S, SAFE, Between, Pool, controller, lines, refused, until_told

from sojourn.control import Fixed, GuardRails, Seen, replay
from sojourn.control.live_metrics import LiveMetrics, MetricsError, window
from sojourn.live_service.control_socket import RefusedError, SocketActuator

pytestmark = pytest.mark.live
MARGIN_S = 1.0
PHASES = ["metrics", "decide", "log", "set", "verified"]


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    found = Pool(tmp_path)
    yield found
    found.close()
    assert not Path(found.socket).exists(), "nothing is left behind"


@pytest.fixture
def between(pool: Pool) -> Iterator[Between]:
    found = Between(pool.url)
    yield found
    found.close()


def ended(process: subprocess.Popen[str], by: int = signal.SIGTERM) -> str:
    process.send_signal(by)
    return process.communicate(timeout=10)[0]


@pytest.mark.parametrize("phase", PHASES)
def test_killed_in_each_phase(pool: Pool, tmp_path: Path, phase: str) -> None:
    process = controller(pool.url, pool.socket, tmp_path / "log", f"die={phase}")
    pool.until(lambda now: now.workers == 9, 30)
    assert process.wait(10) == -signal.SIGKILL
    process.communicate()
    took = pool.until(lambda now: now.workers == SAFE and now.holder is None, LEASE_S + MARGIN_S)
    assert took <= LEASE_S + MARGIN_S
    assert pool.expired() == 1
    told = lines(tmp_path / "log")  # whole lines to the last
    assert told[0]["observed"]["workers"] == SAFE
    assert all(line.get("event") != "end" for line in told)


def with_figure(name: str, change: Callable[[float], object]) -> Callable[[str], str]:
    """The page with another value of one figure."""
    return lambda text: re.sub(
        rf"^(sojourn_web_{name}) (.*)$", lambda m: f"{m[1]} {change(float(m[2]))}", text, flags=re.M
    )


TROUBLES: dict[str, tuple[Callable[[str], str | None], str]] = {
    "lost": (lambda text: None, "metrics are lost"),
    "cut off": (lambda text: text[:200], "is missing"),
    "NaN": (with_figure("waiting", lambda _: "NaN"), "waiting is nan"),
    "NaN clock": (with_figure("clock_seconds", lambda _: "NaN"), "clock_seconds is nan"),
    "no number": (with_figure("arrivals_total", lambda _: "many"), "not a sample: 'sojourn_web_arrivals_total many"),
    "arrivals 100 times": (with_figure("arrivals_total", lambda x: 100 * x + 100), "are not the"),
    "busy 100 times": (with_figure("busy_seconds_total", lambda x: 100 * x + 100), "busy_seconds 1"),
    "present 100 times": (with_figure("present_seconds_total", lambda x: 100 * x + 100), "do not match"),
    "clock step": (with_figure("clock_seconds", lambda x: x + 3600), "clock went on by 36"),
    "clock stepped back": (with_figure("clock_seconds", lambda x: max(x - 3600, 0)), "clock went on by -"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_metrics_that_are_none(pool: Pool, between: Between, tmp_path: Path, trouble: str) -> None:
    change, said = TROUBLES[trouble]
    process = controller(between.url, pool.socket, tmp_path / "log")
    pool.until(lambda now: now.workers == 9, 30)
    between.change = change
    pool.until(lambda now: now.workers == SAFE and now.holder is None, LEASE_S + PERIOD_S + 0.7 + MARGIN_S)
    between.change = lambda text: text
    pool.until(lambda now: now.workers == 9, 30)  # it goes on by itself
    told = ended(process)
    assert "safe settings are back: workers 5" in told
    assert any(said in line.get("trouble", "") for line in lines(tmp_path / "log")), lines(tmp_path / "log")
    assert lines(tmp_path / "log")[-1]["event"] == "end"
    assert pool.settings().workers == SAFE
    assert pool.settings().holder is None


def test_the_wall_clock_is_not_looked_at(pool: Pool) -> None:
    """A window's length is of CLOCK_MONOTONIC, which no step of the wall clock moves."""
    first = LiveMetrics(pool.url).read()
    assert abs(first.clock_seconds - time.clock_gettime(time.CLOCK_MONOTONIC)) < 1


def test_two_controllers(pool: Pool, tmp_path: Path) -> None:
    first = controller(pool.url, pool.socket, tmp_path / "first")
    pool.until(lambda now: now.workers == 9, 30)
    second = controller(pool.url, pool.socket, tmp_path / "second")
    until_told(tmp_path / "second", refused)
    holder = pool.settings().holder or ""
    assert holder == f"test-{first.pid}"
    told = ended(second)
    assert f"refused: held by {holder}" in told
    assert "not restored by the controller" in told
    assert pool.settings().workers == 9, "the second has put nothing back that is not its own"
    ended(first)
    assert pool.settings().workers == SAFE


def test_an_actuator_that_refuses(pool: Pool, tmp_path: Path) -> None:
    process = controller(pool.url, str(tmp_path / "no-such-socket"), tmp_path / "log")
    until_told(tmp_path / "log", refused)
    told = ended(process)
    assert "refused: no answer from" in told
    assert "the lease will restore it" in told
    assert pool.settings().workers == SAFE


def test_a_service_that_restarts_within_a_lease(pool: Pool, tmp_path: Path) -> None:
    """It comes back in its safe settings, whatever was set before."""
    actuator = SocketActuator(pool.socket, "one", 60)
    assert actuator.set({"workers": 8, "cap": 20}) == {"workers": 8, "cap": 20}
    pool.close()
    with pytest.raises(RefusedError, match="no answer from"):
        actuator.read()
    again = Pool(tmp_path)
    assert (again.settings().workers, again.settings().holder) == (SAFE, None)
    again.close()


def test_the_disk_is_full(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    process = controller(pool.url, pool.socket, tmp_path / "log")
    pool.until(lambda now: now.workers == 9, 30)
    ended(process)
    # a log of a device that is always full: the first decision cannot be written, so that nothing is set
    script = (
        "import sojourn.control.live_log as l; real = open\n"
        "l.open = lambda path, *a, **k: real('/dev/full', 'w', encoding='utf-8')\n"
        "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0])"
    )
    main = str(Path(__file__).parent / "controller_main.py")
    words = [main, pool.url, pool.socket, str(tmp_path / "full"), str(LEASE_S), str(PERIOD_S)]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], text=True, capture_output=True, timeout=20, check=False
    )
    assert done.returncode == 1, done
    assert "No space left on device" in done.stdout
    assert "safe settings are back: workers 5" in done.stdout
    assert pool.settings().workers == SAFE


def test_dry_and_live_decide_identically(pool: Pool, tmp_path: Path) -> None:
    """The log of a run that acts, decided again, with nothing to set: every decision and its reason the same."""
    process = controller(pool.url, pool.socket, tmp_path / "log")
    pool.until(lambda now: now.workers == 9, 30)
    until_told(tmp_path / "log", lambda told: sum("event" not in line for line in told) >= 4)
    ended(process)
    told = [line for line in lines(tmp_path / "log") if "event" not in line]
    again = replay(Fixed(workers=9), tmp_path / "log", GuardRails(least=1, most=20))
    assert len(told) == len(again) >= 4
    assert [one.decision.workers for one in again] == [line["workers"] for line in told]
    assert all(one.same for one in again)


def test_a_window_is_what_happened_in_it(pool: Pool) -> None:
    import urllib.request

    source = LiveMetrics(pool.url)
    before = source.read()
    for _ in range(5):
        with urllib.request.urlopen(f"{pool.url}/wait") as page:
            assert page.status == 200
    seen = window(before, source.read())
    assert isinstance(seen, Seen)
    assert seen.rate_per_s == pytest.approx(5 / seen.window_s)
    assert seen.throughput_per_s == seen.rate_per_s
    assert seen.in_system == pytest.approx((seen.response_s or 0) * 5 / seen.window_s)  # Little's law, exactly
    assert seen.utilisation == pytest.approx((seen.in_system or 0) / SAFE)
    with pytest.raises(MetricsError, match="restarted"):
        window(source.read(), type(before)(**{**before.__dict__, "clock_seconds": time.monotonic() + 100}))


def command(pool: Pool, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "policy.toml").write_text('policy = "fixed"\n[rails]\nmost = 9\n[options]\nworkers = 7\nperiod_s = 0.3\n')
    (folder / "pool.toml").write_text(
        '[stations.pool]\nservers = 5\n[classes.request]\nkind = "open"\nrate_per_s = 50.0\n[service_s.pool]\nrequest = 0.02\n'
    )
    return subprocess.run(
        [sys.executable, "-m", "sojourn", "control", "live", "policy.toml", pool.url, "--stop-after", "1.5s", *words],
        cwd=folder, text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_command(pool: Pool, tmp_path: Path) -> None:
    dry = command(pool, tmp_path, "--out", "dry")
    assert dry.returncode == 0, dry.stderr
    assert "nothing was set" in dry.stdout
    assert {line["workers"] for line in lines(tmp_path / "dry") if "event" not in line} == {7}
    unproved = command(pool, tmp_path, "--act", "--out", "no")
    assert unproved.returncode == 2
    assert "has to pass first, or --skip-simulated-check" in unproved.stderr
    drowned = command(
        pool,
        tmp_path,
        "--act",
        "--model",
        "pool.toml",
        "--simulated-check-load",
        "sine",
        "--simulated-check-rate",
        "900",
        "--simulated-check-duration",
        "30s",
    )
    assert drowned.returncode == 2
    assert "late on the model (sine)" in drowned.stderr
    done = command(
        pool,
        tmp_path,
        "--act",
        "--model",
        "pool.toml",
        "--simulated-check-load",
        "sine",
        "--simulated-check-rate",
        "50",
        "--simulated-check-duration",
        "1m",
        "--out",
        "act",
    )
    assert done.returncode == 0, done.stderr
    assert "passed: 0.00 %" in done.stdout
    assert [line["read_back"] for line in lines(tmp_path / "act") if line.get("event") == "set"] == [{"workers": 7}]
    assert pool.settings().workers == SAFE
    held = SocketActuator(pool.socket, "somebody", 30)
    held.set({"workers": 6})
    assert "held by somebody" in command(pool, tmp_path, "--act", "--skip-simulated-check").stderr
    held.revert()
    (tmp_path / "stop").touch()
    assert (
        "stop is there"
        in command(pool, tmp_path, "--act", "--skip-simulated-check", "--stop-file", "stop", "--out", "s").stdout
    )
    assert json.loads((tmp_path / "s/decisions.ndjson").read_text().splitlines()[-1])["why"] == "stop is there"
