"""Who holds the lease on settings that the service itself does not lease: a process beside the controller, which outlives it.

    python -m sojourn.live_service.lease_keeper PLAN     the file with what is leased, and the safe settings (restore_plan.py)

The kernel keeps cores and interrupt steering as they were set for ever, and a user's command does so, too; so a small process holds the
lease: it makes the settings, and puts the safe ones back when the lease is not renewed, whatever became of the controller
(docs/decisions/0027). It answers as the web shop's control socket does, at an abstract Unix socket named after what is
leased, which is gone with it, and of which there is one. It ends when nobody has a lease. One that is killed and started again goes on
with the lease that its plan tells.
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

from sojourn.errors import LabError, SojournError
from sojourn.files.reading import parse_json
from sojourn.live_service.control_socket import peer
from sojourn.live_service.leased_settings import LeasedSettings, address, made
from sojourn.live_service.restore_plan import RestorePlan

IDLE_S = 10.0  # without a lease
RETRY_S = 5.0  # where the safe settings could not be put back
MOST_TRIES = 120
LINE_BYTES = 4096
ANSWER_S = 0.5  # for one command to come
SERVICE_GONE, THERE_IS_ONE = 2, 3  # exit codes


class LeaseKeeper:
    """The lease on one service's settings, as the plan tells: what is set is written down there first."""

    def __init__(self, leased: LeasedSettings, plan: RestorePlan) -> None:
        self.leased, self.plan = leased, plan
        self.holder = plan.holder
        self.tries = 0
        self.until_s = plan.until_s if self.holder else time.monotonic() + IDLE_S

    def answer(self, line: bytes) -> dict[str, Any]:
        """To one command."""
        try:
            command = parse_json(line)
            what = command["do"]
            if what != "read":
                self._obey(what, command)
            return {"holder": self.holder, **({"settings": self.leased.read()} if what == "read" else {})}
        except (LabError, PermissionError) as error:
            return {"error": str(error)}
        except (ValueError, KeyError, TypeError) as error:
            return {"error": f"not a command: {error}"}

    def _obey(self, what: str, command: dict[str, Any]) -> None:
        holder = str(command["holder"])
        if self.holder not in (None, holder):
            raise PermissionError(f"held by {self.holder}")
        if what == "set":
            lease_s = min(max(float(command["lease_s"]), 0.1), 600.0)
            # before anything is set: whatever happens then, it is put back
            self.holder, self.until_s = holder, time.monotonic() + lease_s
            self.tries = 0
            self._write_down()
            self.leased.set({name: command[name] for name in self.leased.names if name in command})
            self.until_s = time.monotonic() + lease_s  # a slow command must not use the lease up
            self._write_down()
        elif what == "release":
            self.put_back("released")
        else:
            raise ValueError(what)

    def put_back(self, why: str) -> None:
        """The safe settings; told in the log where the controller may no longer be able to. LabError: not all of them; the lease stays,
        and it is tried again, `MOST_TRIES` times."""
        failed = self.leased.restore()
        self.tries += 1
        if self.holder is not None and (why != "released" or failed) and (not failed or self.tries in (1, MOST_TRIES)):
            self._tell(why, failed)
        if failed and self.tries < MOST_TRIES:
            self.until_s = time.monotonic() + RETRY_S
        else:
            self.holder, self.until_s = None, time.monotonic() + IDLE_S
        if not failed:
            self.plan.remove()
        if failed:
            raise LabError("; ".join(failed), self.leased.key(), "restore them by hand")

    def _write_down(self) -> None:
        self.plan.holder, self.plan.until_s = self.holder, self.until_s
        self.plan.write()

    def _tell(self, why: str, failed: list[str]) -> None:
        wall_clock = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        row = {"event": "keeper", "wall_clock": wall_clock, "why": why, "put_back": not failed, "failed": failed}
        with suppress(OSError):
            if self.plan.log is not None:
                with open(self.plan.log, "a", encoding="utf-8") as log:
                    log.write(json.dumps(row) + "\n")


def serve(listener: socket.socket, keeper: LeaseKeeper) -> None:
    """Until nobody has a lease; one command at a time, which takes at most ANSWER_S to come."""
    while True:
        left_s = keeper.until_s - time.monotonic()
        if left_s <= 0:
            if keeper.holder is None:
                return
            with suppress(LabError):
                keeper.put_back("the lease ran out")
            if keeper.holder is None:
                return
            continue
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
    plan = RestorePlan.read(Path(sys.argv[1]))
    os.environ.update(plan.environment)
    try:
        leased = made(plan.kind, plan.told)
    except SojournError:
        plan.restore()  # what is left of a service that has ended
        return SERVICE_GONE
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(address(plan.key))
    except OSError:
        return THERE_IS_ONE
    listener.listen()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sys.stdout.write("ready\n")
    sys.stdout.close()
    keeper = LeaseKeeper(leased, plan)
    try:
        serve(listener, keeper)
    finally:
        if keeper.holder is not None:
            keeper.put_back("the keeper was ended")
        elif plan.holder is None:
            plan.remove()  # nothing was set
    return 0


if __name__ == "__main__":
    os.close(2)
    os.open(os.devnull, os.O_WRONLY)  # nobody is there to read it
    sys.exit(main())
