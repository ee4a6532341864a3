"""This machine's Python as files for a guest: what a worker needs, found by importing it once and looking at what that opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from sojourn.errors import LabError
from sojourn.lab import guest_main
from sojourn.lab.guest_parts import WHAT

LIMIT_S = 60.0
ASK = """
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import json, os, signal, time, sojourn.lab.guest_main
from sojourn import _native
mapped = {line.split(None, 5)[-1].strip() for line in open("/proc/self/maps") if "/" in line}
loaded = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
print(json.dumps({"files": sorted(mapped | loaded - {None}), "path": sys.path[1:]}))
"""
LINKER = "/lib64/ld-linux-x86-64.so.2"


def python_files(modules: list[str]) -> tuple[dict[str, tuple[bytes, int]], list[str]]:
    """Path → content and mode of the interpreter, its libraries and the sources of `modules` with all that they import, at the places
    that they have here; and the path of modules to set.

    Raises:
        LabError: they cannot be imported.
    """
    asked = subprocess.run(
        [sys.executable, "-c", ASK, *modules], capture_output=True, text=True, check=False, timeout=LIMIT_S
    )
    if asked.returncode:
        raise LabError(asked.stderr.strip().splitlines()[-1], WHAT, "install what it names")
    found = json.loads(asked.stdout)
    files = {path: Path(path) for path in found["files"] if Path(path).is_file()}
    if Path(LINKER).exists():
        files[LINKER] = Path(LINKER)
    for library in [path for path in files if "/lib/x86_64-linux-gnu/" in path]:
        for name in names_of(Path(library)):
            files[f"/lib/x86_64-linux-gnu/{name}"] = Path(library)  # where the linker looks
    files[guest_main.__file__] = Path(guest_main.__file__)
    packed = {
        path.lstrip("/"): (file.read_bytes(), 0o755 if os.access(file, os.X_OK) else 0o644)
        for path, file in files.items()
    }
    return packed, found["path"]


def names_of(library: Path) -> set[str]:
    """Its own name, and those of the links to it beside it: programs ask for libz.so.1, and mapped is libz.so.1.2.13."""
    stem = library.name.partition(".so")[0]
    links = library.parent.glob(f"{stem}.so*")
    return {library.name, *(link.name for link in links if link.resolve() == library.resolve())}


def interpreter() -> str:
    """Where the interpreter itself is, behind the links of a virtual environment."""
    return os.path.realpath(sys.executable)
