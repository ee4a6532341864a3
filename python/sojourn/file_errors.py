"""What is wrong with a file that somebody wrote, in words: the line of a key, the name that was meant, and what pydantic found.

For study files, options and model files alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

__all__ = ["meant", "mistake"]

HEAD = re.compile(r"\s*\[\[?([^\[\]]+)\]\]?")
CHOICES = re.compile(r"\^\(([\w|-]+)\)\$")
MOST_SHOWN = 80
KINDS = {
    "int": "a whole number", "float": "a number", "string": "text", "bool": "true or false", "list": "a list",
    "tuple": "a list", "dict": "a table", "model": "a table", "mapping": "a table",
}  # fmt: skip


@dataclass(frozen=True)
class FileError:
    """`key`: its path in the file, dots between, numbers in lists; `value`: what is wrong; `remedy`: what to write."""

    key: tuple[str | int, ...]
    value: str
    remedy: str

    @property
    def path(self) -> str:
        """The key as a message has it."""
        return ".".join(map(str, self.key))


def meant(value: Any, known: Iterable[str]) -> str:
    """What to write instead of an unknown name: the nearest, and all there are."""
    known = list(known)
    near = get_close_matches(str(value), known, 1)
    every = (
        f"use one of {', '.join(str(name) or '(none)' for name in known)}"
        if known
        else "none exists here: leave it out"
    )
    return f"did you mean {near[0]}? ({every})" if near else every


def line_of(text: str, key: Sequence[str | int]) -> int | None:
    """The line, from 1, of a key of a TOML text, or of the nearest table around it that is there; None where there is none.
    A number in `key` counts the entries of an array of tables, from 0."""
    if len(key) > 1 and isinstance(key[1], int):
        return _line_of_entry(text, str(key[0]), key[1], [str(part) for part in key[2:]])
    from sojourn._native import toml_lines

    lines = toml_lines(text)
    path = ".".join(map(str, key))
    while path:
        if path in lines:
            return int(lines[path])
        path = path.rpartition(".")[0]
    return None


def _line_of_entry(text: str, table: str, number: int, words: Sequence[str]) -> int | None:
    """The line in the entry that has the last of `words`, else its head."""
    lines = text.splitlines()
    heads = [k for k, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{re.escape(table)}\s*\]\]", line)]
    if number >= len(heads):
        return None
    end = next((k for k in range(heads[number] + 1, len(lines)) if _is_other(lines[k], table)), len(lines))
    for word in reversed(words):
        has = re.compile(rf"(?<![\w-])[\"']?{re.escape(word)}[\"']?\s*=")
        for k in range(heads[number], end):
            if has.search(lines[k]):
                return k + 1
    return heads[number] + 1


def _is_other(line: str, table: str) -> bool:
    head = HEAD.match(line)
    return head is not None and not head[1].strip().startswith(f"{table}.")


def mistake(error: ValidationError, kind: type[BaseModel]) -> FileError:
    """The first thing that is wrong with a table of this kind; an unknown key before all others, as a key that is missing is
    often one that is misspelt."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    key = tuple(part for part in first["loc"] if not (isinstance(part, str) and part in _TAGS))
    if first["type"] == "extra_forbidden":
        return FileError(key, f"unknown key {str(key[-1])!r}", meant(key[-1], _keys(_kind_at(kind, key[:-1]))))
    if first["type"] == "missing":
        return FileError(key, f"no {key[-1]}", "give it")
    value, remedy = _wrong(first)
    return FileError(key, value, remedy)


_TAGS = {"str", "int", "float", "bool", "tuple[str, ...]"}  # of unions, in the paths of pydantic


def _wrong(first: ErrorDetails) -> tuple[str, str]:
    """What was found, and what to give, of a value that cannot be used."""
    shown = repr(first["input"])
    shown = shown if len(shown) <= MOST_SHOWN else shown[: MOST_SHOWN - 1] + "…"
    context: Mapping[str, Any] = first.get("ctx") or {}
    if first["type"] in ("value_error", "assertion_error"):
        value, _, remedy = str(context["error"]).partition("; ")
        return (value, remedy) if remedy else (shown, value)
    if first["type"] == "string_pattern_mismatch":
        choices = CHOICES.fullmatch(context["pattern"])
        return (
            shown,
            f"use one of {', '.join(choices[1].split('|'))}" if choices else f"give text like {context['pattern']}",
        )
    if first["type"] == "literal_error":
        return shown, f"use {context['expected']}"
    if first["type"] in ("too_short", "too_long"):
        ends = {"min_length": "at least", "max_length": "at most"}
        said = next(f"{word} {context[name]}" for name, word in ends.items() if name in context)
        return shown, f"give {said}"
    of = first["type"].partition("_")[0]
    if first["type"] in (f"{of}_type", f"{of}_parsing", "int_from_float") and of in KINDS:
        return shown, f"give {KINDS[of]}"
    return shown, first["msg"].replace("Input should be", "give a value", 1)


def _keys(kind: Any) -> list[str]:
    return [field.alias or name for name, field in kind.model_fields.items()] if kind is not None else []


def _kind_at(kind: Any, path: Sequence[str | int]) -> Any:
    """The kind of table at `path` in a table of `kind`; None where it is none of ours."""
    annotation: Any = kind
    for part in path:
        table = _table(annotation)
        if isinstance(part, int) or table is None or not _field(table, part):
            continue  # an entry of a list, or a name that the user chose
        annotation = _field(table, part).annotation
    return _table(annotation)


def _field(table: Any, name: str) -> Any:
    return next((field for own, field in table.model_fields.items() if name in (own, field.alias)), None)


def _table(annotation: Any) -> Any:
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _table(inner)) is not None), None)
