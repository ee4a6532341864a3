"""What has to be put back where a controller and the keeper of its lease are both killed: a file that is there while there is a lease.

The keeper writes it before it sets anything, and removes it when the safe settings are back. What starts next finds it
(`sojourn control live --act`, `sojourn doctor`, `sojourn lab restore`), and so does a keeper that systemd starts again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sojourn.errors import LabError, SojournError
from sojourn.files.private_folder import read_own
from sojourn.files.reading import parse_json
from sojourn.files.writing import PRIVATE, write_whole
from sojourn.lab.cleanup_registry import directory, start_time
from sojourn.live_service.control_socket import RefusedError, UnansweredError, asked
from sojourn.live_service.leased_settings import LeasedSettings, address, made

PREFIX = "lease-"
ANSWERED_S = 1.0


@dataclass
class RestorePlan:
    """`kind`, `told`: of which the settings are made again. `holder`: whose lease, None before the first; it ends at `until_s` of
    CLOCK_MONOTONIC. `controller`: process and time of start. `unit`: of systemd, which holds it. `environment`: for a user's commands.
    """

    key: str
    kind: str
    told: dict[str, Any]
    names: list[str]
    log: str | None = None
    controller: list[Any] = field(default_factory=lambda: [os.getpid(), start_time(os.getpid())])
    unit: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    holder: str | None = None
    until_s: float = 0.0

    @classmethod
    def of(cls, leased: LeasedSettings, log: Path | None, unit: str | None) -> RestorePlan:
        """For a new lease of this process."""
        environment = dict(os.environ) if leased.kind == "commands" else {}
        place = str(log.resolve()) if log else None
        return cls(
            leased.key(), leased.kind, leased.told(), list(leased.names), place, unit=unit, environment=environment
        )

    @classmethod
    def read(cls, path: Path) -> RestorePlan:
        """OSError, LabError: it is none."""
        try:
            return cls(**parse_json(read_own(path)))
        except (ValueError, TypeError) as error:
            raise LabError(f"not a plan of a lease: {error}", str(path), "remove it") from None

    @property
    def path(self) -> Path:
        return place(self.key)

    def write(self) -> None:
        """For this user only: commands get their environment from it. LabError."""
        try:
            write_whole(self.path, json.dumps(asdict(self)), PRIVATE)
        except OSError as error:
            raise LabError(
                f"the settings to restore cannot be written: {error.strerror}", str(self.path), "make room"
            ) from None

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    def controlled(self) -> bool:
        """Whether its controller lives."""
        pid, started = self.controller
        return started is not None and start_time(int(pid)) == started

    def kept(self) -> bool:
        """Whether somebody will put it back: its controller, a keeper, or systemd, which starts that again."""
        if self.controlled() or (self.unit and time.monotonic() < self.until_s):
            return True
        try:
            asked(address(self.key), {"do": "read"}, ANSWERED_S)
        except UnansweredError:
            return False
        except RefusedError:
            pass  # it lives, whatever it says
        return True

    def restore(self) -> list[str]:
        """Puts the safe settings back; what could not be, each with its reason. The file is gone where all are."""
        with _environment(self.environment):
            try:
                failed = made(self.kind, self.told).restore()
            except SojournError as error:
                failed = [str(error)] if self.kind != "placement" else _of_a_service_that_ended(self.told)
        if not failed:
            self.remove()
        return failed

    def __str__(self) -> str:
        what = f"process {self.told['pid']}" if self.kind == "placement" else self.told.get("file", self.key)
        return f"{', '.join(self.names)} of {what}"


def _of_a_service_that_ended(told: Mapping[str, Any]) -> list[str]:
    from sojourn.lab.service_placement import restore_after_its_end

    return restore_after_its_end(told)


@contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def place(key: str) -> Path:
    """The file of a lease."""
    return directory() / f"{PREFIX}{key}.json"


def plan_of(key: str) -> RestorePlan | None:
    """The one of this lease, where there is one."""
    with suppress(OSError, LabError):
        return RestorePlan.read(place(key))
    return None


def left() -> list[RestorePlan]:
    """Those that nobody will put back: controller and keeper were killed."""
    found = []
    for path in sorted(directory().glob(f"{PREFIX}*.json")):
        with suppress(OSError, LabError):
            found.append(RestorePlan.read(path))
    return [plan for plan in found if plan.holder is not None and not plan.kept()]


def put_back_left() -> tuple[list[str], list[str]]:
    """Puts back what controllers left that were killed with their keepers; what that was, and what could not be, with the reasons."""
    done, failed = [], []
    for plan in left():
        if wrong := plan.restore():
            failed.append(f"{plan}: {'; '.join(wrong)} ({plan.path})")
        else:
            done.append(str(plan))
    return done, failed
