"""What `--json` prints: one object that names its form and version, as docs/reference/json.md lists them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sojourn.cli.console import finite
from sojourn.terminal import say

# verb → version of its form; a key that goes, or means something else, makes a new version; so does a new key
VERSIONS = {
    "calc balance": 1,
    "calc merge": 1,
    "calc table": 1,
    "capacity": 2,
    "check": 1,
    "compare": 1,
    "control over": 1,
    "control replay": 1,
    "control simulate": 1,
    "cpu": 1,
    "design analyse": 1,
    "design check": 1,
    "doctor": 1,
    "fit": 1,
    "lab topology": 1,
    "lab vm": 1,
    "load": 1,
    "measure": 1,
    "methods": 1,
    "oscillation": 1,
    "plan": 1,
    "predict": 1,
    "query": 1,
    "serve kv": 1,
    "simulate": 1,
    "solve": 1,
    "try": 1,
    "validate": 1,
}


def form(verb: str, version: int | None = None) -> str:
    """The name of what the verb prints, with its version: `sojourn.capacity/1`; of a case's verb the case gives the `version`."""
    return f"sojourn.{verb.replace(' ', '-')}/{VERSIONS[verb] if version is None else version}"


def say_answer(verb: str, answer: Mapping[str, Any], version: int | None = None) -> None:
    """Prints the answer as one JSON object, `schema` first; what is not finite is null."""
    words = {"schema": form(verb, version), **finite(dict(answer))}
    say(json.dumps(words, allow_nan=False, ensure_ascii=False))
