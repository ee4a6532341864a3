"""What `--json` prints: one object that names its form and version, as docs/reference/json.md lists them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sojourn.cli.console import finite
from sojourn.cli.published_keys import KEYS, published
from sojourn.terminal import say

# verb → version of its form; a key that goes, or means something else, makes a new version; so does a new key
VERSIONS = {
    "calc balance": 2,
    "calc merge": 2,
    "calc table": 2,
    "capacity": 3,
    "check": 5,
    "compare": 3,
    "control over": 3,
    "control replay": 3,
    "control simulate": 3,
    "cpu": 2,
    "design analyse": 1,
    "design check": 2,
    "doctor": 2,
    "fit": 3,
    "lab topology": 2,
    "lab vm": 3,
    "load": 4,
    "measure": 4,
    "methods": 2,
    "oscillation": 3,
    "plan": 4,
    "predict": 2,
    "query": 4,
    "serve kv": 2,
    "simulate": 1,
    "solve": 1,
    "try": 3,
    "validate": 3,
}


def form(verb: str, version: int | None = None) -> str:
    """The name of what the verb prints, with its version: `sojourn.capacity/1`; of a case's verb the case gives the `version`."""
    return f"sojourn.{verb.replace(' ', '-')}/{VERSIONS[verb] if version is None else version}"


def say_answer(verb: str, answer: Mapping[str, Any], version: int | None = None) -> None:
    """Prints the answer as one JSON object, `schema` first; what is not finite is null."""
    words = {"schema": form(verb, version), **finite(published(dict(answer), KEYS.get(verb, {})))}
    say(json.dumps(words, allow_nan=False, ensure_ascii=False))
