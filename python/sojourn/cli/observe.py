"""`sojourn observe requests.csv cpu.csv --out runs/week`: hours of a service as runs, without a load test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.set_option import settings
from sojourn.errors import InputError
from sojourn.terminal import say
from sojourn.units import duration_s, number

if TYPE_CHECKING:
    from sojourn.observe import Observation


def observe(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="CSV files: request logs (arrival_s,response_s,class) and utilisation series (end_s,cpu); which is which their columns say"
        ),
    ],
    out: Annotated[Path, typer.Option(help="the folder to write the windows to, as run folders, and a first model")],
    window: Annotated[str, typer.Option(help="how long a window is")] = "60s",
    begin: Annotated[
        str, typer.Option("--from", help="where to begin: 10m after the first request, or -7d: before the last")
    ] = "",
    end: Annotated[
        str, typer.Option("--to", help="where to end: 30m after the first request, or -1h: before the last")
    ] = "",
    cores: Annotated[
        str, typer.Option(help="cores or servers of a resource, where there are several: cpu=4,db=2")
    ] = "",
) -> None:
    """Turns logs and metrics you already have into runs.

    Each window becomes a run folder with its rates, response times and utilisations; model.toml is a first model of them.
    """
    from sojourn.observe import observe_files

    _check_out(out)
    capacity = {name: number(value, "--cores") for name, value in settings(cores, "--cores").items()}
    seen = observe_files(
        [Path(one) for one in sources],
        window_s=duration_s(window, "--window"),
        start_s=_instant(begin, "--from"),
        end_s=_instant(end, "--to"),
        capacity=capacity,
    )
    _write(seen, out)


def _check_out(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is there already, and is no empty folder", "--out", "give another --out")


def _instant(text: str, place: str) -> float | None:
    """Seconds from the beginning, or, negative, before the end; None where nothing was said."""
    if not text:
        return None
    return -duration_s(text[1:], place) if text.startswith("-") else duration_s(text, place)


def _write(seen: Observation, out: Path) -> None:
    from sojourn.observe.observe_files import MODEL

    folders = seen.write(out)
    first, last = folders[0].name, folders[-1].name
    say(f"{len(folders)} windows of {seen.windows[0].length_s:g} s, {first} to {last}, in {out}")
    for note in seen.notes:
        say(f"- {note}")
    say(f"next: sojourn fit {out} --model {out / MODEL}" if seen.model else f"next: sojourn fit {out}")
