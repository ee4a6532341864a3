"""`sojourn control`: on a model, beside another policy, over its own log, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line

MODEL = """
name = "pool"
[stations.pool]
servers = 12
[classes.request]
kind = "open"
rate_per_s = 200.0
[service_s.pool]
request = 0.05
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("pool.toml").write_text(MODEL)
    Path("ours.toml").write_text('policy = "model"\n')
    Path("hpa.toml").write_text('policy = "hpa"\n[options]\ntarget = 0.6\n')
    Path("own.toml").write_text('policy = "own.py:decide"\n')
    Path("own.py").write_text(
        "import sojourn as sj\n\ndef decide(seen, state):\n    return sj.Set(workers=seen.workers + 1), (state or 0) + 1\n"
    )
    Path("traces").mkdir()
    Path("traces/up.csv").write_text("at_s,rate_per_s\n0,100\n10,150\n20,200\n")
    return tmp_path


def run(*words: str) -> Any:
    return CliRunner().invoke(command_line(["control"]), ["control", *words])


def test_against_another_policy(files: Path) -> None:
    found = run(
        "simulate",
        "ours.toml",
        "--model",
        "pool.toml",
        "--load",
        "traces",
        "--compare-with",
        "hpa.toml",
        "--replications",
        "2",
        "--json",
    )
    told = json.loads(found.stdout)
    assert told["objective"] == "p99 < 300ms"
    assert [(row["load"], row["policy"]) for row in told["rows"]] == [("up", "ours"), ("up", "hpa")]
    assert all(0 <= row["late_requests"] <= 1 and row["core_hours"] > 0 for row in told["rows"])
    assert told["rows"][0]["requests"] == told["rows"][1]["requests"]  # the same requests for both
    table = run(
        "simulate",
        "ours.toml",
        "--model",
        "pool.toml",
        "--load",
        "sine",
        "--duration",
        "20s",
        "--provisioning-delay",
        "2s",
    ).stdout
    assert "core-hours" in table
    assert "sine" in table


def test_a_folder_of_policies_with_its_curve_and_its_elasticity(files: Path) -> None:
    Path("grid").mkdir()
    for target in ("0.5", "0.7"):
        Path("grid", f"{target}.toml").write_text(f'policy = "hpa"\n[options]\ntarget = {target}\n')
    words = (
        "simulate",
        "ours.toml",
        "--model",
        "pool.toml",
        "--load",
        "traces",
        "--compare-with",
        "grid",
        "--elasticity",
        "--plot",
        "x.svg",
    )
    found = run(*words, "--out", "logs")
    assert "against the workers that each second's rate needs" in found.stdout
    assert "late requests, %" in Path("x.svg").read_text()
    assert sorted(path.name for path in Path("logs").iterdir()) == ["grid-0.5-up-1", "grid-0.7-up-1", "ours-up-1"]
    rows = json.loads(run(*words, "--json").stdout)["rows"]
    assert [(row["policy"], row["policy_folder"]) for row in rows] == [
        ("ours", ""),
        ("grid/0.5", "grid"),
        ("grid/0.7", "grid"),
    ]
    assert all(0 <= row["instability"] <= 1 and row["mean_spare_workers"] >= 0 for row in rows)


def test_replay_of_its_log(files: Path) -> None:
    run("simulate", "own.toml", "--model", "pool.toml", "--load", "traces", "--out", "logs", "--seed", "4")
    assert run("replay", "own.toml", "logs/own-up-4").stdout.splitlines()[-1] == "15 of 15 decisions as recorded"
    other = json.loads(run("replay", "hpa.toml", "logs/own-up-4", "--json").stdout)["decisions"]
    assert len(other) == 15
    assert {"recorded_workers", "workers", "wanted_workers", "reason", "observed"} <= set(other[0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("simulate", "ours.toml", "--model", "pool.toml", "--load", "sine2"),
            "sine2: No such file or directory; give a CSV file",
        ),
        (("simulate", "ours.toml", "--model", "pool.toml", "--replications", "0"), "give one or more replications"),
        (("simulate", "ours.toml", "--model", "pool.toml", "--plot", "x.gif"), "--plot: x.gif; end it with one of"),
        (("simulate", "none.toml", "--model", "pool.toml"), "none.toml: No such file or directory; give a policy file"),
        (
            ("replay", "ours.toml", "nowhere"),
            "nowhere: No such file or directory; give a folder that `sojourn control simulate --out` or `sojourn control live` wrote",
        ),
    ],
)
def test_refusals(files: Path, words: tuple[str, ...], said: str) -> None:
    assert said in str(run(*words).exception)
