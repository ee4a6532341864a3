"""A study file: read, and its parts checked key by key; for every kind of study."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sojourn.errors import StudyError


def study_file(path: Path) -> Path:
    """`path`, or the study.toml in it."""
    return path / "study.toml" if path.is_dir() else path


def testbed_of(path: Path) -> str:
    """What the study at `path` says its testbed is; empty where it says none, or cannot be read."""
    try:
        return str(tomllib.loads(study_file(path).read_text()).get("testbed", ""))
    except (OSError, ValueError):
        return ""


def read_data(file: Path, seed: int | None = None) -> dict[str, Any]:
    """The file's tables; `seed` takes the place of that in `[load]`.

    Raises:
        StudyError: no such file, or no TOML.
    """
    try:
        data = tomllib.loads(file.read_text())
    except OSError as error:
        remedy = "give a study file, or a folder with study.toml"
        raise StudyError(error.strerror or str(error), str(file), remedy) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(str(error), str(file), "mend the TOML there") from None
    if seed is not None:
        data.setdefault("load", {})["seed"] = seed
    return data


def checked(kind: type[Any], data: dict[str, Any], file: Path, prefix: str = "") -> Any:
    """`kind(**data)`.

    Raises:
        StudyError: the first key that is unknown or wrong, named with `prefix` before it, and the remedy.
    """
    try:
        return kind(**data)
    except ValidationError as error:
        first = error.errors()[0]
        key = prefix + ".".join(str(part) for part in first["loc"])
        known = ", ".join(kind.model_fields)
        remedy = (
            f"known keys here: {known}"
            if first["type"] == "extra_forbidden" and len(first["loc"]) == 1
            else "mend the value"
        )
        raise StudyError(f"{key or 'study'}: {first['msg']}", str(file), remedy) from None
