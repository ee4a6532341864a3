"""Where the verbs print: tables keep their shape on a pipe, too."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from sojourn.errors import InputError
from sojourn.files.writing import followed, in_place
from sojourn.narrow_tables import WidthAwareTable
from sojourn.terminal import SafeConsole, say

if TYPE_CHECKING:
    from sojourn.table import Metrics

PIPE_WIDTH = 140


def console() -> Console:
    """Standard output; as wide as the terminal, or 140 columns where there is none."""
    plain = SafeConsole()
    return plain if plain.is_terminal else SafeConsole(width=PIPE_WIDTH)


def print_table(table: Table) -> None:
    """As wide as there is room for."""
    console().print(WidthAwareTable(table))


def check_writable(path: Path, option: str = "--out") -> None:
    """InputError for a file that cannot be written, before the work whose result it is to hold."""
    try:
        target = followed(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", option, "give a file that can be written") from None
    there = target if in_place(target) else next(p for p in target.parents if p.exists())
    found = (
        f"{path} is a folder"
        if path.is_dir()
        else f"{there} is no folder"
        if there != target and not there.is_dir()
        else ""
    )
    if not found and not os.access(there, os.W_OK):
        found = f"no right to write {there}"
    if found:
        raise InputError(found, option, "give a file that can be written")


def check_new(path: Path, force: bool, option: str = "--out") -> None:
    """InputError for a file that cannot be written, and for one that is there, where nobody said that it may go."""
    check_writable(path, option)
    if not force and path.exists() and not in_place(followed(path)):
        raise InputError(f"{path} is there already", option, f"give another {option}, or --overwrite to write over it")


def finite(value: Any) -> Any:
    """The same for JSON, which knows no infinity: null, as where there is no number."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show(result: Metrics, head: str, as_csv: bool) -> None:
    """All rows as CSV, or for a person `head`, a table and what the method has to say."""
    if as_csv:
        say(result.frame.write_csv(), end="")
    else:
        out = console()
        out.print(f"{head}, {result.status}", style="bold", markup=False, highlight=False)
        out.print(result)
        for line in result.message.splitlines():
            out.print(line, style="dim", markup=False, highlight=False)
