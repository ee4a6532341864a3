"""`query`: a text asked of a source, and its answer."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.errors import InputError, SourceRefused
from sojourn.file_kind import FIT, MODEL, expect, kind_of
from sojourn.former_keyword import former_field
from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.build import parse
from sojourn.query.evaluate import Evaluator, NodeState
from sojourn.query.picture import boxes, mermaid, svg
from sojourn.query.sources.source import Source
from sojourn.query.text import to_text
from sojourn.query.told import NO, UNKNOWN, YES, described, reason, shown, verdict
from sojourn.query.type_check import ValueType, check
from sojourn.query.values import Estimate, Truth, Value
from sojourn.table import Metrics

if TYPE_CHECKING:
    from sojourn.runs.run_folder import RunFolder


@dataclass(frozen=True)
class Question:
    """A query that was read and checked: its tree, and what each node gives (by `id`)."""

    tree: N.Result
    kinds: dict[int, ValueType]

    @staticmethod
    def read(text: str, name: str = "query") -> Question:
        """Raises QueryError, which says where and what was expected."""
        tree = parse(text, name)
        return Question(tree, check(tree, text, name))

    @staticmethod
    def of(tree: N.Result) -> Question:
        """Of a tree that was made otherwise. Raises QueryError where its types do not fit."""
        return Question(tree, check(tree))


@former_field(why="reason")
@dataclass(frozen=True)
class Answer:
    """What a source says to a query.

    `verdict`: `yes`, `no` or `cannot tell`, of a question; of a number "" or, where the source refuses it, `cannot tell`.
    `value`, `low`, `high`: of a number, in SI units, None where there is none. `reason`: one sentence. `tree`: the query.
    `parts`: of several queries, one answer each. `states`: what became of each node, by its `id`. `valid`: of a run, whether it was judged
    valid when it was made, and if not for what `invalid_reasons`; None of a model.
    """

    source: str
    verdict: str
    value: float | None
    low: float | None
    high: float | None
    reason: str
    tree: N.Node
    states: dict[int, NodeState]
    parts: tuple[Answer, ...] = ()
    valid: bool | None = None
    invalid_reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON: source, query, verdict, value, low, high, reason, valid, invalid_reasons; of several, their `parts`."""
        head = {"source": self.source, "query": to_text(self.tree), "verdict": self.verdict or None}
        judged = {"valid": self.valid, "invalid_reasons": list(self.invalid_reasons)}
        if self.parts:
            return {**head, "parts": [one.to_dict() for one in self.parts], **judged}
        return {**head, "value": self.value, "low": self.low, "high": self.high, "reason": self.reason, **judged}

    def svg(self) -> str:
        """The tree as a picture, with what became of each node."""
        return svg(boxes(self.tree, self.states), to_text(self.tree))

    def mermaid(self) -> str:
        """The same as a Mermaid flowchart."""
        return mermaid(boxes(self.tree, self.states))


def query(text: str | Question, source: Any) -> Answer:
    """Asks `source` (a run folder or its path, a model, a fitted one or its file, a table of Metrics) the question `text`.

    Raises QueryError for a text that is no query, InputError for what is no source. What the source cannot give makes the
    answer `cannot tell`, and `reason` names it with the remedy.
    """
    question = text if isinstance(text, Question) else Question.read(text)
    return answered(question, as_source(source))


def as_source(given: Any) -> Source:
    """The source that a path or object stands for. Raises InputError."""
    from sojourn.runs.run_folder import RunFolder

    if isinstance(given, Source):
        return given
    if isinstance(given, RunFolder):
        return folder_source(given)
    if isinstance(given, str | Path) and Path(given).suffix == ".toml":
        return model_source(Path(given), {})
    if isinstance(given, str | Path):
        return folder_source(RunFolder.open(given))
    return _other_source(given)


def _other_source(given: Any) -> Source:
    """Of a model, a fitted one, or a table of Metrics; imports that a run folder does not need."""
    from sojourn.fit.fitted_model import FittedModel
    from sojourn.model import Model
    from sojourn.query.sources.analytic import AnalyticSource
    from sojourn.query.sources.fitted_source import FittedSource
    from sojourn.query.sources.rows import RowSource

    if isinstance(given, Model):
        return AnalyticSource(given)
    if isinstance(given, Metrics):
        return RowSource(given)
    if isinstance(given, FittedModel):
        return FittedSource(given, {})
    raise InputError(repr(given)[:80], "source", "give a run folder or a model file")


def folder_source(folder: RunFolder) -> Source:
    """Of all requests where they were recorded; else of the histograms of their times."""
    from sojourn.query.sources.histograms import LOG, HistogramSource
    from sojourn.query.sources.measured import MeasuredSource

    complete = folder.sample_every == 1 and folder.has("requests")
    source: Source = MeasuredSource(folder) if complete or not (folder.path / LOG).exists() else HistogramSource(folder)
    source.valid = folder.manifest.get("valid")
    source.invalid_reasons = () if source.valid else tuple(folder.manifest.get("reasons") or ())
    return source


def model_source(path: Path, values: Mapping[str, Any]) -> Source:
    """A model file, or a fitted one, at `values` of factors and paths."""
    from sojourn.fit.fitted_model import FittedModel
    from sojourn.model import Model
    from sojourn.query.sources.analytic import AnalyticSource
    from sojourn.query.sources.configured import configured
    from sojourn.query.sources.fitted_source import FittedSource

    expect(path, MODEL, FIT)
    if kind_of(path) == FIT:
        return FittedSource(FittedModel.read(path), values, path.stem)
    return AnalyticSource(configured(Model.read(path), values), path.stem)


def answered(question: Question, source: Source) -> Answer:
    """The answer of one source."""
    tree = question.tree
    judged: dict[str, Any] = {"valid": source.valid, "invalid_reasons": source.invalid_reasons}
    source = source.with_states_of({node.station for node in nodes_of(tree) if isinstance(node, N.StateFunction)})
    evaluator = Evaluator({one.name: one for one in tree.macro}, question.kinds, source)
    if not isinstance(tree.query, N.Sequential):
        return replace(_one(evaluator, question, tree.query, source), tree=tree, **judged)
    parts = tuple(replace(_one(evaluator, question, node, source), **judged) for node in tree.query.query)
    found = worst([part.verdict for part in parts])
    return Answer(source.name, found, None, None, None, "", tree, evaluator.states, parts, **judged)


def nodes_of(node: N.Node) -> Iterator[N.Node]:
    """It and all below it."""
    yield node
    for _, child in node.children():
        yield from nodes_of(child)


def worst(verdicts: list[str]) -> str:
    """Of several: no, then cannot tell, then yes; "" where none was asked."""
    return next((one for one in (NO, UNKNOWN, YES) if one in verdicts), "")


def _one(evaluator: Evaluator, question: Question, node: N.Node, source: Source) -> Answer:
    dimension = question.kinds[id(node)].dimension
    try:
        found: Value = evaluator.value(node, {})
    except SourceRefused as refusal:
        return Answer(source.name, UNKNOWN, None, None, None, str(refusal), node, evaluator.states)
    if isinstance(found, Truth):
        return Answer(source.name, verdict(found), None, None, None, reason(found), node, evaluator.states)
    if isinstance(found, Estimate):
        value, low, high = (x if math.isfinite(x) else None for x in (found.value, found.low, found.high))
        return Answer(source.name, "", value, low, high, shown(found, dimension), node, evaluator.states)
    return Answer(source.name, "", None, None, None, described(found, dimension), node, evaluator.states)
