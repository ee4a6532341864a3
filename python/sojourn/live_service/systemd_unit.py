"""A process that systemd starts, and starts again when it is killed: it outlives us, our session and our control group."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sojourn.errors import LabError

BOOTED = Path("/run/systemd/system")  # there where systemd is the system's manager: sd_booted(3)
STARTED_S = 10.0
KEPT = ("PYTHONPATH", "XDG_RUNTIME_DIR", "TMPDIR")  # where the package, and the files of this user, are


def systemd_run() -> list[str]:
    """The program and whose manager it is to ask, root's or this user's; empty where none runs."""
    program = shutil.which("systemd-run")
    if program is None:
        return []
    if os.geteuid() == 0:
        return [program] if BOOTED.is_dir() else []
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return [program, "--user"] if runtime and Path(runtime, "systemd").is_dir() else []


def start_unit(unit: str, words: Sequence[str], final_codes: Sequence[int]) -> None:
    """Starts `words` as a transient unit, which is started again unless it ends with 0 or one of `final_codes` (systemd.service(5)).

    Raises:
        LabError: systemd did not take it.
    """
    properties = (
        "Restart=on-failure", "RestartSec=100ms", "StartLimitIntervalSec=0",
        f"RestartPreventExitStatus={' '.join(map(str, final_codes))}",
    )  # fmt: skip
    environment = [f"--setenv={name}={os.environ[name]}" for name in KEPT if name in os.environ]
    command = [
        *systemd_run(), f"--unit={unit}", "--collect", "--quiet", *(f"--property={one}" for one in properties),
        *environment, "--", *words,
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=STARTED_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(str(error), "systemd-run", "see journalctl") from None
    if done.returncode:
        said = done.stderr.strip()[-200:] or f"ended with {done.returncode}"
        raise LabError(said, "systemd-run", "see journalctl")
