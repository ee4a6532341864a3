"""Which loads each fitted model of the folder was fitted at: so that a page can say which runs it is of. For a worker process, as
`model_answers`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.errors import SojournError
from sojourn.files.reading import read_text

MOST_LOADS = 200
LOADS = ("users", "rate_per_s")


def fits(paths: Mapping[str, str]) -> dict[str, Any]:
    """`paths`: name → path of a fitted file. A file that is none has no loads."""
    return {"fits": [{"name": name, "loads": _loads(Path(path))} for name, path in paths.items()]}


def _loads(path: Path) -> list[float]:
    try:
        told = tomllib.loads(read_text(path, "give a fitted file"))["fit"]["configurations"]
        known = [json.loads(one) for one in told[:MOST_LOADS]]
        found = [next((one[key] for key in LOADS if one.get(key) is not None), None) for one in known]
    except (SojournError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [float(load) for load in found if isinstance(load, int | float)]
