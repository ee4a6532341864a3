"""What `--json` prints has a published form: docs/reference/json.md lists the keys of each version, and here the verbs are run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from capacity.test_capacity_report import result
from check.test_check import WRK
from json_keys import CHANGED, published, shape
from test_new_user import run_at, sojourn

import sojourn as sj
from sojourn.cli.json_answer import VERSIONS, form
from sojourn.lab.guest_probe import GuestFound
from sojourn.measure.cpu_residual import CpuUse
from sojourn.observe.observed_windows import ClassMeans, ObservedWindow
from sojourn.observe.window_folders import write_windows
from sojourn.runs.run_folder import RunFolder
from sojourn.trial.trial import Prediction, Trial

TRIED = Trial(
    {35.0: 0.009}, (0.008, 0.007, 0.009), (250.0, 220.0, 280.0),
    (Prediction(2, 190.0, 0.015, 0.010, 0.02, 0.012, ("disturbed",)),), 0.9, "runs/try", 61.0,
)  # fmt: skip
MODEL = '[stations.cpu]\nservers = 2\n[classes.page]\nkind = "open"\nrate_per_s = 60\n[service_s.cpu]\npage = 0.01\n'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("forms")
    for rate in (40, 80, 120, 160):
        run_at(place / "runs", rate)
    (place / "m.toml").write_text(MODEL)
    (place / "free.toml").write_text(MODEL.replace("0.01", "{ free = true }"))
    assert sojourn("fit", place / "runs", "--out", place / "fitted.toml").exit_code == 0
    (place / "wrk.txt").write_text(WRK)
    (place / "policy.toml").write_text('policy = "model"\n')
    (place / "up.csv").write_text("at_s,rate_per_s\n0,50\n10,60\n")
    control = ("--model", place / "m.toml", "--load", place / "up.csv", "--elasticity", "--out", place / "logs")
    assert sojourn("control", "simulate", place / "policy.toml", *control).exit_code == 0
    at = [
        ObservedWindow(1.7e9 + 60 * k, 60.0, {"page": ClassMeans(60.0, 0.02)}, {"cpu": 0.3}) for k in range(4) if k != 2
    ]
    write_windows(place / "week", at, {}, {"cpu": 2.0}, "shop")
    rows = [
        f"{run},{cores},{cache},{10 * cores + cache + run % 2}"
        for run, (cores, cache) in enumerate([(1, 0), (1, 1), (2, 0), (2, 1)] * 2)
    ]
    (place / "design.csv").write_text("\n".join(("run,cores,cache,throughput", *rows, "")))
    shares = [f"{0.1 * at:.1f},{0.2 + 0.7 * (at // 5 % 2)},{0.9 - 0.7 * (at // 5 % 2)}" for at in range(400)]
    (place / "shares.csv").write_text("\n".join(("t_s,cpu,disk", *shares, "")))
    return place


def lines(place: Path) -> dict[str, tuple[object, ...]]:
    model, runs, fitted = place / "m.toml", place / "runs", place / "fitted.toml"
    first = sorted(runs.iterdir())[0]
    return {
        "fit": ("fit", runs, "--model", place / "free.toml", "--out", place / "again.toml", "--overwrite"),
        "predict": ("predict", fitted, "--rate", "60"),
        "validate": ("validate", runs, "--model", fitted),
        "query": ("query", "p50 < 1s", first),
        "plan": ("plan", model, "--vary", "stations.cpu.servers=1,2", "--objective", "mean < 1s", "--cost", "stations.cpu.servers"),
        "solve": ("solve", model),
        "simulate": ("simulate", model, "--until", "20s"),
        "methods": ("methods", model),
        "check": ("check", place / "wrk.txt"),
        "compare": ("compare", "--commands", "true", "true", "--blocks", "5", "--warm-up-runs", "0"),
        "control simulate": ("control", "simulate", place / "policy.toml", "--model", model, "--load", place / "up.csv", "--elasticity"),
        "control replay": ("control", "replay", place / "policy.toml", place / "logs/policy-up-1"),
        "control over": ("control", "replay", place / "policy.toml", "--observed-windows", place / "week"),
        "calc merge": ("calc", "merge", model, model),
        "calc table": ("calc", "table", "--servers", "2", "--service-time", "10ms"),
        "calc balance": ("calc", "balance", "--centre-count", "4", "--pieces-per-item", "2",
                         "--piece-deviation", "0.2", "--nested-level", "2:2:0.1"),
        "design analyse": ("design", "analyse", place / "design.csv", "--response", "throughput",
                           "--factor-column", "cores", "--factor-column", "cache"),
        "design check": ("design", "check", place / "design.csv"),
        "doctor": ("doctor",),
        "lab topology": ("lab", "topology", "--measure-access-times"),
        "lab vm": ("lab", "vm", "--boot-guests"),
        "oscillation": ("oscillation", place / "shares.csv", "--resource-a", "cpu", "--resource-b", "disk"),
        "try": ("try",),
        "capacity": ("capacity", "http://127.0.0.1:1/", "--out", place / "out"),
        "measure": ("measure", "http://127.0.0.1:1/", "--rate", "40", "--out", place / "measured"),
    }  # fmt: skip


def printed(place: Path, verb: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    def measured(_urls: object, out: Path, **_: object) -> list[RunFolder]:
        return [run_at(out, 40)]

    patch.setattr(sj.capacity, "capacity", lambda *_args, **_more: result())
    patch.setattr("sojourn.measure.measure", measured)
    patch.setattr(
        "sojourn.lab.guest_probe.probe_guests",
        lambda *_args, **_more: iter([GuestFound("tcg", True, "boots in 3.0 s")]),
    )
    patch.setattr("sojourn.trial.trial", lambda *_args, **_more: TRIED)
    done = sojourn(*lines(place)[verb], "--json")
    assert done.stdout, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout, parse_constant=pytest.fail)
    return answer


LIVE = {"load", "serve kv"}  # live/test_json_of_loads.py runs them
OF_THE_MACHINE = {"lab topology"}  # keys below the first ones: packages, caches
VERBS = sorted(VERSIONS.keys() - LIVE - {"cpu"})


@pytest.mark.parametrize("verb", VERBS)
def test_its_keys_are_those_that_are_published(place: Path, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = printed(place, verb, monkeypatch)
    assert next(iter(answer.items())) == ("schema", form(verb))
    found = dict.fromkeys(answer, "value") if verb in OF_THE_MACHINE else shape(answer)
    assert found == published()[form(verb)], CHANGED.format(form=form(verb), verb=verb)


def test_every_version_is_published() -> None:
    of_cases = {form(f"serve {name}", n) for name, n in (("bulletin", 3), ("kv-proxy", 2), ("messages", 3))}
    assert {form(verb) for verb in VERSIONS} == published().keys() - of_cases


def test_the_figures_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = CpuUse(1.0, 2, 0, 0.5, 0.01, 0.4, 0.3, 0.1, 0.01, 0.5, 0.0, other_processes=(("other", 0.1),))
    monkeypatch.setattr("sojourn.measure.cpu_residual.measure_command", lambda *_: used)
    assert sojourn("cpu", "--out", tmp_path / "cpu.json", "--", "true").exit_code == 0
    answer = json.loads((tmp_path / "cpu.json").read_text())
    assert shape(answer) == published()[form("cpu")], CHANGED.format(form=form("cpu"), verb="cpu")


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        ({"a": 1, "b": [{"c": None}, {"d": [1.5]}]}, {"a": "value", "b": [{"c": "value", "d": ["value"]}]}),
        ({"a": []}, {"a": []}),
        ([[], [{"x": 1}]], [[{"x": "value"}]]),
    ],
)
def test_shape_keeps_keys(value: Any, keys: Any) -> None:
    assert shape(value) == keys
