"""Files that somebody else wrote, read within limits: how large, how deep, of which kind, before a parser sees them.

A parser of TOML or JSON calls itself for each level, so depth is counted first, without calls. What is too large, too deep, or no plain
file is the usual error, with place and remedy. Limits: docs/explain/security.md.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from sojourn.errors import InputError

MIB = 1 << 20
MOST_TEXT_BYTES = 4 * MIB  # TOML, queries, matrices
MOST_JSON_BYTES = 64 * MIB  # a manifest
MOST_TABLE_BYTES = 256 * MIB  # CSV, JSON lines, histograms: series of hours
MOST_LOG_BYTES = 4096 * MIB  # records of a run that was cut off
MOST_LINE_BYTES = 16 * MIB
MOST_DEEP = 64  # tables and lists in each other; parts of a dotted key
WHOLE = range(-(2**63), 2**63)  # what TOML calls an integer
KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket",
}  # fmt: skip
# strings whole, so that what is in them does not count; one that does not end goes on to the end, so that nothing is looked at twice
TOML = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5})?|' + r"'''(?:[^']|'(?!''))*+(?:'{3,5})?|"
    r'"(?:[^"\\\n]|\\.)*+"?|' + r"'[^'\n]*+'?|#[^\n]*+|[][{}.,=\n]",
    re.S,
)
JSON = re.compile(r'"(?:[^"\\]|\\.)*+"?|[][{}]', re.S)


def opened(
    path: Path | str, remedy: str, most_bytes: int, *, error: type[InputError] = InputError, pipes: bool = False
) -> BufferedReader:
    """The file, open for reading; `pipes`: a pipe and a terminal will do too. InputError (`error`) for what is no plain file, or larger."""
    try:
        # a pipe without a writer would hold up the opening: without the flag only where a pipe is meant
        flags = os.O_RDONLY | os.O_CLOEXEC | (0 if pipes else os.O_NONBLOCK)
        known = Path(path).stat()
        if (wrong := _wrong(known, pipes)) and not (pipes and _is_terminal(path)):
            raise error(f"{wrong}, no file", path, remedy)
        if known.st_size > most_bytes:
            raise _too_large(path, most_bytes, remedy, error)
        return open(os.open(path, flags), "rb")
    except OSError as failed:
        raise error(failed.strerror or str(failed), path, remedy) from None
    except ValueError as failed:  # a zero byte in the path
        if isinstance(failed, InputError):
            raise
        raise error(str(failed), repr(str(path)), remedy) from None


def _wrong(found: os.stat_result, pipes: bool) -> str | None:
    kind = stat.S_IFMT(found.st_mode)
    return None if kind == stat.S_IFREG or (pipes and kind == stat.S_IFIFO) else KINDS.get(kind, "something else")


def _is_terminal(path: Path | str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.isatty()
    except OSError:
        return False


def _too_large(path: Path | str, most_bytes: int, remedy: str, error: type[InputError]) -> InputError:
    return error(f"more than {most_bytes // MIB} MiB", path, f"it is not such a file, or too large: {remedy}")


def read_bytes(
    path: Path | str,
    remedy: str,
    *,
    most_bytes: int = MOST_TEXT_BYTES,
    error: type[InputError] = InputError,
    pipes: bool = False,
) -> bytes:
    """All of a file. `remedy`: what to give instead. InputError (`error`) for none, no plain file, or one of more bytes."""
    with opened(path, remedy, most_bytes, error=error, pipes=pipes) as file:
        try:
            held = file.read(most_bytes + 1)
        except OSError as failed:
            raise error(failed.strerror or str(failed), path, remedy) from None
    if len(held) > most_bytes:
        raise _too_large(path, most_bytes, remedy, error)
    return held


def read_text(
    path: Path | str,
    remedy: str,
    *,
    most_bytes: int = MOST_TEXT_BYTES,
    error: type[InputError] = InputError,
    pipes: bool = False,
) -> str:
    """The same of a text in UTF-8, with the ends of its lines as `\\n`."""
    try:
        held = read_bytes(path, remedy, most_bytes=most_bytes, error=error, pipes=pipes).decode()
    except UnicodeDecodeError as failed:
        raise error(f"not UTF-8 ({failed.reason})", path, remedy) from None
    return held.replace("\r\n", "\n").replace("\r", "\n") if "\r" in held else held


def read_lines(path: Path | str, remedy: str, *, error: type[InputError] = InputError) -> Iterator[str]:
    """The lines of a text, one by one, without their ends, so that a long record does not stand in memory twice."""
    with opened(path, remedy, MOST_LOG_BYTES, error=error) as file:
        number = 0
        while line := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            if len(line) > MOST_LINE_BYTES:
                raise error(f"a line of more than {MOST_LINE_BYTES // MIB} MiB", f"{path}:{number}", remedy)
            yield line.decode(errors="replace").rstrip("\r\n")


def read_toml(path: Path | str, remedy: str, *, error: type[InputError] = InputError) -> tuple[dict[str, Any], str]:
    """What a TOML file says, and its text. `remedy`: what to give instead. InputError (`error`) with file and line."""
    text = read_text(path, remedy, error=error, pipes=True)
    return parse_toml(text, path, error=error), text


def parse_toml(text: str, place: Path | str, *, error: type[InputError] = InputError) -> dict[str, Any]:
    """What a TOML text says; `place` stands for its file. InputError (`error`) with the line."""
    if line := _too_deep(text):
        raise error(f"tables, lists or keys of more than {MOST_DEEP} levels", f"{place}:{line}", "write it flatter")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as failed:  # also a number of too many digits
        found = re.search(r"line (\d+)", str(failed))
        line = int(found[1]) if found else 1 + text.count("\n")
        raise error(
            f"not TOML: {failed}", f"{place}:{line}", "correct the line; each table and key may occur only once"
        ) from None
    _check_values(data, place, error)
    return data


def _too_deep(text: str) -> int:
    """The line, from 1, where brackets or the parts of a key are too many; 0 where they are not."""
    depth = parts = 0
    for token in TOML.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth, parts = depth + 1, 0
        elif first in "]}":
            depth, parts = max(depth - 1, 0), 0
        elif first in ",=\n":
            parts = 0
        elif first == ".":
            parts += 1
        if depth > MOST_DEEP or parts >= MOST_DEEP:
            return 1 + text.count("\n", 0, token.start())
    return 0


def _check_values(data: Mapping[str, Any], place: Path | str, error: type[InputError]) -> None:
    """Integers as TOML has them; no deeper than one may write it in brackets, with dotted keys in each other."""
    left: list[tuple[Any, tuple[Any, ...]]] = [(data, ())]
    while left:
        value, key = left.pop()
        if isinstance(value, int) and value not in WHOLE:
            raise error(f"{value:.3g}" if value.bit_length() < 1000 else "an integer of more than 300 digits",
                        f"{place}: {'.'.join(map(str, key))}", "give a whole number of 64 bits: less than 9.2e18")  # fmt: skip
        if len(key) > MOST_DEEP:
            raise error(
                f"tables, lists or keys of more than {MOST_DEEP} levels", f"{place}: {key[0]}", "write it flatter"
            )
        if isinstance(value, Mapping):
            left += [(inner, (*key, name)) for name, inner in value.items()]
        elif isinstance(value, list):
            left += [
                (inner, (*key, number)) for number, inner in enumerate(value) if not isinstance(inner, float | str)
            ]


def parse_json(text: str | bytes, most_deep: int = MOST_DEEP) -> Any:
    """What a JSON text says. json.JSONDecodeError, which is a ValueError, for what is none, or nested deeper than `most_deep`."""
    held = text.decode(errors="replace") if isinstance(text, bytes) else text
    if held.count("[") + held.count("{") > most_deep:
        depth = 0
        for token in JSON.finditer(held):
            depth += (token[0] in "[{") - (token[0] in "]}")
            if depth > most_deep:
                raise json.JSONDecodeError(f"nested more than {most_deep} levels deep", held, token.start())
    return json.loads(held)


def read_json(path: Path | str, remedy: str, *, error: type[InputError] = InputError) -> Any:
    """What a JSON file says. `remedy`: what to give instead. InputError (`error`) with file and line."""
    text = read_text(path, remedy, most_bytes=MOST_JSON_BYTES, error=error)
    try:
        return parse_json(text)
    except json.JSONDecodeError as failed:
        raise error(f"not JSON: {failed.msg}", f"{path}:{failed.lineno}", remedy) from None
    except ValueError as failed:  # a number of too many digits
        raise error(f"not JSON: {str(failed)[:80]}", path, remedy) from None
