"""Keys that `--json` prints under a name of their own: each is on the page, and names of a user stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from json_keys import published as forms

from sojourn.cli.published_keys import KEYS, published


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Of all keys; elements of a list have the path of the list."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield f"{path}{key}"
            yield from paths(one, f"{path}{key}.")
    elif isinstance(value, list):
        for one in value:
            yield from paths(one, path)


def present(path: str, keys: dict[str, str]) -> str:
    parts = path.split(".")
    return ".".join(keys.get(".".join(parts[: at + 1]), part) for at, part in enumerate(parts))


@pytest.mark.parametrize("verb", KEYS)
def test_each_is_on_the_page_and_its_plain_name_is_not(verb: str) -> None:
    (form,) = [one for name, one in forms().items() if name.rpartition("/")[0] == f"sojourn.{verb.replace(' ', '-')}"]
    known = set(paths(form))
    for path in KEYS[verb]:
        assert present(path, KEYS[verb]) in known, path


def test_only_keys_at_their_place_change() -> None:
    keys = {
        "front": "pareto_front",
        "front.met": "objective_met",
        "steps.from_": "from_value",
        "steps.choice.chance": "share",
    }
    answer = {
        "front": [{"settings": {"met": 2, "front": 1}, "met": True}],
        "steps": ({"from_": 1, "choice": {"chance": 0.5}},),
        "chance": 3,
    }
    assert published(answer, keys) == {
        "pareto_front": [{"settings": {"met": 2, "front": 1}, "objective_met": True}],
        "steps": [{"from_value": 1, "choice": {"share": 0.5}}],
        "chance": 3,
    }
    assert published({"a": [1, {"b": 2}]}, {}) == {"a": [1, {"b": 2}]}
