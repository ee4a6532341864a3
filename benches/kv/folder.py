"""Where results go, and what is said of the machine."""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path

from sojourn.testbed.memcached import version

HERE = Path(__file__).resolve().parent


def new_folder(bench: str, suffix: str = "") -> Path:
    """benches/kv/BENCH/DATE with what the machine is."""
    folder = HERE / bench / (time.strftime("%Y-%m-%d") + suffix)
    folder.mkdir(parents=True, exist_ok=True)
    machine = {"kernel": platform.release(), "cores": os.cpu_count(), "memcached": version()}
    (folder / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")
    return folder
