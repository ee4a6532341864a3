"""`observe`: request logs and utilisation series → windows as run folders, a first model, and what these hours can tell."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import InputError
from sojourn.files.writing import write_output
from sojourn.model import Model
from sojourn.observe.first_model import first_model
from sojourn.observe.log_windows import log_windows
from sojourn.observe.observed_windows import ObservedWindow, check_length
from sojourn.observe.record_parts import RecordParts
from sojourn.observe.request_log import REMEDY, RequestLog, read_log_or_series, together
from sojourn.observe.utilisation_series import UtilisationSeries, read_utilisation
from sojourn.observe.what_is_told import notes
from sojourn.observe.window_folders import write_windows
from sojourn.units import seconds

MODEL = "model.toml"
LEAST_WINDOWS = 2


@dataclass(frozen=True)
class ObservedService:
    """`windows` in order of time, those that are left out too (`reasons`: number of a window → why); `parts`: those between changes of the
    service; `users`: class → users, of a load that waits for its answers; `model`: of them, with unknowns, None where no resource was
    watched; `capacity`: resource → servers; `notes`: what these hours can tell."""

    windows: Sequence[ObservedWindow]
    users: Mapping[str, int]
    capacity: Mapping[str, float]
    source: str
    model: Model | None
    notes: Sequence[str]
    parts: RecordParts | None = None

    @property
    def reasons(self) -> Mapping[int, str]:
        return self.parts.reasons if self.parts else {}

    @property
    def changed_s(self) -> float | None:
        """When the service last changed in this record, Unix time; None where no change was seen."""
        return self.parts.changes[-1].at_s if self.parts and self.parts.changes else None

    @property
    def used(self) -> Sequence[ObservedWindow]:
        """Windows that are fitted."""
        return [one for i, one in enumerate(self.windows) if i not in self.reasons]

    def write(self, out: Path) -> list[Path]:
        """The windows as run folders below `out`, and `model.toml`. Raises RunFolderError where a folder is there, OSError for the file."""
        found = write_windows(out, self.windows, self.users, self.capacity, self.source, self.reasons, self.changed_s)
        if self.model is not None:
            write_output(out / MODEL, self.model.to_toml())
        return found


def observed_service(
    windows: Sequence[ObservedWindow],
    users: Mapping[str, int],
    capacity: Mapping[str, float],
    source: str,
    more: Sequence[str] = (),
) -> ObservedService:
    """Of windows, with the model and the notes, those of the load (`more`) too. Raises InputError where too few have an answer."""
    used = [one for one in windows if one.response_s is not None]
    if len(used) < LEAST_WINDOWS:
        remedy = "observe for longer, or give a shorter --window"
        raise InputError(f"{len(used)} of {len(windows)} windows with answers", source, remedy)
    parts = RecordParts.of(used)
    own = used[parts.start : parts.end]
    said = [*parts.notes, *notes(own, users), *more]
    return ObservedService(used, users, capacity, source, first_model(own, users, capacity), said, parts)


def observe_files(
    paths: Sequence[Path | str],
    *,
    window_s: float = 60.0,
    start_s: float | None = None,
    end_s: float | None = None,
    capacity: Mapping[str, float] | None = None,
) -> ObservedService:
    """Request logs and utilisation series (CSV; which is which their columns say), cut into windows of `window_s`.

    `start_s`, `end_s`: seconds after the first request, or, where they are negative, before the last; everything where they are None.
    `capacity`: resource → cores or servers, 1 where it is not named.

    Raises:
        InputError: a file is neither, no request log is there, or too few windows have answers.
    """
    check_length(window_s)
    logs: list[RequestLog] = []
    series: list[UtilisationSeries] = []
    for number, path in enumerate(map(Path, paths)):
        if path.resolve() in [Path(other).resolve() for other in paths[:number]]:
            raise InputError("given twice", path, "name each file once: its requests would count twice")
        found = read_log_or_series(path)
        if isinstance(found, RequestLog):
            logs.append(found)
        else:
            series.append(read_utilisation(path, found))
    if not logs:
        raise InputError("no request log", ", ".join(map(str, paths)), REMEDY)
    check_capacity(capacity or {}, {name for one in series for name in one.shares})
    log = together(logs)
    start, end = observed_span(start_s, end_s, float(log.came_s[0]), float(log.came_s[-1]))
    windows, users, more = log_windows(log, series, start, end, window_s)
    return observed_service(windows, users, capacity or {}, ", ".join(Path(path).name for path in paths), more)


def check_capacity(capacity: Mapping[str, float], watched: Collection[str]) -> None:
    """InputError for a resource that no series has, and for a number of servers that cannot be."""
    for name, servers in capacity.items():
        if name not in watched:
            remedy = (
                f"name a resource of the series: {', '.join(sorted(watched))}"
                if watched
                else "give a utilisation series too"
            )
            raise InputError(f"{name!r}", "resource servers", remedy)
        if not 0 < servers < math.inf:
            raise InputError(f"{name} = {servers:g}", "resource servers", "give a number above 0")


def observed_span(start_s: float | None, end_s: float | None, first: float, last: float) -> tuple[float, float]:
    """Unix times between which windows lie: after the first request, or, negative, before the last; all where nothing is said. Not before
    the first or after the last: a window that is only in part in the log would have too low a rate. InputError where nothing is left."""
    start, end = (
        usual if given is None else min(max(last + given if given < 0 else first + given, first), last)
        for given, usual in ((start_s, first), (end_s, last))
    )
    if start >= end and (start_s is not None or end_s is not None):
        remedy = f"the files have requests of {seconds(last - first)}: give an earlier start, or a later end"
        raise InputError("nothing lies between start and end", "the observed time", remedy)
    return start, end
