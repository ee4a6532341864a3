"""Policies over a run folder: its windows against the simulator's own account of the same run; and the range of a fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sojourn as sj
from sojourn.cli.app import command_line
from sojourn.control import Fixed, GuardRails, ModelPolicy, ValidatedRange, made, replay, simulate
from sojourn.control.recorded_run import recorded_windows
from sojourn.errors import InputError
from sojourn.simulate.simulated_run import as_run

RATE_PER_S, SERVICE_S, SERVERS, UNTIL_S = 150.0, 0.02, 4, 200.0


def pool() -> Any:
    return sj.Model(
        stations=[sj.Queue("pool", servers=SERVERS)],
        classes=[sj.Open("request", rate_per_s=RATE_PER_S)],
        service_s={"pool": {"request": SERVICE_S}},
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """M/M/4 at 0.75."""
    path = tmp_path_factory.mktemp("runs") / "mm4"
    as_run(pool(), path, seed=3, until_s=UNTIL_S)
    return path


def test_the_windows_are_those_of_the_run(folder: Path) -> None:
    """M/M/4 in closed form (shared query_control.md, section 8): mean response 30.19 ms, utilisation 0.75, mean n 4.528."""
    seen = list(recorded_windows(folder, 2.0, SERVERS))
    assert len(seen) in (99, 100)
    assert not any(one.trouble() for one in seen)
    rate = np.mean([one.rate_per_s or 0 for one in seen])
    assert rate == pytest.approx(RATE_PER_S, rel=0.03)
    assert np.mean([one.utilisation or 0 for one in seen]) == pytest.approx(0.75, abs=0.03)
    present = float(np.mean([one.in_system or 0 for one in seen]))
    assert present == pytest.approx(4.528, rel=0.25)
    answers = np.array([(one.throughput_per_s or 0, one.response_s or 0) for one in seen])
    assert present == pytest.approx(float((answers[:, 0] * answers[:, 1]).mean()), rel=0.02), "Little's law"


def test_what_a_policy_would_have_done(folder: Path) -> None:
    found = replay(ModelPolicy(service_s=SERVICE_S, limit_s=0.1), folder, GuardRails(), SERVERS)
    assert {one.recorded_workers for one in found} == {SERVERS}
    assert {one.decision.observed.workers for one in found} == {SERVERS}
    # 150/s of 20 ms within 100 ms at 99 %: M/M/5 has a tail of about 1 %, its upper bound of the rate asks for one or two more
    assert {one.decision.workers for one in found[2:]} <= {4, 5, 6, 7, 8}
    assert np.mean([one.decision.workers for one in found[2:]]) > SERVERS
    assert [one.same for one in replay(Fixed(workers=SERVERS), folder, None, SERVERS)] == [True] * 13  # of 15 s


def test_the_command(folder: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('policy = "fixed"\n[options]\nworkers = 6\nperiod_s = 5\n')
    words = ["control", "replay", str(policy), str(folder)]
    told = CliRunner().invoke(command_line(["control"]), [*words, "--recorded-workers", "4", "--json"])
    rows = json.loads(told.stdout)["decisions"]
    assert {(row["recorded_workers"], row["workers"]) for row in rows} == {(4, 6)}
    assert "--recorded-workers: no number of workers" in str(
        CliRunner().invoke(command_line(["control"]), words).exception
    )
    with pytest.raises(InputError, match="give a run of at least a period"):
        replay(Fixed(workers=4, period_s=500), folder, None, 4)


def test_outside_its_range_the_model_has_a_floor() -> None:
    load = made("sine", 240.0, 120.0)
    runs = {}
    for name, validated in (("told", ValidatedRange(most_per_s=300.0)), ("never", ValidatedRange(most_per_s=10_000.0))):
        policy = ModelPolicy(floor_target=0.4, most=60, validated=validated)
        model = sj.Model(
            stations=[sj.Queue("pool", servers=20)], classes=[sj.Open("request", rate_per_s=240)],
            service_s={"pool": {"request": 0.05}},
        )  # fmt: skip
        runs[name] = simulate(policy, model, load, 1, rails=GuardRails(most=60))
    assert not [one for one in runs["never"].log if "outside range" in one.reason]
    beyond = [one for one in runs["told"].log if (one.observed.rate_per_s or 0) > 300]
    assert len(beyond) > 10
    for one in beyond:
        assert one.workers >= (one.observed.utilisation or 0) * one.observed.ready_workers / 0.4 - 1e-9
    assert any("outside range (" in one.reason and "validated up to 300/s" in one.reason for one in beyond)
    assert runs["told"].figures.core_hours > 1.1 * runs["never"].figures.core_hours


def test_utilisation_beyond_is_told() -> None:
    fit = ValidatedRange(most_utilisation=0.8)
    assert fit.beyond(1e6, 0.79) == ""
    assert fit.beyond(1.0, 0.81) == "utilisation 0.81, validated up to 0.8"
    assert ValidatedRange().beyond(None, None) == ""
