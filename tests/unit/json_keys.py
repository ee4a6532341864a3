"""Keys of what `--json` prints, and those that docs/reference/json.md publishes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/json.md"
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
    sections = re.findall(r"^## `([\w.-]+/\d+)`\n.*?```json\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return {name: json.loads(text) for name, text in sections}
