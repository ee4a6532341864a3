"""Commands under test, each with a mark that all its processes inherit, and what they left on this machine."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sojourn.lab.cleanup_registry import directory
from sojourn.lab.owned_folder import OWNER, owner_of

# A test that others may run beside takes a lock of its own (tests/conftest.py), and one that kills has registries of its own (conftest.py).
OWN = r"""
import os
from pathlib import Path
if own := os.environ.get("SOJOURN_TEST_LOCK"):
    from sojourn.lab import cleanup_registry
    cleanup_registry.MACHINE, cleanup_registry.LOCK = f"\0sojourn-{own}", own
if registries := os.environ.get("SOJOURN_TEST_REGISTRIES"):
    from sojourn.lab import cleanup_registry
    cleanup_registry.places = lambda: [Path(registries)]
"""
MAIN = f"""{OWN}
from sojourn.cli import main
main()
"""
PLAIN = 65534
LAB_TOKEN = re.compile("(?:sojourn|lab)-([0-9a-f]{6})")
BOOKS = re.compile(r"sojourn-\d+(/lock[^/]*)?")

TINY = """
name = "tiny"
title = "A study as short as can be"

[system]
kind = "web"
port = 18180
lab = {{ kind = "{kind}", spinners = {spinners} }}

[load]
for = 1.2
connections = 32

[saturation]
users = 16

[[section]]
name = "bare"
set = {{ interrupt_s = 0.0, page_s = 0.0, rate_per_s = 250 }}

[[section]]
name = "on core 0"
vary.share = [0.2, 0.3, 0.5, 0.6, 0.7]  # a fit wants 3: two may be made invalid by a host that stands still for a while

[fit]
model = "web-models"
level = 0.95

[[predict]]
name = "spread"
set = {{ nics = 0 }}
vary.share = [0.5]

[[analysis]]
name = "two-class"
"""


class Command:
    """One call of the command line in a folder of its own, by root or by a plain user; its output goes to files. `first`: Python that
    its process runs before."""

    def __init__(
        self, folder: Path, *arguments: str | Path, plain: bool = False, before: tuple[str, ...] = (), first: str = ""
    ) -> None:  # fmt: skip
        self.mark = f"SOJOURN_TEST={secrets.token_hex(8)}"
        self.before = frozenset(made_by_labs())
        self.temporary = folder / f"tmp-{secrets.token_hex(3)}"
        self.temporary.mkdir()
        if plain and os.geteuid() == 0:
            before = (*before, *as_plain_user())
            for path in (folder, self.temporary):
                os.chown(path, PLAIN, PLAIN)
        name, _, value = self.mark.partition("=")
        environment = {
            **os.environ,
            name: value,
            "TMPDIR": str(self.temporary),
            "COLUMNS": "200",
            "PYTHONFAULTHANDLER": "1",
        }
        environment.pop("XDG_RUNTIME_DIR", None)  # its registry and its lock are in TMPDIR, too
        if plain:
            environment.pop("SOJOURN_TEST_REGISTRIES", None)  # they are root's
        self.stdout, self.stderr = self.temporary.with_suffix(".out"), self.temporary.with_suffix(".err")
        with open(self.stdout, "w") as out, open(self.stderr, "w") as err:
            self.process = subprocess.Popen(
                [*before, sys.executable, "-c", first + MAIN, *map(str, arguments)],
                cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                preexec_fn=heed_signals,
            )  # fmt: skip

    def end(self, timeout_s: float = 60.0) -> int:
        """Waits for the exit code; one that hangs is ended by SIGABRT, and says on standard error where it was."""
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            with suppress(subprocess.TimeoutExpired):
                return self.process.wait(10)
            self.process.kill()
            return self.process.wait()

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def said(self) -> str:
        return self.stderr.read_text()

    def answered(self) -> str:
        return self.stdout.read_text()

    def wait_for(self, seen: Callable[[], object], timeout_s: float = 60.0) -> None:
        """Waits until something is seen while the command runs."""
        deadline = time.monotonic() + timeout_s
        while not seen():
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.said()}"
            assert time.monotonic() < deadline, f"not seen within {timeout_s} s: {self.said()}"
            time.sleep(0.02)

    def processes(self) -> list[str]:
        """Command lines of the processes that are left of it."""
        return [line for path in Path("/proc").glob("[0-9]*") if (line := self._mine(path))]

    def _mine(self, path: Path) -> str:
        try:
            if self.mark.encode() in (path / "environ").read_bytes().split(b"\0"):
                return command_words(path)
        except OSError:
            pass  # it ended meanwhile, or is not ours to read
        return ""

    def left(self) -> list[str]:
        """Everything that it left behind: processes, temporary files, and what a lab makes; not what a run that was
        killed before it had left. What ends by itself with its parent, as a resource tracker of `multiprocessing`, has a moment."""
        with suppress(AssertionError):
            wait_for(lambda: not self.processes(), 2.0)
        temporary = [
            str(p) for p in self.temporary.rglob("*") if not BOOKS.fullmatch(str(p.relative_to(self.temporary)))
        ]
        return self.processes() + temporary + [path for path in self.made() if path not in self.before]

    def made(self) -> list[str]:
        """What its labs made, as far as it is there."""
        return [path for path in made_by_labs() if not of_another(Path(path), self.process.pid)]


def command_words(process: Path) -> str:
    """The command line of a process, a folder of /proc; nothing where it has ended. Another test's need not be UTF-8."""
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def wait_for(seen: Callable[[], object], most_s: float = 120.0) -> None:
    """Waits until something is seen; a machine that runs other tests beside this one may take long."""
    deadline = time.monotonic() + most_s
    while not seen():
        assert time.monotonic() < deadline, f"not seen within {most_s} s"
        time.sleep(0.02)


