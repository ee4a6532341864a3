"""A row of the table of speeds: what is done, by which tools in turn, and what is wanted; and processes, measured."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

BENCHES = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
SOJOURN = (PYTHON, "-m", "sojourn")
OURS = "sojourn"
Figures: TypeAlias = "dict[str, float]"  # its name ends in its unit → what was measured
GOOD = (0, 3, 7)  # an answer, one that is `no`, a run that is not valid


@dataclass(frozen=True)
class Wanted:
    """At most so much of a figure; so many times that of the tool `beside`, where one is named."""

    most: float
    beside: str = ""


@dataclass(frozen=True)
class Row:
    """`tools`: the first is ours. `rounds`: at most so many, where one takes long. `warm`: once before, and not counted."""

    about: str
    tools: Mapping[str, Callable[[], Figures]]
    wanted: Mapping[str, Wanted] = field(default_factory=dict)
    warm: bool = False
    rounds: int = 1000


Prepared: TypeAlias = "Callable[[Path], AbstractContextManager[Row]]"  # an empty folder of its own → the row


def used(words: Sequence[str | Path], good: Sequence[int] = GOOD) -> Figures:
    """CPU time of a process and of those that it waited for, and its largest resident memory. One smaller than this process is not
    seen: until `exec` it is a copy of it."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    null = subprocess.DEVNULL
    process = subprocess.Popen([str(word) for word in words], stdout=null, stderr=null, env=environment)
    _, status, spent = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in good:
        raise subprocess.CalledProcessError(process.returncode, str(words[0]))
    return {"cpu_s": spent.ru_utime + spent.ru_stime, "peak_mib": spent.ru_maxrss / 1024}


def numbers(words: Sequence[str | Path]) -> list[float]:
    """The numbers that a process prints on its last line."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
    return [float(word) for word in done.stdout.splitlines()[-1].split()]


def compiled(folder: Path, source: str, *options: str) -> Path:
    """A bare program of another bench, by `cc`."""
    program = folder / Path(source).stem
    subprocess.run(["cc", *options, "-o", program, BENCHES / source, "-lm"], check=True)
    return program


def bench(name: str) -> ModuleType:
    """A module of another bench, such as `open/rates`, with its neighbours."""
    file = BENCHES / name
    sys.path.insert(0, str(file.parent))
    try:
        return importlib.import_module(file.name)
    finally:
        sys.path.remove(str(file.parent))
