"""A policy over observed hours: against arithmetic by the utilisation law, HPA's own rule, and Erlang's formula."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.control import Fixed, GuardRails, Hpa, ModelPolicy
from sojourn.control.over_hours import MISSING, over_hours
from sojourn.control.recorded_hours import RecordedHours, RecordedWindow, hours_of_folders
from sojourn.errors import InputError
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.window_folders import write_windows

SERVICE_S, CORES, LENGTH_S = 0.05, 12, 300.0
PAGE = Path(__file__).resolve().parents[3] / "docs/howto/control-capacity.md"


def day(rates: list[float], service_s: float = SERVICE_S) -> RecordedHours:
    windows = [
        RecordedWindow(1.7e9 + k * LENGTH_S, LENGTH_S, rate, {"cpu": rate * service_s / CORES, "disk": 0.01})
        for k, rate in enumerate(rates)
    ]
    return RecordedHours.of(windows, {"cpu": CORES, "disk": 1}, None)


def test_the_busiest_resource_is_taken_and_its_cores() -> None:
    hours = day([100.0, 200.0])
    assert (hours.resource, hours.workers) == ("cpu", CORES)
    assert hours.busy(hours.windows[1]) == pytest.approx(200 * SERVICE_S)


@pytest.mark.parametrize("rate", [40.0, 120.0, 200.0])
def test_an_hpa_ends_where_its_rule_says(rate: float) -> None:
    """ceil(busy / target), once it is outside of the tolerance of 10 % (Kubernetes, Horizontal Pod Autoscaling: algorithm details)."""
    found = over_hours(Hpa(target=0.7), day([rate] * 12))
    workers = found.windows[-1].workers
    busy = rate * SERVICE_S
    assert workers == math.ceil(busy / 0.7) or abs(busy / workers / 0.7 - 1) <= 0.1


def test_too_few_workers_queue_and_the_minutes_count() -> None:
    """200/s of 50 ms are 10 busy: with 8 workers for two windows, 40 requests a second stay; then 20/s drain 60 of them a second."""
    found = over_hours(Fixed(workers=8), day([200.0, 200.0, 100.0]), GuardRails(least=8, most=8))
    assert found.minutes("short") == pytest.approx(10)
    assert found.windows[1].decision.observed.waiting == pytest.approx(2 * 40 * LENGTH_S)
    assert found.windows[1].decision.observed.utilisation == pytest.approx(1)
    assert found.windows[2].decision.observed.waiting == pytest.approx(2 * 40 * LENGTH_S - 60 * LENGTH_S)
    assert found.minutes("missed") == pytest.approx(15)
    assert found.worker_hours == pytest.approx(8 * 3 * LENGTH_S / 3600)


def test_what_is_seen_is_erlangs() -> None:
    """M/M/2 at 0.8: R = S/(1 - rho^2) (Jain (1991), box 31.2), and N = X R (Little)."""
    hours = RecordedHours.of([RecordedWindow(k * 300.0, 300.0, 32.0, {"cpu": 0.8}) for k in range(2)], {"cpu": 2}, None)
    seen = over_hours(Fixed(workers=2), hours).windows[0].decision.observed
    assert seen.response_s == pytest.approx(0.05 / (1 - 0.8**2)) and seen.in_system == pytest.approx(32 * 0.05 / 0.36)


def test_minutes_of_uncertain() -> None:
    """Three windows are missing; then the demand doubles, which the policy's CUSUM finds, and it is stale for five windows."""
    hours = day([120.0] * 40)
    gone = replace(hours, windows=tuple(one for k, one in enumerate(hours.windows) if k not in (20, 21, 22)))
    found = over_hours(ModelPolicy(service_s=SERVICE_S), gone)
    assert found.uncertain == {MISSING: pytest.approx(15)}
    doubled = replace(
        hours, windows=(*hours.windows[:20], *(replace(one, shares={"cpu": 2 * one.shares["cpu"]}) for one in hours.windows[20:]))
    )  # fmt: skip
    found = over_hours(ModelPolicy(service_s=SERVICE_S, most=40), doubled, GuardRails(most=40))
    assert found.uncertain["the demand is stale"] == pytest.approx(25)
    assert found.windows[-1].workers > 12


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no resource"):
        RecordedHours.of([RecordedWindow(k, 1.0, 1.0, {}) for k in range(2)], {}, None)
    with pytest.raises(InputError, match="give one of cpu"):
        RecordedHours.of([RecordedWindow(k, 1.0, 1.0, {"cpu": 0.1}) for k in range(2)], {}, None, "disk")
    done = CliRunner().invoke(
        command_line(), ["control", "replay", "p.toml", "--observed-windows", "runs", "--metric-map", "m.toml"]
    )
    assert isinstance(done.exception, InputError)


def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    Path("policy.toml").write_text('policy = "model"\nobjective = "p99 < 300ms"\n')
    rates = 120 + 80 * np.sin(2 * np.pi * np.arange(24) / 24)
    windows = [
        ObservedWindow(1.7e9 + k * 3600, 3600.0, {"a": ClassMeans(rate, 0.06)}, {"cpu": rate * SERVICE_S / CORES})
        for k, rate in enumerate(rates.tolist())
    ]
    write_windows(Path("runs/week"), windows, {}, {"cpu": float(CORES)}, "shop")
    assert hours_of_folders([Path("runs/week")], None).workers == CORES
    (line,) = re.findall(r"^    (sojourn control replay policy.toml --observed-windows runs/week)$", page, re.M)
    done = CliRunner().invoke(command_line(), shlex.split(line)[1:])
    assert done.exit_code == 0 and "recorded 12 workers, 288" in done.output, done.output
    assert len(done.output.splitlines()) <= 24  # one screen
    done = CliRunner().invoke(command_line(), [*shlex.split(line)[1:], "--json"])
    told = json.loads(done.stdout)
    assert told["schema"] == "sojourn.control-over/3" and told["recorded_worker_hours"] == pytest.approx(288)
