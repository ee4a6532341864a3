"""A world of a cell's own: mounts, network and processes of a namespace, so that whatever is left behind is seen, and goes with it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from sojourn.lab.process_tree import ENDED, STATE, parents, stats

IN = "SOJOURN_FAULTS_WORLD"
NAMESPACES = (
    "setpriv",
    "--pdeathsig=KILL",
    "unshare",
    "--mount",
    "--net",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
OWN = ("/tmp", "/run", "/dev/shm")
GROUPS = Path("/sys/fs/cgroup")
REGISTRIES = Path("/run/sojourn")
TOKEN = re.compile("lab-([0-9a-f]{6})")


def entered(words: list[str]) -> list[str]:
    """A command line of this program that runs in a world of its own."""
    return [*NAMESPACES, sys.executable, *words]


def furnish() -> None:
    """Loopback, and empty folders for what is temporary; nobody outside sees them."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for folder in OWN:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "none", folder], check=True)
    Path("/run/netns").mkdir()


class Watch:
    """What was there before a cell; tokens of labs that it made, as they are seen."""

    def __init__(self, own: set[int], cell: Path) -> None:
        self.own, self.cell, self.tokens, self.before = own, cell, set[str](), set[str]()
        self.before = set(self.things())

    def look(self) -> None:
        """Notes the labs that are there now."""
        with suppress(OSError):
            self.tokens |= {found[1] for path in REGISTRIES.iterdir() if (found := TOKEN.match(path.name))}

    def processes(self) -> dict[int, str]:
        """Those of the cell that are left, by their command lines; ended ones are waited for."""
        reap(self.own)
        left = {pid for pid, columns in stats().items() if columns[STATE] not in ENDED} - self.own - {os.getpid()}
        return {pid: line for pid in left if (line := command_line(pid))}

    def things(self) -> list[str]:
        """Files, namespaces, control groups and disks of the cell that are left."""
        temporary = [path for folder in OWN for path in Path(folder).iterdir() if path != self.cell]
        kept = {Path("/run/netns"), Path("/run/mount"), REGISTRIES}  # mount(8) has notes of its own
        found = [str(path) for path in temporary if path not in kept]
        found += [str(path) for path in Path("/run/netns").iterdir()]
        if REGISTRIES.exists():
            found += [str(path) for path in REGISTRIES.iterdir() if path.name != "lock"]
        for token in self.tokens:
            found += [str(path) for path in GROUPS.glob(f"**/sojourn-{token}*")]
        return [thing for thing in found + disks(self.cell) if thing not in self.before]

    def left(self, most_s: float) -> list[str]:
        """What is left when it has had `most_s` to go."""
        deadline = time.monotonic() + most_s
        while (found := [*self.processes().values(), *self.things()]) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found


def reap(own: set[int]) -> None:
    """Waits for orphans that have ended: this process is the first of its namespace, and theirs is it."""
    for pid, columns in stats().items():
        if columns[STATE] in ENDED and pid not in own:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:160]
    return ""


def tree(root: int) -> list[int]:
    """A process and all below it, parents first."""
    above = parents()
    found = [root] if root in above else []
    for pid in found:
        found += sorted(child for child, parent in above.items() if parent == pid)
    return found


def disks(cell: Path) -> list[str]:
    """Loop devices whose file is in the cell."""
    told = subprocess.run(
        ["losetup", "-nl", "-O", "NAME,BACK-FILE"], capture_output=True, text=True, check=False
    ).stdout
    return [line for line in told.splitlines() if str(cell) in line]
