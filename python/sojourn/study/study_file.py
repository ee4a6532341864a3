"""A study file: read, and its parts checked key by key; for every kind of study."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sojourn.errors import InputError, StudyError
from sojourn.file_errors import line_of, meant, mistake
from sojourn.files.reading import read_text, read_toml

Section = TypeVar("Section", bound=BaseModel)


def study_file(path: Path) -> Path:
    """`path`, or the study.toml in it."""
    return path / "study.toml" if path.is_dir() else path


def read_data(file: Path, seed: int | None = None) -> dict[str, Any]:
    """The file's tables; `seed` takes the place of that in `[load]`.

    Raises:
        StudyError: no such file, or no TOML.
    """
    data, _ = read_toml(file, "give a study file, or a folder with study.toml", error=StudyError)
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
            raise StudyError(repr(name), "--only-parts", meant(name, known))
    return tuple(only) or tuple(known)


def fingerprint(study: BaseModel, mark: str = "") -> str:
    """The same for the same study only; `mark`: what else makes a difference."""
    return hashlib.sha256((study.model_dump_json() + mark).encode()).hexdigest()[:16]


def checked(kind: type[Any], data: dict[str, Any], file: Path, prefix: str = "") -> Any:
    """`kind(**data)`; `prefix`: the table of the file that `data` is.

    Raises:
        StudyError: the first key that is unknown or wrong, with its line, and the remedy.
    """
    try:
        return kind(**data)
    except ValidationError as error:
        found = mistake(error, kind)
        key = (*filter(None, prefix.split(".")), *found.key)
        raise StudyError(found.value, f"{at(file, key)}: {_told(key, data)}", found.remedy) from None


def _told(key: tuple[str | int, ...], data: dict[str, Any]) -> str:
    """`load.for`; `[[section]] ramp: vary`."""
    if len(key) < 2 or not isinstance(key[1], int) or not isinstance(entry := data[str(key[0])][key[1]], dict):
        return ".".join(map(str, key))
    return f"[[{key[0]}]] {entry.get('name', key[1] + 1)}: {'.'.join(map(str, key[2:]))}"


def at(file: Path, key: Sequence[str | int]) -> str:
    """`study.toml:12`, the line of a key; the file alone where none is known."""
    try:
        line = line_of(read_text(file, "give a study file"), key)
    except InputError:
        line = None
    return str(file) if line is None else f"{file}:{line}"
