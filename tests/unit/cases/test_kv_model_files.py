"""The model files of the memcached middleware on recorded runs, beside plain interpolation; and what they say by hand."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import sojourn as sj
from sojourn.errors import ModelError
from sojourn_cases.kv.plain_interpolation import TEMPLATE

ROOT = Path(__file__).parents[3]
CASE, RECORDED = ROOT / "cases/sojourn_cases/kv", ROOT / "benches/kv/recorded/2026-11-26"
FILES = ("none", "direct", "staged")
# medians of the network of cores that the case had before, on the same runs (network-of-cores.json)
BEFORE = {"held out": 0.0421, "blind": 0.0865}


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("kv_model_file", ROOT / "benches/kv/model_file.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runs(bench: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[sj.RunFolder]]:
    found: dict[str, list[sj.RunFolder]] = {"training": [], "held out": [], "blind": []}
    for run in bench.recorded(RECORDED, str(tmp_path_factory.mktemp("runs"))):
        if run.manifest["valid"]:
            found[bench.kind_of(run)].append(run)
    return found


@pytest.fixture(scope="module")
def files(runs: dict[str, list[sj.RunFolder]]) -> sj.FittedModel:
    models = {name: sj.Model.read(CASE / f"{name}.toml") for name in FILES}
    return sj.fit_rivals(sj.fit.observe_runs(runs["training"]), models).best


@pytest.mark.parametrize("kind", list(BEFORE))
def test_what_was_not_fitted_is_predicted_as_well_as_by_the_network_before(
    bench: ModuleType, runs: dict[str, list[sj.RunFolder]], files: sj.FittedModel, kind: str
) -> None:
    found = bench.judged(files, runs[kind], "throughput")
    assert found["median_error"] <= BEFORE[kind], found
    assert found["inside"] / found["of"] >= 0.8, found


def test_plain_interpolation_is_farther_off_where_it_is_wrong(
    bench: ModuleType, runs: dict[str, list[sj.RunFolder]], files: sj.FittedModel, tmp_path: Path
) -> None:
    plain = TEMPLATE.fit(runs["training"], 1, {}).first
    found = {
        name: bench.judged(model, runs["blind"], "throughput") for name, model in (("files", files), ("plain", plain))
    }
    assert found["files"]["rms"] < 0.85 * found["plain"]["rms"], found
    plain.write(tmp_path / "plain.toml")
    again, point = TEMPLATE.read(tmp_path / "plain.toml"), runs["blind"][0].manifest["factors"]
    assert again.predict(point, 0.9).frame.equals(plain.predict(point, 0.9).frame)


WORK = {
    # a set of 2 KiB goes to each of 3 servers: 3 messages, 6 KiB stored; 16 workers beside 10 clients, 48 connections
    "staged": (
        {"workload": "set"},
        {"message_s": 3.0, "kib_stored_s": 6.0, "wakeup_s": 16 / 26, "connection_s": 6.9282, "key_s": 0.0},
    ),
    # a get of 4 keys that is split: 3 servers, one key more than messages, 8 KiB read
    "direct": (
        {"workload": "multi-4", "sharded": 1},
        {"message_s": 3.0, "key_s": 1.0, "kib_read_s": 8.0, "waking_s": 2 / 12},
    ),
    # half sets, half gets, without a middleware: one message, half of 2 KiB each
    "none": ({"workload": "mixed"}, {"operation_s": 1.0, "kib_stored_s": 1.0, "kib_read_s": 1.0, "waking_s": 0.03}),
}


def test_a_set_for_each_get_of_several_keys() -> None:
    """1 : 6, whole: half a message to each of 3 servers and half a message of 6 keys; half of 3 values of 2 KiB stored, half of 6 read."""
    model = sj.Model.read(CASE / "staged.toml")
    given = {"servers": 3, "value_bytes": 2048, "stores.value": "mixed-6", "keys.value": "mixed-6"}
    values = sj.replaced(model, {f"parameters.{name}": value for name, value in given.items()}).parameter_values
    assert (values["stores"], values["messages"], values["reads"] * values["keys"]) == (0.5, 2.0, 3.0)


@pytest.mark.parametrize("name", FILES)
def test_what_an_operation_asks(name: str) -> None:
    """By how much the work of an operation grows with each part: 3 servers, 2 middlewares of 8 workers, 10 clients, values of 2 KiB."""
    given, parts = WORK[name]
    model = sj.Model.read(CASE / f"{name}.toml")
    point = {"servers": 3, "proxies": 2, "workers": 8, "clients": 10, "value_bytes": 2048} | given
    paths = {f"parameters.{k}": v for k, v in point.items() if k in model.parameters}
    paths |= {f"parameters.{n}.value": point["workload"] for n in ("stores", "keys")}
    none = {
        f"parameters.{p}": 0.0 for p in model.parameters if p.endswith("_s") and p not in ("work_s", "own_s", "delay_s")
    }
    for part, times in parts.items():
        one = sj.replaced(model, {**paths, **none, f"parameters.{part}": 1.0})
        assert one.parameter_values["work_s"] == pytest.approx(times, abs=1e-4), part


def test_many_clients_fill_the_core() -> None:
    model = sj.Model.read(CASE / "staged.toml")
    full = sj.replaced(model, {"parameters.clients": 900})
    assert sj.solve(full).value("throughput") == pytest.approx(
        1 / full.parameter_values["work_s"], rel=1e-3
    )  # X <= 1/D


def test_keys_that_no_case_has_are_refused() -> None:
    model = sj.Model.read(CASE / "direct.toml")
    with pytest.raises(ModelError, match="multi-70"):
        sj.replaced(model, {"parameters.keys.value": "multi-70"})


@pytest.mark.parametrize(
    ("servers", "keys", "most_per_s"), [(1, 1, 25e6 / 8992), (2, 1, 2 * 25e6 / 8992), (3, 9, 3 * 25e6 / 8992 / 9)]
)
def test_a_slow_network_limits_gets(servers: int, keys: int, most_per_s: float) -> None:
    """1124 bytes for each key, from all servers together (studies/kv-limited/README.md)."""
    model = sj.Model.read(CASE / "limited.toml")
    given = {"servers": servers, "clients": 60, "answer_bit": 8992.0, "keys.value": f"multi-{keys}", "read_s": 1e-5}
    found = sj.solve(sj.replaced(model, {f"parameters.{name}": value for name, value in given.items()}))
    assert found.value("throughput") == pytest.approx(most_per_s, rel=0.01)


def test_a_tenth_of_a_core_limits_sets() -> None:
    """20 us of CPU time a set: 5000/s from each server."""
    model = sj.Model.read(CASE / "limited.toml")
    given = {
        "servers": 2,
        "clients": 60,
        "staged_s": 2e-5,
        "staged_waking_s": 0.0,
        "stores.value": "set",
        "keys.value": "set",
        "read_s": 1e-5,
    }
    found = sj.solve(sj.replaced(model, {f"parameters.{name}": value for name, value in given.items()}))
    assert found.value("throughput") == pytest.approx(10_000, rel=0.01)
