"""A study file: read, and its parts checked key by key; for every kind of study."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sojourn.errors import StudyError

Section = TypeVar("Section", bound=BaseModel)


def study_file(path: Path) -> Path:
    """`path`, or the study.toml in it."""
    return path / "study.toml" if path.is_dir() else path


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


def parts(only: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """What is to be done: `only` these parts, or all that are `known`.

    Raises:
        StudyError: a part that is not known.
    """
    for name in only:
        if name not in known:
            raise StudyError(repr(name), "--only", f"use some of {', '.join(known)}")
    return tuple(only) or tuple(known)


def fingerprint(study: BaseModel, mark: str = "") -> str:
    """The same for the same study only; `mark`: what else makes a difference."""
    return hashlib.sha256((study.model_dump_json() + mark).encode()).hexdigest()[:16]


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
        known = ", ".join(field.alias or name for name, field in kind.model_fields.items())
        remedy = (
            f"known keys here: {known}"
            if first["type"] == "extra_forbidden" and len(first["loc"]) == 1
            else "mend the value"
        )
        raise StudyError(f"{key or 'study'}: {first['msg']}", str(file), remedy) from None