def made_by_labs() -> list[str]:
    """Namespaces, control groups, registries and tiers' folders of labs on this machine."""
    places = ("/run/netns/sojourn-*", "/sys/fs/cgroup/**/sojourn-*", "/run/sojourn*/lab-*")
    places += tuple(f"/tmp/sojourn-{tier}-*" for tier in ("pg", "nginx", "bulletin"))
    return [str(path) for place in places for path in Path("/").glob(place[1:])]


def of_another(path: Path, pid: int) -> bool:
    """Whether what a lab made is of another process, whose test may run beside this one; a lab's registry names its process."""
    if path.parent == Path("/tmp"):
        owner = path / OWNER
    else:
        token = LAB_TOKEN.search(path.name)
        name = f"lab-{token[1] if token else ''}.json"
        owner = next(Path("/run").glob(f"sojourn*/{name}"), directory() / name)
    try:
        return bool(json.loads(owner.read_text())["pid"] != pid)
    except (OSError, ValueError):
        # a tier's folder is just being made or removed; of a lab without a registry, what is there is left behind
        return path.parent == Path("/tmp") or not path.exists()


def made_here() -> set[str]:
    """What labs of this process made."""
    return {path for path in made_by_labs() if not of_another(Path(path), os.getpid())}


def folders_of_this_process(prefix: str) -> set[str]:
    """Temporary folders of tiers that this process started: tests beside it have theirs in the same place."""
    return {str(p) for p in Path("/tmp").glob(f"{prefix}*") if _owner_or_none(p) == os.getpid()}


def _owner_or_none(place: Path) -> int | None:
    with suppress(OSError, ValueError):  # removed meanwhile, or just being made
        return owner_of(place)
    return None


def as_plain_user() -> tuple[str, ...]:
    """Runs the rest as a user without rights, but for reading: the interpreter may lie in root's home."""
    reading = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    return ("setpriv", "--reuid", str(PLAIN), "--regid", str(PLAIN), "--clear-groups", *reading)


def heed_signals() -> None:
    """A test run in the background (nohup, `&`) ignores signals, and its children would too."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def tiny_study(folder: Path, kind: str = "auto", spinners: bool = False) -> Path:
    """A study file whose phases last a second or two each."""
    path = folder / "study.toml"
    path.write_text(TINY.format(kind=kind, spinners=str(spinners).lower()))
    return path
