"""`sojourn fit --follow FOLDER --model mmm`: the demand of a service while it runs, and whether what was fitted is stale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from sojourn.errors import InputError
from sojourn.units import quantity

KNOWN = {
    "demand_s",
    "scv",
    "most_per_s",
    "most_utilisation",
}  # of an earlier fit: its demand, and how far it was validated


def follow_log(folders: Sequence[Path], model: str, given: Mapping[str, Any], level: float) -> None:
    """Prints a line a window, until the log ends or Ctrl-C."""
    from sojourn.control import follow
    from sojourn.control.estimation import ValidatedRange

    if model != "mmm":
        raise InputError(f"--model {model}", "--follow", "give --model mmm: on-line there is one class and its demand")
    if len(folders) != 1:
        raise InputError(f"{len(folders)} folders", "--follow", "give one that sojourn control writes")
    if unknown := set(given) - KNOWN:
        raise InputError(sorted(unknown)[0], "--set", f"give one of {', '.join(sorted(KNOWN))}")
    if not 0 < level < 1:
        raise InputError(level, "--level", "give one between 0 and 1")
    for name, value in given.items():
        if not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise InputError(f"{name}={value}", "--set", "give a number > 0")
    validated = ValidatedRange(given.get("most_per_s"), given.get("most_utilisation"))
    alarms = 0
    try:
        for now in follow(folders[0], given.get("demand_s"), scv=float(given.get("scv", 1.0)), validated=validated):
            value, low, high = (quantity(s, "s") for s in now.interval_s(level))
            changed = "; the demand has changed: what was fitted is stale" if now.estimate.alarms > alarms else ""
            alarms = now.estimate.alarms
            typer.echo(f"{now.at_s:.1f} s: {value} a request ({low} … {high}), {now.status}{changed}")
    except KeyboardInterrupt:
        pass
