"""`--markdown` and `--junit`: an answer for a pull request, and for a test reporter; and how it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from sojourn.cli.console import check_writable, console
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.report import Document, JunitCase

Markdown: TypeAlias = Annotated[Path | None, typer.Option(help="also write the answer as Markdown, for a pull request")]
Junit: TypeAlias = Annotated[Path | None, typer.Option(help="also write the verdict as JUnit XML, for a test reporter")]


def check_files(markdown: Path | None, junit: Path | None) -> None:
    """Before anything is measured. Raises InputError for one path for both, or a path that cannot be written."""
    if markdown is not None and junit is not None and markdown.resolve() == junit.resolve():
        raise InputError(str(junit), "--markdown, --junit", "give two files")
    for path, option in ((markdown, "--markdown"), (junit, "--junit")):
        if path is not None:
            check_writable(path, option)


def write_files(
    verb: str, document: Document, cases: Sequence[JunitCase], markdown: Path | None, junit: Path | None
) -> None:
    """Those that were asked for."""
    from sojourn.report import write_junit, write_markdown

    if markdown is not None:
        write_markdown(document, markdown)
    if junit is not None:
        write_junit(f"sojourn {verb}", cases, junit)


def print_lines(lines: Sequence[str], bold: bool = False) -> None:
    """As they are: no markup, no line is cut."""
    for line in lines:
        console().print(line, style="bold" if bold else None, markup=False, highlight=False, soft_wrap=True)
