"""One TOML file → runs → fit → prediction → check → report.

<<<<<<< HEAD
Map: `engine` studies of any system · `web`, `kv` what only studies of a web system, of a memcached middleware show · `file` a study
file, read and checked · `folder` where it ends up, found again after an interruption · `points` an order at random · `estimate`,
`recovery` intervals, known numbers found again. For the studies of a message service (`messages`): `counters` CPU time while something
runs · `simulated` a system in simulated time · `judged` errors where nothing was fitted.
=======
Map: `engine` studies of any system · `web` and `messages` what only studies of a web system and of a message service have ·
`file` a study file, read and checked · `folder` where it ends up, found again after an interruption · `points` an order at
random. For the studies of a memcached middleware (`kv`): `counters` CPU time while something runs · `simulated` a system in
simulated time · `estimate`, `judged`, `recovery` intervals, errors where nothing was fitted, known times found again.
>>>>>>> 104e7fa (Restored: what the commit of the web study had undone by its older tree (message study on the engine, solver and model changes since 863c0bf))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.lab.process import Event
from sojourn.measure.run import listening
from sojourn.report import Document, write_html
from sojourn.study.engine import run_system_study
from sojourn.study.file import testbed_of
from sojourn.study.folder import save_state

__all__ = ["StudyResult", "run_study"]


@dataclass(frozen=True)
class StudyResult:
    """Where the study is, its verdict line by line, its report, and all that was found."""

    folder: Path
    verdict: list[str]
    report: Path
<<<<<<< HEAD
    findings: Any  # Findings; MessagesFindings of such a study
=======
    findings: Any  # Findings; KvFindings of such a study
>>>>>>> 104e7fa (Restored: what the commit of the web study had undone by its older tree (message study on the engine, solver and model changes since 863c0bf))


def run_study(
    path: Path,
    *,
    out: Path | None = None,
    quick: bool = False,
    seed: int | None = None,
    only: tuple[str, ...] = (),
    draw: int | None = None,
    say: Callable[[str], None] = print,
    progress: Callable[[Event], None] | None = None,
) -> StudyResult:
    """Runs the study in `path` (a file, or a folder with study.toml) into `out`; goes on where one was interrupted.

    `only`: parts of it: sections, fit, predict, analyses. `draw`: so many configurations of `[draw]` at random, too.

    Raises:
        StudyError, LabError, ServiceError: with the value, the place and the remedy.
    """
    if (testbed := testbed_of(path)) in IN_PARTS:
        return _run_in_parts(IN_PARTS[testbed], path, out, quick, seed, only, say)
    with listening(progress):
        found, lines, page = run_system_study(path, out=out, quick=quick, seed=seed, only=only, draw=draw, say=say)
    return StudyResult(found.folder, lines, page, found)


Kind = tuple[Callable[..., tuple[Any, Any]], Callable[..., list[str]], Callable[..., Document]]


<<<<<<< HEAD
def _messages() -> Kind:
    from sojourn.study.messages import document, run

    return run.run_messages, document.verdict_lines, document.messages_document


IN_PARTS: dict[str, Callable[[], Kind]] = {"messages": _messages}
=======
def _kv() -> Kind:
    from sojourn.study.kv import document, run

    return run.run_kv, document.verdict_lines, document.kv_document


IN_PARTS: dict[str, Callable[[], Kind]] = {"kv": _kv}
>>>>>>> 104e7fa (Restored: what the commit of the web study had undone by its older tree (message study on the engine, solver and model changes since 863c0bf))


def _run_in_parts(
    kind: Callable[[], Kind], path: Path, out: Path | None, quick: bool, seed: int | None, only: tuple[str, ...],
    say: Callable[[str], None],
) -> StudyResult:  # fmt: skip
    run, verdict_of, document_of = kind()
    plan, found = run(path, out=out, quick=quick, only=only, seed=seed, say=say)
    verdict = verdict_of(found)
    (found.folder / "verdict.txt").write_text("\n".join(verdict) + "\n")
    report = write_html(document_of(found, plan, verdict), found.folder / "report.html")
    save_state(found.folder, plan, finished=True)
    return StudyResult(found.folder, verdict, report, found)
