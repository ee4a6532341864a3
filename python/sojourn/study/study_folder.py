"""The folder of a study: found again where one was interrupted, and whose it is; for every kind of study."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from sojourn.errors import Busy, SojournError, StorageFull, StudyError
from sojourn.files.reading import read_json
from sojourn.files.writing import write_whole

Say = Callable[[str], None]
PREDICTIONS, CHOICES = "predictions.json", "choices.json"  # what is written down before runs that are to judge it
CHANGED = "the study or its model has changed: runs that it still needs are kept"


class StudyPlan(Protocol):
    """A checked study of any kind: `study` is the file (a pydantic model with a name). `of_runs`: the same for studies whose runs are made
    alike."""

    @property
    def study(self) -> Any: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def of_runs(self) -> str: ...


@contextmanager
def open_study(out: Path | None, plan: StudyPlan, say: Say) -> Iterator[Path]:
    """The folder of this study, held until the block ends: `out`, or the newest unfinished one of the same plan under runs/, or a new
    one. A folder whose runs are made as this plan makes them is taken too, as long as nothing was predicted there: a study whose model was
    refused keeps its runs for the next model.

    Raises:
        StudyError: `out` holds another study, predictions of an earlier version of this one, or something else, or is another user's.
        Busy: a study is running in it.
    """
    if out is None:
        there = [p.parent for p in sorted(Path("runs").glob(f"{plan.study.name}-*/study.json"))]
        states = {folder: state for folder in there if not (state := _state(folder / "study.json")).get("finished")}
        same = [folder for folder, state in states.items() if state.get("fingerprint") == plan.fingerprint]
        unfinished = same or [folder for folder, state in states.items() if _alike(state, plan) and not _told(folder)]
        if unfinished:
            say(f"continues the unfinished study in {unfinished[-1]}")
        out = unfinished[-1] if unfinished else Path("runs") / f"{plan.study.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    state = _state(out / "study.json")
    if state and state.get("fingerprint") != plan.fingerprint:
        if not _alike(state, plan):
            raise StudyError("it holds another study", str(out), "choose another --out")
        if told := _told(out):
            value = f"{told} there belongs to an earlier version of this study, and was written before its runs"
            raise StudyError(value, str(out), "choose another --out")
        say(CHANGED)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.mkdir(mode=0o700, exist_ok=True)  # for its user alone, as each run of it
        if (owner := out.stat().st_uid) != os.geteuid():
            raise StudyError(f"it belongs to user {owner}", str(out), "choose another --out")
        if not state and any(out.iterdir()):
            raise StudyError("it is not empty and holds no study", str(out), "choose another --out")
        held = _held(out)
    except OSError as error:
        raise _cannot(error, out) from None
    try:
        try:
            save_state(out, plan, finished=False)
        except OSError as error:
            raise _cannot(error, out) from None
        yield out
    finally:
        os.close(held)


def _alike(state: dict[str, Any], plan: StudyPlan) -> bool:
    """Whether its runs are made as those of the plan."""
    return state.get("of_runs") == plan.of_runs


def _told(folder: Path) -> str:
    """What was said there before runs were made."""
    return next((name for name in (PREDICTIONS, CHOICES) if (folder / name).exists()), "")


def _held(out: Path) -> int:
    """The folder, open and locked. Raises Busy where another process has it: two would take each other's runs for cut off."""
    folder = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        raise Busy("a study is running in it", str(out), "wait for it or stop it, or choose another --out") from None
    return folder


def _cannot(error: OSError, out: Path) -> SojournError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(error.strerror, str(out), "free space on the disk, or choose another --out")
    return StudyError(error.strerror or str(error), str(out), "choose an --out you can write to")


def save_state(out: Path, plan: StudyPlan, *, finished: bool, **more: Any) -> None:
    """Writes study.json: which plan this folder belongs to, and whether it is finished."""
    state = _state(out / "study.json") | {
        "fingerprint": plan.fingerprint,
        "of_runs": plan.of_runs,
        "finished": finished,
        **more,
    }
    write_whole(out / "study.json", json.dumps(state | {"plan": plan.study.model_dump()}, indent=1) + "\n")


@contextmanager
def scratch(folder: Path, name: str) -> Iterator[Path]:
    """A folder for the records of one run: read, then removed; kept where the run ended by an error."""
    out = folder / "scratch" / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    yield out
    with suppress(OSError, SojournError):
        shutil.rmtree(out)


def _state(path: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = read_json(path, "run the study with another --out folder")
        return state
    except (OSError, ValueError):
        return {}
