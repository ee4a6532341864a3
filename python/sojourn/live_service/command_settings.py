"""Settings of a service of one's own, made by its user's commands.

A command is a program with its arguments: no shell, no standard input, a session of its own (Ctrl-C in the controller's terminal does not
reach it), and a limit of time after which it and all it started are ended.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from sojourn.errors import LabError, ServiceError
from sojourn.live_service.metric_series import page, totals
from sojourn.live_service.service_file import VALUE, ServiceFile, SettingCommands

MOST_BYTES = 1 << 16  # of what a command prints
LOOK_S = 0.1  # between two looks at the page


class CommandSettings:
    """Those of `file`. `safe` is what `restore` puts back: what the file says, or what holds now. LabError: it cannot be read."""

    kind = "commands"

    def __init__(self, file: ServiceFile, safe: Mapping[str, int] | None = None) -> None:
        self.file = file
        self.names = tuple(file.commands)
        if safe is None:
            given = {name: one.safe for name, one in file.commands.items() if one.safe is not None}
            safe = {**({} if len(given) == len(self.names) else self.read()), **given}
        self.safe = dict(safe)
        self.limit_s = 2 * sum(one.timeout_s for one in file.commands.values()) + self.file.commands_s + 2

    def told(self) -> dict[str, Any]:
        """What another process makes it of: `of(told)`."""
        return {"file": str(self.file.path), "safe": self.safe}

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> CommandSettings:
        """InputError, LabError."""
        return cls(ServiceFile(told["file"]), told["safe"])

    def key(self) -> str:
        """Of the service, whatever file describes it: one controller a metrics page."""
        return hashlib.sha256(self.file.table.metrics.encode()).hexdigest()[:24]

    def gone(self) -> str:
        """A service is not known by its process here: it may come back."""
        return ""

    def read(self) -> dict[str, int]:
        """As they are. LabError."""
        return {name: self._read(name, one) for name, one in self.file.commands.items()}

    def by_command(self) -> dict[str, int]:
        """Those that a command tells; the page has the others. LabError."""
        return {name: self._read(name, one) for name, one in self.file.commands.items() if one.read}

    def set(self, wanted: Mapping[str, Any]) -> None:
        """Runs the command of each that is not so already. LabError."""
        for name, value in wanted.items():
            commands = self.file.commands[name]
            if self._read(name, commands) == int(value):
                continue
            ran(
                [word.replace(VALUE, str(int(value))) for word in commands.set],
                self.file.path.parent,
                commands.timeout_s,
            )
            end_s = time.monotonic() + commands.timeout_s
            while not commands.read and self._read(name, commands) != int(value) and time.monotonic() < end_s:
                time.sleep(LOOK_S)  # a page may tell it later than the command ended

    def restore(self) -> list[str]:
        """Puts the safe ones back; what could not be, each with its reason."""
        failed = []
        for name, value in self.safe.items():
            try:
                self.set({name: value})
            except LabError as error:
                failed.append(f"{name} {value}: {error}")
        return failed

    def _read(self, name: str, commands: SettingCommands) -> int:
        if commands.read:
            said = ran(commands.read, self.file.path.parent, commands.timeout_s).strip()
            if not said.isdigit():
                raise LabError(
                    f"{commands.read[0]} printed {said[:60]!r}",
                    f"{self.file.path}: {name}.read",
                    "the command has to print a whole number",
                )
            return int(said)
        series = self.file.series[name]
        try:
            found = totals(page(self.file.table.metrics, self.file.table.timeout_s), {name: series})
        except ServiceError as error:
            raise LabError(error.value, error.place, error.remedy) from None
        if name not in found:
            raise LabError(f"the page has no {series}", self.file.table.metrics, "name one of its series")
        return int(found[name])


def ran(words: Sequence[str], folder: Path, timeout_s: float) -> str:
    """What the command printed. LabError: it cannot be started, failed, or took too long."""
    place, remedy = " ".join(words)[:200], "try the command by hand"
    with TemporaryFile() as said, TemporaryFile() as errors:  # not pipes: what it starts and leaves may keep them open
        try:
            process = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=errors, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise LabError(f"cannot be started: {error}", place, remedy) from None
        try:
            process.wait(timeout_s)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise LabError(f"took more than {timeout_s:g} s, and was stopped", place, remedy) from None
            raise
        if process.returncode:
            last = _text(errors).strip().splitlines()[-1:]
            raise LabError(f"ended with {process.returncode}: {' '.join(last)[:200]}", place, remedy)
        return _text(said)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_BYTES).decode("utf-8", "replace")
