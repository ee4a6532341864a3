"""`--output-format`: how a command prints what it found. `--json` is short for `--output-format json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from sojourn.errors import InputError

FORMATS = ("table", "json", "csv")
Format = Annotated[str, typer.Option("--output-format", help="table, json or csv")]


@dataclass(frozen=True)
class OutputFormat:
    """How results are printed: a table, the summary as one JSON object, or the Metrics as CSV."""

    as_json: bool = False
    as_csv: bool = False


def output_format(name: str, as_json: bool) -> OutputFormat:
    """The format that the two options ask for.

    Raises:
        InputError: no such format, or csv together with --json.
    """
    if name not in FORMATS:
        raise InputError(repr(name), "--output-format", f"use one of {', '.join(FORMATS)}")
    if as_json and name == "csv":
        raise InputError("--json and --output-format csv", "output", "choose one")
    return OutputFormat(as_json or name == "json", name == "csv")
