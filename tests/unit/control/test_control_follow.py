"""The demand of a service while it runs, from a log of `sojourn control` that grows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.control import ValidatedRange, follow
from sojourn.control.decision import Decision, Seen
from sojourn.control.load_trace import Load
from sojourn.control.varying_queue import VaryingQueue
from sojourn.errors import InputError

RATE_PER_S, DEMAND_S, WORKERS, WINDOW_S = 200.0, 0.05, 20, 2.0


def lines(count: int, seed: int = 1, factor: float = 1.0, at: int = 0) -> list[str]:
    """A log of windows of a queue whose demand is `factor` times as large from window `at` on."""
    arrivals = Load("steady", (RATE_PER_S,) * int(WINDOW_S * count)).arrivals_s(seed)
    service = np.random.default_rng([seed, 9]).exponential(DEMAND_S, len(arrivals))
    queue = VaryingQueue(arrivals, np.where(arrivals < WINDOW_S * at, service, factor * service), WORKERS)
    found = [Decision(queue.run(WINDOW_S), WORKERS, WORKERS, "") for _ in range(count)]
    return [json.dumps(one.to_dict()) + "\n" for one in found]


def end() -> str:
    return json.dumps({"event": "end", "why": "stopped"}) + "\n"


def written(folder: Path, text: str) -> Path:
    (folder / "decisions.ndjson").write_text(text)
    return folder


def test_the_demand_is_found_from_nothing(tmp_path: Path) -> None:
    told = list(follow(written(tmp_path, "".join([*lines(60), end()]))))
    assert [one.status for one in told[-20:]] == ["fresh"] * 20
    value, low, high = told[-1].interval_s()
    assert low < DEMAND_S < high and value == pytest.approx(DEMAND_S, rel=0.05)
    row = told[-1].metrics().frame.row(0, named=True)
    assert (row["metric"], row["value"], row["status"]) == ("service_demand", value, "ok")


def test_intervals_hold_the_demand_as_often_as_they_say() -> None:
    """Forgetting keeps about 60 windows at work, whose noise the covariance has: 95 % of 100 fresh queues, less 3 standard errors."""
    from sojourn.control.estimation import DemandEstimate, updated

    held = 0
    for seed in range(700, 800):
        now = DemandEstimate.start([0.08], 1e3)
        for line in lines(40, seed):
            seen = Seen(**json.loads(line)["observed"])
            now = updated(
                now, [seen.throughput_per_s or 0], (seen.utilisation or 0) * seen.ready_workers, seen.window_s
            )
        held += abs(now.demands_s[0] - DEMAND_S) <= 1.96 * now.error_s[0]
    assert held >= 88


def test_a_fit_that_holds_no_more_is_stale_and_then_found_anew(tmp_path: Path) -> None:
    told = list(follow(written(tmp_path, "".join([*lines(55, 3, 1.5, 30), end()])), DEMAND_S))
    assert {one.status for one in told[5:29]} <= {"fresh", "ageing"}
    assert "stale" in {one.status for one in told[30:40]}
    assert told[-1].estimate.alarms == 1 and told[-1].estimate.demands_s[0] == pytest.approx(1.5 * DEMAND_S, rel=0.1)


def test_outside_the_range_of_its_validation(tmp_path: Path) -> None:
    """200/s, validated up to 150/s: a row of Metrics says so; up to 300/s it is fresh."""
    path = written(tmp_path, "".join([*lines(30), end()]))
    told = list(follow(path, DEMAND_S, validated=ValidatedRange(most_per_s=150.0)))
    assert {one.status for one in told} == {"outside range"}
    assert told[-1].metrics().frame.row(0, named=True)["status"] == "outside range"
    assert {one.status for one in follow(path, DEMAND_S, validated=ValidatedRange(300.0, 0.9))} == {"fresh"}
    words = [
        "fit",
        "--track-demand",
        str(tmp_path),
        "--model",
        "mmm",
        "--tracking-settings",
        "demand_s=0.05,most_per_s=150",
    ]
    assert CliRunner().invoke(command_line(), words).output.splitlines()[-1].endswith("outside range")


def test_lines_are_read_when_they_are_whole(tmp_path: Path) -> None:
    """A line comes in two parts, then the end."""
    first, second = lines(2)
    parts = iter([second[30:], end()])
    path = written(tmp_path, first + second[:30]) / "decisions.ndjson"

    def write(_: float) -> None:
        with open(path, "a") as log:
            log.write(next(parts))

    assert [one.at_s for one in follow(tmp_path, sleep=write)] == [2.0, 4.0]


def test_a_log_that_nobody_writes_to_any_more_is_left(tmp_path: Path) -> None:
    now_s = [0.0]
    written(tmp_path, "".join(lines(3)))

    def pass_time(by_s: float) -> None:
        now_s[0] += by_s

    assert len(list(follow(tmp_path, quiet_s=5.0, clock=lambda: now_s[0], sleep=pass_time))) == 3
    assert 5.0 < now_s[0] < 5.5


def test_windows_without_sound_metrics_tell_nothing(tmp_path: Path) -> None:
    row = json.loads(lines(1)[0])
    bad = [
        {**row["observed"], "utilisation": "nan"},
        {**row["observed"], "metrics_late": True},
        {**row["observed"], "throughput_per_s": 0},
    ]
    text = "".join(json.dumps({**row, "observed": seen}) + "\n" for seen in bad)
    assert list(follow(written(tmp_path, text + end()))) == []


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        list(follow(tmp_path))
    with pytest.raises(InputError, match=r"decisions.ndjson:1.*sojourn control"):
        list(follow(written(tmp_path, "[1]\n")))


def test_the_command(tmp_path: Path) -> None:
    written(tmp_path, "".join([*lines(40), end()]))
    found = CliRunner().invoke(command_line(), ["fit", "--track-demand", str(tmp_path), "--model", "mmm"])
    assert found.exit_code == 0 and found.output.splitlines()[-1].endswith("fresh"), found.output
    for given in (
        ["--model", "two-class"],
        ["--model", "mmm", "--tracking-settings", "x=1"],
        ["--model", "mmm", "--set", "scv=0"],
    ):
        assert CliRunner().invoke(command_line(), ["fit", "--track-demand", str(tmp_path), *given]).exit_code != 0
