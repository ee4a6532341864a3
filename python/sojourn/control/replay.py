"""A recorded log of decisions, taken again: the same policy on what was seen decides the same."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.control.decision import FORMER_DECISION, FORMER_SEEN, Decide, Decision, Seen
from sojourn.control.guard_rails import GuardedState, GuardRails, guarded
from sojourn.control.recorded_run import is_run_folder, recorded_windows
from sojourn.control.simulate import LOG, PERIOD_S
from sojourn.errors import InputError
from sojourn.files.reading import parse_json, read_lines
from sojourn.former_keyword import former_field

NAMED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # numbers that JSON does not have
Recorded = tuple[Seen, int, Mapping[str, int | str]]  # what was seen, workers and other settings that were set
REMEDY = "give a folder that `sojourn control simulate --out` or `sojourn control live` wrote"


@former_field(recorded="recorded_workers")
@dataclass(frozen=True)
class Replayed:
    """`recorded_workers` (and `others`, the settings beside them), and the `decision` that the policy takes on the same figures."""

    recorded_workers: int
    decision: Decision
    others: Mapping[str, int | str] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        return self.recorded_workers == self.decision.workers and self.others == self.decision.others


def replay(
    decide: Decide, folder: Path | str, rails: GuardRails | None = None, workers: int | None = None
) -> list[Replayed]:
    """Each recorded window given to `decide` again, behind `rails`. The workers in place are the recorded ones: with another policy it
    is what that would have done with what was seen, not what would have come of it.

    `folder`: of an audit log; or a run folder, whose windows are as long as the policy's period, and where `workers` were in place (and
    stayed: they are what is `recorded`). Raises InputError, RunFolderError."""
    state, rails = GuardedState(), rails or GuardRails()
    found = []
    if is_run_folder(folder) and not Path(folder, LOG).exists():
        if workers is None:
            raise InputError("no number of workers", "--recorded-workers", "give the run's number of workers")
        period_s = float(getattr(decide, "period_s", PERIOD_S))
        rows: Iterable[Recorded] = ((seen, workers, {}) for seen in recorded_windows(folder, period_s, workers))
    else:
        rows = read_log(folder)
    for seen, recorded, others in rows:
        decision, state = guarded(decide, rails, seen, state)
        found.append(Replayed(recorded, decision, others))
    return found


def read_log(folder: Path | str) -> Iterator[Recorded]:
    """What was seen and set, window by window. InputError."""
    path = Path(folder, LOG) if Path(folder).is_dir() else Path(folder)
    for number, line in enumerate(read_lines(path, REMEDY), 1):
        row = read_line(line, f"{path}:{number}")
        if isinstance(row, tuple):
            yield row


def read_line(line: str, place: str) -> Recorded | str:
    """What was seen and set; of a live run's other lines the event. InputError."""
    try:
        row = _present(parse_json(line), FORMER_DECISION)
        if "event" in row:
            return str(row["event"])
        seen = {key: NAMED.get(value, value) for key, value in _present(row["observed"], FORMER_SEEN).items()}
        return Seen(**seen), int(row["workers"]), _present(row.get("others", {}), FORMER_SEEN)
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError):
        raise InputError(line[:60], place, REMEDY) from None


def _present(told: Mapping[str, Any], former: Mapping[str, str]) -> dict[str, Any]:
    """By the names of today, of a log that an earlier version wrote."""
    return {former.get(name, name): value for name, value in told.items()}
