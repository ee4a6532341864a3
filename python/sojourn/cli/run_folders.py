"""Run folders as the verbs are given them; what is passed over is said."""

from __future__ import annotations

from pathlib import Path

from sojourn.terminal import say


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
