"""What `--json` prints: one object that names its form and version, as docs/reference/json.md lists them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sojourn.cli.console import finite
from sojourn.terminal import say

# verb → version of its form; a key that goes, or means something else, makes a new version; so does a new key
VERSIONS = {
    "capacity": 1,
    "compare": 1,
    "control replay": 1,
    "control simulate": 1,
    "fit": 1,
    "load": 1,
    "measure": 1,
    "methods": 1,
    "plan": 1,
    "predict": 1,
    "query": 1,
    "simulate": 1,
    "solve": 1,
    "validate": 1,
}


def form(verb: str) -> str:
    """The name of what the verb prints, with its version: `sojourn.capacity/1`."""
    return f"sojourn.{verb.replace(' ', '-')}/{VERSIONS[verb]}"


def say_answer(verb: str, answer: Mapping[str, Any]) -> None:
    """Prints the answer as one JSON object, `schema` first; what is not finite is null."""
    say(json.dumps({"schema": form(verb), **finite(dict(answer))}, allow_nan=False, ensure_ascii=False))
