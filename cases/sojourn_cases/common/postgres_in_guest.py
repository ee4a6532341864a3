"""PostgreSQL as the worker of a guest: it runs there, on a cluster that was copied there, and imports little for that reason.

`config`: `program` (postgres), `data` (the cluster's folder), `address`, `folders` that are empty, and where they are given `mounts`
(device, folder and kind of each) and `cpus` that the server may use.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

NOBODY = 65534
READY_S, ENDED_S = 90.0, 15.0
LOOK_S = 0.05
STATUS_LINE = 7  # of postmaster.pid, from 0: "ready" once it takes sessions
BUSYBOX = "/bin/busybox"


def serve(config: dict[str, Any], emit: Any) -> dict[str, Any]:
    """Serves until SIGTERM; which server it was."""
    data = Path(config["data"])
    _folders(data, config)
    if config.get("cpus"):
        os.sched_setaffinity(0, config["cpus"])  # the server inherits it
    server = subprocess.Popen(
        [config["program"], "-D", str(data)], cwd="/", user=NOBODY, group=NOBODY, extra_groups=[],
        env={"LC_ALL": "C", "TZ": "UTC"},
    )  # fmt: skip
    told: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        _await(server, data)
        emit("ready", address=config["address"])
        while not told and server.poll() is None:
            time.sleep(LOOK_S)
    finally:
        server.send_signal(signal.SIGINT)  # a fast shutdown
        server.wait(ENDED_S)
    return {"kind": "postgres", "return_code": server.returncode}


def _folders(data: Path, config: dict[str, Any]) -> None:
    """An archive has no empty folders, and all that it has is root's."""
    for device, folder, kind in config.get("mounts", ()):
        Path(folder).mkdir(parents=True, exist_ok=True)
        subprocess.run([BUSYBOX, "mount", "-t", kind, device, folder], check=True)
    for folder in config["folders"]:
        Path(folder).mkdir(parents=True, exist_ok=True)
    for above, folders, files in os.walk(data):
        for path in (Path(above), *(Path(above, name) for name in (*folders, *files))):
            if path.stat().st_uid != NOBODY:
                os.chown(path, NOBODY, NOBODY)
    data.chmod(0o700)
    os.sync()


def _await(server: subprocess.Popen[bytes], data: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and server.poll() is None:
        try:
            lines = (data / "postmaster.pid").read_text().splitlines()
        except OSError:
            lines = []
        if len(lines) > STATUS_LINE and lines[STATUS_LINE].strip() == "ready":
            return
        time.sleep(LOOK_S)
    raise RuntimeError(f"PostgreSQL did not start: {server.returncode}; see the lines above")
