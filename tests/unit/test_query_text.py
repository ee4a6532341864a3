"""Queries as text: what is read is what was written, and what is wrong is told with its place."""

from __future__ import annotations

import pytest
from query_trees import Trees

from sojourn.query import nodes as N  # noqa: N812
from sojourn.query.build import parse
from sojourn.query.check import check
from sojourn.query.text import to_text


def test_a_tree_is_its_text() -> None:
    """Text → tree → text, over trees of all kinds of nodes; `tools` for more: the same with 10 000 of them."""
    trees, kinds = Trees(seed=1), set()
    for _ in range(400):
        tree = trees.result()
        text = to_text(tree)
        again = parse(text)
        assert again == tree, text
        assert to_text(again) == text
        check(again, text)
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
        ("let slow(x) = 1 - probability(response <= x);\nslow(50ms)",
         "let slow(x) = 1 - probability(response_time in [0, x]); slow(50ms)"),
    ],
)  # fmt: skip
def test_short_forms(text: str, same: str) -> None:
    assert to_text(parse(text)) == same and to_text(parse(same)) == same
