"""Installed programs and folders as files for a guest, at the places that they have here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from sojourn.errors import LabError
from sojourn.lab.guest_parts import WHAT

LIMIT_S = 20.0
Files: TypeAlias = Mapping[str, tuple[bytes, int]]


def program_files(program: Path) -> Files:
    """An installed program with the libraries that its linker loads (ldd(1)); path without a leading / → content and mode.

    Raises:
        LabError: it cannot be read, or lacks a library.
    """
    told = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False, timeout=LIMIT_S)
    lines = told.stdout.splitlines()
    if told.returncode or any("not found" in line for line in lines):
        lacks = next((line.strip() for line in lines if "not found" in line), told.stderr.strip())
        raise LabError(lacks, f"{WHAT}: {program}", "install the package that has it")
    libraries = {word for line in lines for word in line.split() if word.startswith("/")}
    return {path.lstrip("/"): (Path(path).read_bytes(), 0o755) for path in sorted({*libraries, str(program)})}


def folder_files(folder: Path, there: Path) -> tuple[Files, list[str]]:
    """All ordinary files below `folder` for the place `there` of a guest, and those of its folders that have none: an archive makes
    the others."""
    files: dict[str, tuple[bytes, int]] = {}
    empty: list[str] = []
    for above, _, names in os.walk(folder):
        inside = there / Path(above).relative_to(folder)
        paths = [Path(above, name) for name in names]
        own = {str(inside / one.name).lstrip("/"): (one.read_bytes(), 0o600) for one in paths if one.is_file()}
        files |= own
        empty += [] if own else [str(inside)]
    return files, sorted(empty)
