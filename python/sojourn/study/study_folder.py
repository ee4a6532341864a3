"""The folder of a study: found again where one was interrupted, and whose it is; for every kind of study."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from sojourn.errors import SojournError, StudyError

Say = Callable[[str], None]


class StudyPlan(Protocol):
    """A checked study of any kind: `study` is the file (a pydantic model with a name)."""

    @property
    def study(self) -> Any: ...
    @property
    def fingerprint(self) -> str: ...


def open_study(out: Path | None, plan: StudyPlan, say: Say) -> Path:
    """The folder of this study: `out`, or the newest unfinished one of the same plan under runs/, or a new one.

    Raises:
        StudyError: `out` holds another study, or something else.
    """
    if out is None:
        unfinished = [
            p.parent for p in sorted(Path("runs").glob(f"{plan.study.name}-*/study.json"))
            if (state := _state(p)).get("fingerprint") == plan.fingerprint and not state.get("finished")
        ]  # fmt: skip
        if unfinished:
            say(f"goes on with the unfinished study in {unfinished[-1]}")
        out = unfinished[-1] if unfinished else Path("runs") / f"{plan.study.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    state = _state(out / "study.json")
    if state and state.get("fingerprint") != plan.fingerprint:
        raise StudyError("it holds another study", str(out), "choose another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        if not state and any(out.iterdir()):
            raise StudyError("it is not empty and holds no study", str(out), "choose another --out")
        save_state(out, plan, finished=False)
    except OSError as error:
        raise StudyError(error.strerror or str(error), str(out), "choose an --out you can write to") from None
    return out


def save_state(out: Path, plan: StudyPlan, *, finished: bool, **more: Any) -> None:
    """Writes study.json: which plan this folder belongs to, and whether it is finished."""
    state = _state(out / "study.json") | {"fingerprint": plan.fingerprint, "finished": finished, **more}
    temporary = out / "study.tmp"
    temporary.write_text(json.dumps(state | {"plan": plan.study.model_dump()}, indent=1) + "\n")
    temporary.replace(out / "study.json")


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
        state: dict[str, Any] = json.loads(path.read_text())
        return state
    except (OSError, ValueError):
        return {}
