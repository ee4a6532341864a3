"""Settings files that somebody wrote: TOML checked key by key by a pydantic class, with the line of each mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sojourn.errors import InputError
from sojourn.file_errors import line_of, mistake
from sojourn.files.reading import read_toml

Checked = TypeVar("Checked", bound=BaseModel)


@dataclass(frozen=True)
class TomlFile:
    """The file's text and what it says; `path` is as given."""

    path: str
    text: str
    data: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path | str, kind: str) -> TomlFile:
        """`kind`: what to give instead, "a policy file". InputError."""
        data, text = read_toml(path, f"give {kind}")
        return cls(str(path), text, data)

    def checked(
        self, kind: type[Checked], data: Mapping[str, Any] | None = None, under: tuple[str, ...] = ()
    ) -> Checked:
        """`data` (default: all of the file), which stands at the key `under`, as `kind`. InputError names key, line, value, remedy."""
        try:
            return kind.model_validate(self.data if data is None else data)
        except ValidationError as error:
            found = mistake(error, kind)
            key = (*under, *found.key)
            raise InputError(f"{'.'.join(map(str, key))}: {found.value}", self.at(*key), found.remedy) from None

    def at(self, *key: str | int) -> str:
        """Where the key stands: FILE:LINE."""
        line = line_of(self.text, key)
        return f"{self.path}:{line}" if line else self.path
