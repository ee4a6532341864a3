"""Who holds the lease on cores and interrupt steering: a process beside the controller, which outlives it.

    python -m sojourn.control.lease_keeper PID      the safe settings as JSON on standard input

The kernel keeps what is set for ever, and the service does not know of it; so a small process holds the lease: it makes the settings,
and puts the safe ones back when the lease is not renewed, whatever became of the controller (docs/decisions/0027). It answers as the
web testbed's control socket does, at an abstract Unix socket named after the service's process, which is gone with it, and of
which there is one. It ends when nobody has a lease.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.control.live_actuator import peer
from sojourn.errors import LabError
from sojourn.lab.service_placement import PlacementState, ServicePlacement

IDLE_S = 10.0  # without a lease
LINE_BYTES = 4096
ANSWER_S = 0.5  # for one command to come


def address(placement: ServicePlacement) -> str:
    """Of the keeper of this process: a number of a process comes again, with another time of start."""
    return f"\0sojourn-keeper-{placement.pid}-{placement.started}"


class LeaseKeeper:
    """The lease on one service's cores and steering."""

    def __init__(self, placement: ServicePlacement, log: Path | None) -> None:
        self.placement, self.log = placement, log
        self.holder: str | None = None
        self.until_s = time.monotonic() + IDLE_S

    def answer(self, line: bytes) -> dict[str, Any]:
        """To one command."""
        try:
            command = json.loads(line)
            what = command["do"]
            if what != "read":
                self._obey(what, command)
        except (ValueError, KeyError, TypeError) as error:
            return {"error": f"not a command: {error}"}
        except (LabError, PermissionError) as error:
            return {"error": str(error)}
        return {"settings": self.placement.read(), "holder": self.holder}

    def _obey(self, what: str, command: dict[str, Any]) -> None:
        holder = str(command["holder"])
        if self.holder not in (None, holder):
            raise PermissionError(f"held by {self.holder}")
        if what == "set":
            lease_s = min(max(float(command["lease_s"]), 0.1), 600.0)
            # before anything is set: whatever happens then, it is put back
            self.holder, self.until_s = holder, time.monotonic() + lease_s
            self.placement.set({name: command[name] for name in ("cores", "steering") if name in command})
        elif what == "release":
            self.put_back("released")
        else:
            raise ValueError(what)

    def put_back(self, why: str) -> None:
        """The safe settings; told in the log where the controller may no longer be able to."""
        failed = self.placement.restore()
        if self.holder is not None and (why != "released" or failed):
            self._tell(why, failed)
        self.holder, self.until_s = None, time.monotonic() + IDLE_S
        if failed:
            raise LabError("; ".join(failed), f"process {self.placement.pid}", "put them back by hand")

    def _tell(self, why: str, failed: list[str]) -> None:
        wall_clock = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = {"event": "keeper", "wall_clock": wall_clock, "why": why, "put_back": not failed, "failed": failed}
        with suppress(OSError):
            if self.log is not None:
                with open(self.log, "a", encoding="utf-8") as log:
                    log.write(json.dumps(row) + "\n")


def serve(listener: socket.socket, keeper: LeaseKeeper) -> None:
    """Until nobody has a lease; one command at a time, which takes at most ANSWER_S to come."""
    while True:
        left_s = keeper.until_s - time.monotonic()
        if left_s <= 0:
            if keeper.holder is not None:
                keeper.put_back("the lease ran out")
            return
        if not select.select([listener], [], [], left_s)[0]:
            continue
        link, _ = listener.accept()
        with link, suppress(OSError):
            link.settimeout(ANSWER_S)
            if peer(link)[1] not in (0, os.geteuid()):
                continue
            with link.makefile("rb") as lines:
                line = lines.readline(LINE_BYTES)
            if not line:
                continue
            link.sendall(json.dumps(keeper.answer(line)).encode() + b"\n")
            if keeper.holder is None and b'"release"' in line:
                return


def main() -> int:
    given = json.loads(sys.stdin.readline())
    placement = ServicePlacement(int(sys.argv[1]), PlacementState.of(given["safe"]))
    log = Path(given["log"]) if given.get("log") else None
    keeper = LeaseKeeper(placement, log)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(address(placement))
    except OSError:
        return 3  # there is one already
    listener.listen()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sys.stdout.write("ready\n")
    sys.stdout.close()
    try:
        serve(listener, keeper)
    finally:
        if keeper.holder is not None:
            keeper.put_back("the keeper was ended")
    return 0


if __name__ == "__main__":
    os.close(2)
    os.open(os.devnull, os.O_WRONLY)  # nobody is there to read it
    sys.exit(main())
