"""`sojourn query 'p99 < 50ms' runs/web-07 model.toml`: a question to measured, simulated and solved results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli.console import check_writable, console
from sojourn.cli.json_answer import say_answer
from sojourn.cli.run_folders import run_paths
from sojourn.cli.set_option import settings
from sojourn.errors import InputError, ObjectiveMissed
from sojourn.files.reading import parse_json, read_text
from sojourn.terminal import say

if TYPE_CHECKING:
    from sojourn.query import Answer, Question
    from sojourn.query.evaluate import NodeState
    from sojourn.query.sources.source import Source

CANNOT_TELL = 8  # exit code


def query(
    question: Annotated[str, typer.Argument(help="a query, or a file that holds one (.ptq, or .json with a tree)")],
    sources: Annotated[
        list[Path] | None, typer.Argument(help="run folders, folders of them, model files; without a source the query is only checked")
    ] = None,
    simulate: Annotated[list[Path] | None, typer.Option("--simulated-model", help="a model file to simulate, used as a source")] = None,
    seed: Annotated[int, typer.Option(help="of --simulated-model")] = 1,
    given: Annotated[str, typer.Option("--set", help="of the models: rate_per_s=300,stations.cpu.servers=4")] = "",
    tree: Annotated[
        str, typer.Option("--draw-syntax-tree", help="draw the query's syntax tree to this .svg or .mmd (Mermaid); -: print Mermaid")
    ] = "",
    in_english: Annotated[bool, typer.Option("--restate-in-english", help="print the query in English first")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object: the tree, the answer of each source")] = False,
) -> None:  # fmt: skip
    """Answers yes, no or cannot tell about runs or models.

    It also says why: which figure, from where, and its interval.
    """
    from sojourn.query import query as query_
    from sojourn.query.english import english
    from sojourn.query.json_form import to_json
    from sojourn.query.query import worst
    from sojourn.query.text import to_text
    from sojourn.query.told import NO, UNKNOWN

    if tree and tree != "-" and Path(tree).suffix not in (".svg", ".mmd"):
        raise InputError(tree, "--draw-syntax-tree", "give a file that ends with .svg or .mmd, or -")
    it = _question(question)
    values = settings(given, "--set")
    answers = [query_(it, _source(path, values)) for path in _each(sources or ())]
    answers += [query_(it, _simulated(path, values, seed)) for path in simulate or ()]
    if tree:
        _draw(it, answers[0].states if answers else {}, tree)
    if as_json:
        say_answer("query", {"syntax_tree": to_json(it.tree), "answers": [one.to_dict() for one in answers]})
    else:
        if in_english:
            say(english(it.tree))
        if not answers and not in_english and not tree:
            say(to_text(it.tree))
        for one in answers:
            _print(one)
    found = worst([one.verdict for one in answers])
    raise typer.Exit({NO: ObjectiveMissed.exit_code, UNKNOWN: CANNOT_TELL}.get(found, 0))


def _question(text: str) -> Question:
    """A query as it stands, or that of a file."""
    from sojourn.query import Question
    from sojourn.query.json_form import DEEPEST_JSON, from_json

    if not text.endswith((".ptq", ".json")):
        return Question.read(text)
    try:
        held = read_text(text, "give a file that holds a query", pipes=True)
        return (
            Question.of(from_json(parse_json(held, DEEPEST_JSON), text))
            if text.endswith(".json")
            else Question.read(held, text)
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"no JSON ({error.msg})", f"{text}:{error.lineno}:{error.colno}", "use the tree that --json printed"
        ) from None


def _each(paths: Sequence[Path]) -> Iterator[Path]:
    """In place of a folder that is no run folder those below it."""
    for path in paths:
        holds = path.is_dir() and not (path / "manifest.json").exists()
        yield from run_paths([path]) if holds else [path]


def _source(path: Path, values: dict[str, Any]) -> Source:
    """A run folder, or a model with what is set."""
    from sojourn.query.query import as_source, model_source

    return model_source(path, values) if path.suffix == ".toml" else as_source(path)


def _simulated(path: Path, values: dict[str, Any], seed: int) -> Source:
    from sojourn.cli.model_file_commands import of_one_model
    from sojourn.file_kind import FIT, MODEL, expect
    from sojourn.model import Model
    from sojourn.query.sources.configured import configured
    from sojourn.query.sources.simulated import SimulatedSource

    expect(path, MODEL, FIT)
    name = ", ".join(filter(None, [f"{path.stem} simulated", of_one_model(path)]))
    return SimulatedSource(configured(Model.read(path), values), name, seed)


def _draw(it: Question, states: dict[int, NodeState], where: str) -> None:
    from sojourn.files.writing import write_output
    from sojourn.query.picture import boxes, mermaid, svg
    from sojourn.query.text import to_text

    drawn = boxes(it.tree, states)
    if where == "-":
        say(mermaid(drawn), end="")
        return
    check_writable(Path(where), "--draw-syntax-tree")
    write_output(where, svg(drawn, to_text(it.tree)) if where.endswith(".svg") else mermaid(drawn))


def _print(answer: Answer) -> None:
    out = console()
    for part in answer.parts or (answer,):
        head = f"{answer.source}: {part.verdict}" if part.verdict else f"{answer.source}:"
        out.print(f"{head}{': ' if part.verdict and part.reason else ' '}{part.reason}", markup=False, soft_wrap=True)
    if answer.valid is False:
        reasons = "; ".join(answer.invalid_reasons) or "no reason is given"
        out.print(f"  {answer.source} is NOT VALID: {reasons}", markup=False, soft_wrap=True)
