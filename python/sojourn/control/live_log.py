"""The audit log of a live run: a line as soon as there is something to say, so that it is true to the last line when we are killed.

decisions.ndjson    a line a decision (`Decision.to_dict`), written before anything is set; lines with `event` say what was
                    done and what came of it. `replay` reads it.
"""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from typing import Any

from sojourn.control.decision import Decision
from sojourn.control.simulate import LOG
from sojourn.errors import InputError, StorageFull


class LiveLog:
    """FOLDER/decisions.ndjson, new. InputError: there is one already."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "x", encoding="utf-8", opener=_appending)  # noqa: SIM115
        except FileExistsError:
            raise InputError("a log already exists", self.path, "choose another --out") from None
        except OSError as error:
            raise StorageFull(error.strerror or error, self.path, "free space, or choose another --out") from None

    def decision(self, decision: Decision, trouble: str) -> None:
        """StorageFull where it cannot be written."""
        self._write(decision.to_dict() | ({"trouble": trouble} if trouble else {}))

    def event(self, event: str, **what: Any) -> None:
        """With the wall clock, for people; nothing is decided by it."""
        self._write({"event": event, "wall_clock": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **what})

    def close(self) -> None:
        self._file.close()

    def _write(self, row: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(plain(row), allow_nan=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise StorageFull(error.strerror or error, self.path, "free space; without a log nothing is set") from None


def _appending(path: str, flags: int) -> int:
    """The keeper of the lease writes to it, too, when we are late or gone."""
    return os.open(path, flags | os.O_APPEND, 0o666)


def plain(value: Any) -> Any:
    """For JSON, which has no numbers that are not finite: their names, "nan", "inf", "-inf"."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
