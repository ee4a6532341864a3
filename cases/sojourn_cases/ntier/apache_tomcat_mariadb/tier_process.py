"""A program of the distribution as a tier: a private folder, a user without rights, its cores and its control group; it ends with us."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sojourn.errors import ServiceError
from sojourn.lab import in_group, last_lines, make_owned_folder, stale_folders
from sojourn_cases.common.postgres_folders import LONGEST, USUAL, enterable_parent
from sojourn_cases.common.postgres_programs import as_user
from sojourn_cases.ntier.apache_tomcat_mariadb.stack_programs import nobody

MOST_SAID_BYTES = 1 << 20  # of the account of a tier, which is a page at most


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
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts `command` as the tiers' user, on `cores` and in the control group at `cgroup`; what it prints goes to `log`."""
        arguments = [*as_user(nobody()), "--pdeathsig=TERM", *command]
        if chosen := list(cores):
            arguments = ["taskset", "--cpu-list", ",".join(map(str, chosen)), *arguments]
        if cgroup:
            arguments = in_group(cgroup, arguments)
        self._log = log
        with open(log, "ab") as printed:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, start_new_session=True, cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", **(environment or {})},
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
        within_s: float, every_s: float, place: str, remedy: str,
    ) -> None:  # fmt: skip
        """Waits until `ask` raises none of `unanswered`.

        Raises:
            ServiceError: it ended, or has not answered `within_s`; with the end of its log, `place` and `remedy`.
        """
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline and self.return_code is None:
            with suppress(*unanswered):
                ask()
                return
            time.sleep(every_s)
        raise ServiceError(last_lines(self._log) or "it does not answer", place, remedy)

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
