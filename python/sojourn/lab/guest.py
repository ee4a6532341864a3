"""A running guest: a virtual machine that is gone, with all that it was made of, however its maker ends.

The supervisor (supervisor.py) is the parent of its processes and keeps its console in a file; the registry of the lab has its mark.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import LabError, ServiceError, SojournError, StorageFull
from sojourn.lab.capped_log import last_lines
from sojourn.lab.cleanup_registry import MARK, CleanupRegistry, clean_stale
from sojourn.lab.guest_command import GuestShape, address, command, tap
from sojourn.lab.guest_image import PROBE, READY, SAID, image
from sojourn.lab.guest_parts import UML, WAYS, WHAT, GuestParts
from sojourn.lab.namespaces import make_namespace, path_of, raise_nic
from sojourn.lab.owned_folder import owned_folder
from sojourn.lab.process_tree import GONE_S
from sojourn.lab.worker_process import WorkerProcess

PREFIX = "sojourn-guest-"
CONSOLE, IMAGE = "console", "image"
CONSOLE_BYTES = 1_000_000
MTU_BYTES = 1500
READY_S = 60.0
MARGIN_S = 2 * GONE_S


@dataclass(frozen=True)
class Guest:
    """`pid`: of the virtual machine on the host; `console`: what the guest printed, so far; `ready_after_s`: from its start; `network`:
    the namespace in which its NICs are reached, None: here; `kernel`: the version that its kernel says."""

    way: str
    pid: int
    console: Path
    ready_after_s: float
    network: str | None = None
    kernel: str = ""

    def said(self) -> dict[str, list[str]]:
        return said(self.console.read_text(errors="replace"))


def said(console: str) -> dict[str, list[str]]:
    """What our script in the guest said: first word → the words behind it; of one that comes again the last, but all of `refused`."""
    found: dict[str, list[str]] = {}
    for line in console.splitlines():
        _, mark, rest = line.partition(f"{SAID} ")
        words = rest.split()
        if mark and words:
            again = found.get(words[0], []) if words[0] == "refused" else []
            found[words[0]] = [*again, *words[1:]]
    return found


@contextmanager
def guest(
    parts: GuestParts,
    way: str,
    shape: GuestShape,
    script: str = PROBE,
    files: Mapping[str, tuple[bytes, int]] | None = None,
    ready_s: float = READY_S,
    ports: Mapping[str, str] | None = None,
    modules: Sequence[str] | None = None,
) -> Iterator[Guest]:
    """A guest that has said that it is ready, for as long as the block lasts.

    Raises:
        InputError: no such guest. LabError: packages are missing; it ended, or said nothing more within `ready_s`.
        StorageFull: no room for its files.
    """
    shape.check(way)
    parts.check(way)
    clean_stale()
    token = secrets.token_hex(3)
    registry = CleanupRegistry(token)
    try:
        registry.add(mark=token)
        namespace = f"sojourn-{token}-client" if shape.queues else None
        if namespace:
            make_namespace(registry, namespace)
        with _folder(way) as folder:
            with _room():
                (folder / IMAGE).write_bytes(image(parts, way, script, files, modules))
            with _running(parts, way, shape, folder, token, ready_s, ports or {}, namespace) as made:
                yield made
    finally:
        registry.close()


@contextmanager
def _folder(way: str) -> Iterator[Path]:
    """For its files; that of a user-mode-linux is nobody's, as who it runs."""
    with ExitStack() as stack:
        with _room():
            folder = stack.enter_context(owned_folder(PREFIX))
        files = folder / "files"
        files.mkdir()
        if way == UML and os.geteuid() == 0:
            folder.chmod(0o711)
            shutil.chown(files, 65534, 65534)
        yield files


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StorageFull(
            error.strerror or "full", error.filename or WHAT, "make room there, or set TMPDIR to a folder with more"
        ) from None


@contextmanager
def _running(
    parts: GuestParts,
    way: str,
    shape: GuestShape,
    folder: Path,
    token: str,
    ready_s: float,
    ports: Mapping[str, str],
    namespace: str | None,
) -> Iterator[Guest]:
    console, network = folder / CONSOLE, path_of(namespace) if namespace else None
    config = {
        "argv": command(parts, way, shape, folder / IMAGE, ports), "cores": None, "groups": [], "folder": str(folder),
        "environment": {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(folder), "TMPDIR": str(folder), MARK: token},
        "ready": {"printed": [str(console), READY]}, "ready_s": ready_s, "stop_signal": "SIGKILL", "grace_s": GONE_S,
        "log": str(console), "log_bytes": CONSOLE_BYTES, "secrets": [],
    }  # fmt: skip
    try:
        worker = WorkerProcess("command", {"network": network, "command": config})
        started = worker.ready(ready_s + MARGIN_S, grace_s=MARGIN_S)
    except StorageFull as error:
        raise StorageFull(error.value, folder, "make room there, or set TMPDIR to a folder with more") from None
    except (ServiceError, LabError) as error:
        raise _silent(way, console, ready_s, error) from None
    try:
        for number in range(1, len(shape.ports) + 1 if namespace else 1):
            raise_nic(str(namespace), tap(number), MTU_BYTES, f"{address(number, 1)}/24")
        version = next(iter(said(console.read_text(errors="replace")).get("kernel", [])), "")
        yield Guest(way, started["pid"], console, started["after_s"], network, version)
    finally:
        worker.stop(MARGIN_S)


def _silent(way: str, console: Path, ready_s: float, error: SojournError) -> LabError:
    """What became of one that never was ready, in words about guests."""
    lines = last_lines(console)
    ended = str(error.value).startswith("the program ")
    what = (
        str(error.value).split(" before it was ready")[0].replace("the program", "it")
        if ended
        else f"it was not ready within {ready_s:g} s"
    )
    told = f"; its last words: {lines}" if lines else "; it said nothing"
    return LabError(f"{WAYS[way]}: {what}{told}", WHAT, "try another kind: sojourn lab vm --boot-guests")
