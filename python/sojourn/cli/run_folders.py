"""Run folders as the verbs are given them; what is passed over is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.runs.manifest import Manifest


def run_paths(paths: list[Path]) -> list[Path]:
    """The run folders among and below `paths`; each folder with records and no manifest is told on standard error.

    Raises:
        RunFolderError: there is no run folder.
    """
    from sojourn.runs.run_folder import run_folders, without_manifest

    found = run_folders(paths)
    for line in without_manifest(paths):
        say(f"left out: {line}", err=True)
    return found


def two_class_paths(paths: list[Path]) -> list[Path]:
    """Those that the two-class model can be fitted to; each of the others is told on standard error.

    Raises:
        RunFolderError: there is no run folder.
    """
    from sojourn.runs.run_folder import RunFolder

    found = []
    for path in run_paths(paths):
        if why := _why_not(RunFolder.open(path).manifest):
            say(f"left out: {path}: {why}", err=True)
        else:
            found.append(path)
    return found


def _why_not(manifest: Manifest) -> str:
    if any(lane.get("closed") for lane in manifest.get("load", {}).get("lanes", [])):
        return "its rate is not known, as its users come back"
    factors = manifest.get("factors", {})
    demands = [factors[name] for name in ("interrupt_s", "page_s") if name in factors]
    return "its requests were given no work" if demands and not any(demands) else ""
