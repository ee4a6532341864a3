"""`sojourn query 'p99 < 50ms' runs/web-07 model.toml`: a question to measured, simulated and solved results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.console import console, finite
from sojourn.errors import InputError, ObjectiveMissed

if TYPE_CHECKING:
    from sojourn.query import Answer

CANNOT_TELL = 8  # exit code


def query(
    question: Annotated[str, typer.Argument(help="a query, or a file that holds one (.ptq)")],
    sources: Annotated[list[Path] | None, typer.Argument(help="run folders, model files; without any the query is only read")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: the answer of each source")] = False,
) -> None:  # fmt: skip
    """Asks run folders and models a question such as `p99 < 50ms and errors < 0.1%`: yes, no, or cannot tell, and why."""
    from sojourn.query import query as query_
    from sojourn.query.query import NO, UNKNOWN, Question, worst
    from sojourn.query.text import to_text

    it = Question.read(*_text(question))
    if not sources:
        typer.echo(to_text(it.tree))
        return
    answers = [query_(it, source) for source in sources]
    if as_json:
        typer.echo(
            json.dumps(finite({"answers": [one.to_dict() for one in answers]}), ensure_ascii=False, allow_nan=False)
        )
    else:
        for one in answers:
            _print(one)
    found = worst([one.verdict for one in answers])
    raise typer.Exit({NO: ObjectiveMissed.exit_code, UNKNOWN: CANNOT_TELL}.get(found, 0))


def _text(question: str) -> tuple[str, str]:
    """The query and the name that errors give it: its file, or `query`."""
    if not question.endswith(".ptq"):
        return question, "query"
    try:
        return Path(question).read_text(encoding="utf-8"), question
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            getattr(error, "strerror", None) or "no UTF-8 text", question, "give a file that holds a query"
        ) from None


def _print(answer: Answer) -> None:
    out = console()
    for part in answer.parts or (answer,):
        head = f"{answer.source}: {part.verdict}" if part.verdict else f"{answer.source}:"
        out.print(f"{head}{': ' if part.verdict and part.why else ' '}{part.why}", markup=False, soft_wrap=True)
