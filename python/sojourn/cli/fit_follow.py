"""`sojourn fit --track-demand FOLDER --model mmm`: the demand of a service while it runs, and whether what was fitted is stale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.terminal import say
from sojourn.units import quantity

# of an earlier fit: its demand, and how far it was validated; of a run folder: the servers of its service, the length of a window
KNOWN = {"demand_s", "scv", "most_per_s", "most_utilisation", "workers", "window_s"}


def follow_log(folders: Sequence[Path], model: str, given: Mapping[str, Any], level: float) -> None:
    """Prints a line a window, until the log ends or Ctrl-C."""
    from sojourn.control import follow
    from sojourn.control.estimation import ValidatedRange

    if model != "mmm":
        raise InputError(
            f"--model {model}", "--track-demand", "use --model mmm: --track-demand estimates the demand of one class"
        )
    if len(folders) != 1:
        raise InputError(
            f"{len(folders)} folders", "--track-demand", "give one: a run folder, or one that sojourn control writes"
        )
    if unknown := set(given) - KNOWN:
        raise InputError(sorted(unknown)[0], "--set", f"give one of {', '.join(sorted(KNOWN))}")
    if not 0 < level < 1:
        raise InputError(level, "--level", "give one between 0 and 1")
    for name, value in given.items():
        if not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise InputError(f"{name}={value}", "--set", "give a number > 0")
    validated = ValidatedRange(given.get("most_per_s"), given.get("most_utilisation"))
    alarms, off = 0, False
    try:
        windows = follow(
            _run_folder(folders[0]), given.get("demand_s"), scv=float(given.get("scv", 1.0)), validated=validated,
            workers=None if "workers" not in given else int(given["workers"]), window_s=float(given.get("window_s", 2.0)),
        )  # fmt: skip
        for now in windows:
            value, low, high = (quantity(s, "s") for s in now.interval_s(level))
            changed = (
                "; the demand has changed: the fit is out of date"
                if now.estimate.alarms > alarms or now.off > off
                else ""
            )
            alarms, off = now.estimate.alarms, now.off or off
            say(f"{now.at_s:.1f} s: {value} a request ({low} … {high}), {now.status}{changed}")
    except KeyboardInterrupt:
        pass


def _run_folder(folder: Path) -> Path:
    """The newest run folder inside, where there are some and this is none."""
    inside = sorted(folder.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime)
    is_one = (folder / "manifest.json").exists() or not folder.is_dir() or not inside
    return folder if is_one else inside[-1].parent
