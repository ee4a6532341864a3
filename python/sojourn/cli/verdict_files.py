"""`--markdown`, `--junit` and `--html`: an answer for a pull request, for a test reporter and for a browser; and how it is printed."""

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
Html: TypeAlias = Annotated[Path | None, typer.Option(help="also write the answer as an HTML file with a figure")]


def check_files(markdown: Path | None, junit: Path | None, html: Path | None = None) -> None:
    """Before anything is measured. Raises InputError for one path for two of them, or a path that cannot be written."""
    options = {"--markdown": markdown, "--junit": junit, "--html": html}
    given = {option: path for option, path in options.items() if path is not None}
    if len({path.resolve() for path in given.values()}) < len(given):
        *_, last = given.values()
        raise InputError(str(last), ", ".join(given), f"give {'two' if len(given) == 2 else 'three'} files")
    for option, path in given.items():
        check_writable(path, option)


def write_files(
    verb: str,
    document: Document,
    cases: Sequence[JunitCase],
    markdown: Path | None,
    junit: Path | None,
    html: Path | None = None,
) -> None:
    """Those that were asked for."""
    from sojourn.report import write_html, write_junit, write_markdown

    if markdown is not None:
        write_markdown(document, markdown)
    if junit is not None:
        write_junit(f"sojourn {verb}", cases, junit)
    if html is not None:
        write_html(document, html)


def print_lines(lines: Sequence[str], bold: bool = False) -> None:
    """As they are: no markup, no line is cut."""
    for line in lines:
        console().print(line, style="bold" if bold else None, markup=False, highlight=False, soft_wrap=True)
