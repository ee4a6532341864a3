"""Queries as text: what is read is what was written, and what is wrong is told with its place."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest
from query_trees import Trees

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.build import parse
from sojourn.query.english import english
from sojourn.query.json_form import from_json, to_json
from sojourn.query.picture import boxes, mermaid, svg
from sojourn.query.text import to_text
from sojourn.query.type_check import check


def test_a_tree_is_its_text() -> None:
    """Text → tree → text and JSON → tree → JSON, over trees of all kinds of nodes; 10 000 of them went through on 2026-11-23."""
    trees, kinds = Trees(seed=1), set()
    for _ in range(300):
        tree = trees.result()
        text = to_text(tree)
        again = parse(text)
        assert again == tree, text
        assert to_text(again) == text
        check(again, text)
        assert from_json(json.loads(json.dumps(to_json(tree)))) == tree
        stack: list[N.Node] = [tree]
        while stack:
            node = stack.pop()
            kinds.add(type(node).__name__)
            stack += [child for _, child in node.children()]
    every = {name for name, kind in vars(N).items() if isinstance(kind, type) and issubclass(kind, N.Node)}
    assert every - kinds == {"Node"}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("p99 < 50ms", "p99(response_time) < 50ms"),
        ("mean<=1.5s", "mean(response_time) <= 1.5s"),
        ("errors < 0.1 %", "share(failed / arrivals) < 0.1%"),
        ("rate >= 190 /s", "rate(answered) >= 190/s"),
        ("p99.9{class='user'} < 300µs", "p99.9(response_time{class=user}) < 300us"),
        ("probability(response <= 50ms)", "probability(response_time in [0, 50ms])"),
        ("probability(wait > 1s)", "probability(waiting_time in (1s, inf))"),
        ("mean(n())", "mean(distribution(n()))"),
        ("1 - (2 - 3) - 4", "1 - (2 - 3) - 4"),
        ("2 ^ -3 ^ 2", "2 ^ (-1 * 3 ^ 2)"),
        ("not p50 < 1s or true and false", "not p50(response_time) < 1s or true and false"),
        ("p99 < 50ms in 99% of 10s windows # a comment", "p99(response_time) < 50ms in 99% of 10s windows"),
        ("p99 < 50ms in 1e1% of 2e+48s windows", "p99(response_time) < 50ms in 10% of 2e+48s windows"),
        ("let slow(x) = 1 - probability(response <= x);\nslow(50ms)",
         "let slow(x) = 1 - probability(response_time in [0, x]); slow(50ms)"),
    ],
)  # fmt: skip
def test_short_forms(text: str, same: str) -> None:
    assert to_text(parse(text)) == same and to_text(parse(same)) == same


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("p99 < 50ms and errors < 0.1%", "Is it true that the 99 % quantile of the response time is below 50 ms and the share of requests "
         "that fail in requests that arrive is below 0.1 %?"),
        ("mean(passage(from {n(cpu) == 0} to {n() >= 8}))", "What is the mean of the time from entering the states in which the "
         "number at cpu equals 0 to the next entry into the states in which the number present is at least 8?"),
        ("let slow(x) = 1 - probability(response in [0, x]); slow(50ms)", "Let slow of x be 1 minus the probability that the response time "
         "lies between 0 and x. What is slow of 50 ms?"),
        ("states(probability in (0.1, 1])", "Which are the states whose probability lies between 0.1 and 1, the lower end not included?"),
    ],
)  # fmt: skip
def test_english(text: str, sentence: str) -> None:
    assert english(parse(text)) == sentence


def test_every_kind_of_node_is_drawn_and_said() -> None:
    trees = Trees(seed=2)
    for _ in range(60):
        tree = trees.result()
        drawn = boxes(tree, {})
        root = ElementTree.fromstring(svg(drawn, to_text(tree)))
        count, stack = 0, [tree]
        while stack:
            node: N.Node = stack.pop()  # type: ignore[assignment]
            count += 1
            stack += [child for _, child in node.children()]  # type: ignore[misc]
        assert len(root.findall("{*}rect")) == count + 1
        assert len(root.findall("{*}path")) == count - 1
        lines = mermaid(drawn).splitlines()
        assert lines[0] == "flowchart TD" and sum(" -->|" in line for line in lines) == count - 1
        assert english(tree).endswith("?")
