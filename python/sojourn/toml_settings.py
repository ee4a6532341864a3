"""Settings files that somebody wrote: TOML checked key by key by a pydantic class, with the line of each mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from sojourn.errors import InputError
from sojourn.file_errors import line_of, mistake

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
        try:
            text = Path(path).read_text(encoding="utf-8")
            return cls(str(path), text, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            raise InputError(f"not TOML: {error}", f"{path}:{line[1]}" if line else path, "correct the line") from None
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(getattr(error, "strerror", None) or "not UTF-8", path, f"give {kind}") from None

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
