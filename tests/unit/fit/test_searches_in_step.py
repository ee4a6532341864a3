"""Searches in step: each goes as it would alone, and what they ask at a time is answered by one call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from sojourn.fit.searches_in_step import NAME, in_step


def halving(low: float, high: float, steps: int) -> Callable[[Callable[[float], float]], float]:
    """The root of what is asked, by bisection."""

    def search(ask: Callable[[float], float]) -> float:
        a, b = low, high
        for _ in range(steps):
            middle = (a + b) / 2
            a, b = (middle, b) if ask(middle) < 0 else (a, middle)
        return a

    return search


def test_each_goes_as_it_would_alone_and_all_that_wait_are_answered_together() -> None:
    calls: list[int] = []

    def answer(questions: Sequence[float]) -> list[float]:
        calls.append(len(questions))
        return [x**3 - 2 for x in questions]

    searches = [halving(0.0, 2.0, 40), halving(1.0, 3.0, 40), halving(0.0, 5.0, 10)]
    found = in_step(answer, searches)
    assert found == [search(lambda x: x**3 - 2) for search in searches]
    assert found[:2] == pytest.approx([2 ** (1 / 3)] * 2, abs=1e-11)
    assert calls == [3] * 10 + [2] * 30


def searching() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == NAME]


def test_one_search_needs_no_thread() -> None:
    assert in_step(lambda asked: [len(searching())] * len(asked), [lambda ask: ask(0)]) == [0]


def test_what_a_search_raises_comes_out_when_the_others_are_at_their_end() -> None:
    ended: list[float] = []

    def wrong(ask: Callable[[float], float]) -> float:
        raise ValueError(f"not finite: {ask(1.0)}")

    def good(ask: Callable[[float], float]) -> float:
        ended.append(sum(ask(1.0) for _ in range(5)))
        return 0.0

    with pytest.raises(ValueError, match="not finite: 2"):
        in_step(lambda asked: [2 * x for x in asked], [wrong, good])
    assert ended == [10.0]


def test_where_there_is_no_answer_no_thread_is_left() -> None:
    def answer(_asked: Sequence[float]) -> list[float]:
        raise ZeroDivisionError("no answer")

    with pytest.raises(ZeroDivisionError, match="no answer"):
        in_step(answer, [halving(0.0, 1.0, 3), halving(0.0, 1.0, 3)])
    assert searching() == []
