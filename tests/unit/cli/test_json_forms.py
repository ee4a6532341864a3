"""What `--json` prints has a published form: docs/reference/json.md lists the keys of each version, and here the verbs are run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from capacity.test_capacity_report import result
from test_new_user import run_at, sojourn

import sojourn as sj
from sojourn.cli.json_answer import VERSIONS, form
from sojourn.runs.run_folder import RunFolder

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/json.md"
MODEL = '[stations.cpu]\nservers = 2\n[classes.page]\nkind = "open"\nrate_per_s = 60\n[service_s.cpu]\npage = 0.01\n'
CHANGED = (
    "the keys of {form} are not those of docs/reference/json.md: give {verb} a new version in cli/json_answer.py, and the page a section "
    "for it, beside the old one; say so in CHANGELOG.md"
)


def shape(value: Any) -> Any:
    """Keys alone: of a list what its elements have together; what is no object and no list is "value"."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [together([shape(one) for one in value])] if value else []
    return "value"


def together(shapes: list[Any]) -> Any:
    if all(isinstance(one, dict) for one in shapes):
        keys = dict.fromkeys(key for one in shapes for key in one)
        return {key: together([one[key] for one in shapes if key in one]) for key in keys}
    lists = [one for one in shapes if isinstance(one, list) and one]
    return lists[0] if lists else shapes[0]


def published() -> dict[str, Any]:
    sections = re.findall(r"^## `([\w.]+/\d+)`\n.*?```json\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return {name: json.loads(text) for name, text in sections}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("forms")
    for rate in (40, 80, 120, 160):
        run_at(place / "runs", rate)
    (place / "m.toml").write_text(MODEL)
    (place / "free.toml").write_text(MODEL.replace("0.01", "{ free = true }"))
    assert sojourn("fit", place / "runs", "--out", place / "fitted.toml").exit_code == 0
    return place


def lines(place: Path) -> dict[str, tuple[object, ...]]:
    model, runs, fitted = place / "m.toml", place / "runs", place / "fitted.toml"
    first = sorted(runs.iterdir())[0]
    return {
        "fit": ("fit", runs, "--model", place / "free.toml", "--out", place / "again.toml", "--force"),
        "predict": ("predict", fitted, "--rate", "60"),
        "validate": ("validate", runs, "--model", fitted),
        "query": ("query", "p50 < 1s", first),
        "plan": ("plan", model, "--vary", "stations.cpu.servers=1,2", "--objective", "mean < 1s", "--cost", "stations.cpu.servers"),
        "solve": ("solve", model),
        "simulate": ("simulate", model, "--until", "20s"),
        "methods": ("methods", model),
        "compare": ("compare", "--run", "true", "true", "--blocks", "3", "--warm-up", "0"),
        "capacity": ("capacity", "http://127.0.0.1:1/", "--out", place / "out"),
        "measure": ("measure", "http://127.0.0.1:1/", "--rate", "40", "--out", place / "measured"),
    }  # fmt: skip


def printed(place: Path, verb: str, patch: pytest.MonkeyPatch) -> dict[str, Any]:
    def measured(_urls: object, out: Path, **_: object) -> list[RunFolder]:
        return [run_at(out, 40)]

    patch.setattr(sj.capacity, "capacity", lambda *_args, **_more: result())
    patch.setattr("sojourn.measure.measure", measured)
    answer: dict[str, Any] = json.loads(sojourn(*lines(place)[verb], "--json").stdout, parse_constant=pytest.fail)
    return answer


VERBS = [
    "fit",
    "predict",
    "validate",
    "query",
    "plan",
    "solve",
    "simulate",
    "methods",
    "compare",
    "capacity",
    "measure",
]


@pytest.mark.parametrize("verb", VERBS)
def test_its_keys_are_those_that_are_published(place: Path, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = printed(place, verb, monkeypatch)
    assert next(iter(answer.items())) == ("schema", form(verb))
    assert shape(answer) == published()[form(verb)], CHANGED.format(form=form(verb), verb=verb)


def test_every_version_is_published() -> None:
    assert {form(verb) for verb in VERSIONS} - {form("load")} <= published().keys()
    assert set(VERSIONS) - {"load"} == set(VERBS)


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
