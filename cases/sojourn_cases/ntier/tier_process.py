"""A program of the distribution as a tier: a private folder, a user without rights, its cores and its control group; it ends with us."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from sojourn.errors import PermissionLacking, ServiceError
from sojourn.lab import in_group, last_lines, make_owned_folder, stale_folders
from sojourn_cases.common.postgres_folders import LONGEST, USUAL, enterable_parent
from sojourn_cases.common.postgres_programs import as_user

MOST_SAID_BYTES = 1 << 20  # of the account of a tier, which is a page at most


def nobody() -> pwd.struct_passwd | None:
    """The user as whom they run where root starts them (none of them is to run as root); None is this one.

    Raises:
        PermissionLacking: this is root, and the machine has no such user.
    """
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        raise PermissionLacking("no user nobody", "stack", "run as another user than root") from None


def own_folder(prefix: str, parent: Path | None = None) -> Path:
    """A new folder that the tiers' user can enter, and nobody else can list; those of processes that are gone are removed before."""
    for stale in stale_folders(prefix, [USUAL, *([str(parent)] if parent else ())]):
        shutil.rmtree(stale, ignore_errors=True)
    usual = enterable_parent(nobody())
    made = str(parent) if parent else USUAL if len(usual or "") > LONGEST else usual
    folder = make_owned_folder(prefix, made)
    folder.chmod(0o711)
    return folder


def give(path: Path) -> None:
    """Makes the tiers' user the owner of a file or an (empty) folder."""
    if user := nobody():
        os.chown(path, user.pw_uid, user.pw_gid)


def write_private(path: Path, text: str) -> None:
    """Writes a file that the tiers' user alone can read."""
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    give(path)


def said_at(url: str, timeout_s: float = 5.0) -> bytes:
    """What a tier answers at `url`.

    Raises:
        OSError: it is gone, has not begun, or answers with an error. ServiceError: it answers without an end.
    """
    with urllib.request.urlopen(url, timeout=timeout_s) as answer:
        found: bytes = answer.read(MOST_SAID_BYTES + 1)
    if len(found) > MOST_SAID_BYTES:
        raise ServiceError(f"more than {MOST_SAID_BYTES} bytes", url, "see what answers at this port")
    return found


class TierProcess:
    """A process that was started, with all that it starts."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        cores: Iterable[int] = (),
        cgroup: str | None = None,
        network: str | None = None,
    ) -> None:
        """Starts `command` as the tiers' user, on `cores`, in the control group at `cgroup` and in the network namespace at `network`; what
        it prints goes to `log`."""
        arguments = [*as_user(nobody()), "--pdeathsig=TERM", *command]
        if chosen := list(cores):
            arguments = ["taskset", "--cpu-list", ",".join(map(str, chosen)), *arguments]
        if network:
            arguments = ["nsenter", f"--net={network}", *arguments]
        if cgroup:
            arguments = in_group(cgroup, arguments)
        self._log = log
        with open(log, "ab") as printed:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, start_new_session=True, cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def return_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def await_answer(
        self, ask: Callable[[], object], unanswered: Sequence[type[Exception]], *,
        within_s: float, every_s: float, place: str, remedy: str, refusal: Callable[[Path], str] = last_lines,
    ) -> None:  # fmt: skip
        """Waits until `ask` raises none of `unanswered`.

        Raises:
            ServiceError: it ended, or has not answered `within_s`; with its `refusal`, read from its log, `place` and `remedy`.
        """
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline and self.return_code is None:
            with suppress(*unanswered):
                ask()
                return
            time.sleep(every_s)
        raise ServiceError(refusal(self._log) or "it does not answer", place, remedy)

    def stop(self, timeout_s: float) -> None:
        """Ends it in good order, or else at once."""
        if self.return_code is None:
            self._process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout_s)
        self.close()

    def close(self) -> None:
        """Makes sure that it is gone, and all of its group."""
        if self.return_code != 0:  # alive, or killed: then its children live on
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()


class Tier:
    """A program in a folder of its own: where it is, its processes, its end. `kind`: its name; `child`: that of what it starts."""

    kind: ClassVar[str]
    child: ClassVar[str] = "child"

    def __init__(self, address: str, prefix: str) -> None:
        """Makes the folder, whose name begins with `prefix`; who starts the program sets `_process`, and closes this where that fails."""
        self.address = address
        self._folder = own_folder(prefix)
        self._process: TierProcess | None = None

    @property
    def url(self) -> str:
        return f"http://{self.address}/"

    @property
    def log(self) -> Path:
        """What it says; gone with it."""
        return self._folder / "log.txt"

    @property
    def pid(self) -> int:
        """Of its first process."""
        assert self._process is not None
        return self._process.pid

    @property
    def pids(self) -> dict[str, int]:
        """The first process, and its children."""
        children = map(int, Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split())
        return {self.kind: self.pid} | {f"{self.kind} {self.child} {k}": child for k, child in enumerate(children, 1)}

    @property
    def return_code(self) -> int | None:
        """Of its first process; None while that runs."""
        return self._process.return_code if self._process else None

    def _end(self, timeout_s: float) -> None:
        """Ends it after the answers that are under way, or else after `timeout_s`."""
        if self._process:
            self._process.stop(timeout_s)
        self.close()

    def close(self) -> None:
        """Makes sure that the processes are gone, and its folder."""
        if self._process:
            self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)
