"""A load run with a live view, its summary printed, its verdict as exit code."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import typer

from sojourn.cli.live import live
from sojourn.cli.load_table import show
from sojourn.cli.output import console
from sojourn.errors import LoadError, ServiceError
from sojourn.measure.folder import RunFolder


def perform(config: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """Runs the load with a live view, and prints its summary, cut off or not.

    Raises:
        LoadError, ServiceError: for a run that is not valid.
    """
    from sojourn.measure.run import execute

    where = Path(tempfile.mkdtemp(prefix="sojourn-load-")) / "run" if out is None else out
    try:
        with live("load") as view:
            execute(where, config, what={"name": where.name}, progress=view)
    except KeyboardInterrupt:
        if (summary := summary_of(where)) is not None:
            tell(summary, as_json)
        raise
    else:
        summary = summary_of(where)
    finally:
        if out is None:
            shutil.rmtree(where.parent, ignore_errors=True)
    assert summary is not None, "a run that ended without an error has a summary"
    tell(summary, as_json)
    end(summary)


def summary_of(where: Path) -> dict[str, Any] | None:
    """What the generator said at its end, with the verdict of the run; None if it had not begun."""
    if not (where / "manifest.json").exists():
        return None
    manifest = RunFolder.open(where).manifest
    generator = manifest.get("generator")
    return generator and generator | {key: manifest[key] for key in ("valid", "reasons", "status")}


def tell(summary: dict[str, Any], as_json: bool) -> None:
    """Prints the summary as one JSON object or as a table."""
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        show(summary, console())


def end(summary: dict[str, Any]) -> None:
    """Ends with the exit code of an invalid run: 3 if the generator was the bottleneck, 5 if the service failed.

    Raises:
        LoadError, ServiceError: for those two.
    """
    for reason in summary["reasons"]:
        if "generator" in reason:
            raise LoadError(reason, "load", "the figures above are not the service's")
        if "failed" in reason:
            raise ServiceError(reason, "load", "see the failures above")
