"""The judge of delivery: planted faults are found, each for what it is, and what a client did not see is no fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sojourn.errors import InputError
from sojourn_cases.messages.delivery import ClientOperation, judge

History = list[ClientOperation]
T = 1.0


def put(at: float, content: str, outcome: str = "done", **more: object) -> ClientOperation:
    return ClientOperation("a", at, at + 0.1, "put", "q", outcome, content, **more)  # type: ignore[arg-type]


def take(at: float, content: str | None, outcome: str = "done", **more: object) -> ClientOperation:
    return ClientOperation("b", at, at + 0.1, "take", "q", outcome, content, **more)  # type: ignore[arg-type]


def acknowledge(at: float, receipt: int, outcome: str = "done") -> ClientOperation:
    return ClientOperation("b", at, at + 0.1, "acknowledge", "q", outcome, receipt=receipt)  # type: ignore[arg-type]


END = take(100.0, None, "empty")
ONCE = [put(0, "x"), put(1, "y"), take(2, "x"), take(3, "y"), END]
LENT = [put(0, "x"), take(1, "x", receipt=7), acknowledge(1.5, 7), END]


@pytest.mark.parametrize(
    "history",
    [
        ONCE,
        [END],
        [put(0, "x"), take(1, None, "unknown"), END],
        [put(0, "x", "unknown"), END],
        [put(0, "x", "unknown"), take(1, "x"), END],
        [put(0, "x", "refused"), END],
        [put(0, "x"), take(0.05, "x"), END],
    ],
)
def test_once_or_not_seen(history: History) -> None:
    assert judge(history).faults == []


@pytest.mark.parametrize(
    ("history", "told"),
    [
        ([*ONCE, take(4, "x")], "taken 2 times"),
        ([*ONCE, replace(take(2, "x"), client="c")], "taken 2 times"),
        ([put(0, "x", "unknown"), take(1, "x"), take(2, "x"), END], "taken 2 times"),
        ([put(0, "x"), END], "1 messages lost, but only 0"),
        ([put(0, "x"), put(0, "y"), take(1, None, "unknown"), END], "2 messages lost, but only 1"),
        ([put(0, "x"), take(1, None, "refused"), END], "1 messages lost"),
        ([*ONCE, take(4, "z")], "never put"),
        ([put(0, "x", "refused"), take(1, "x"), END], "was refused"),
        ([take(0, "x"), put(1, "x"), END], "before it was put"),
        ([put(0, "x", number=1), take(1, "x", number=2), END], "as number 1"),
        (
            [replace(put(0, "x"), queue="r"), replace(END, queue="r"), take(1, "x"), END],
            "put into r",
        ),
    ],
)
def test_a_planted_fault_is_found(history: History, told: str) -> None:
    (fault,) = judge(history).faults
    assert told in fault


@pytest.mark.parametrize(
    "history",
    [
        LENT,
        [put(0, "x"), take(1, None, "unknown"), take(3, "x", receipt=8), acknowledge(3.2, 8), END],
        [put(0, "x"), take(1, "x", receipt=7), take(2.2, "x", receipt=8), acknowledge(3, 8), END],
        [put(0, "x"), take(1, "x", receipt=7), acknowledge(1.5, 7, "unknown"), END],
        [put(0, "x"), take(1, "x", receipt=7), acknowledge(1.5, 7, "unknown"), acknowledge(1.7, 7, "gone"), END],
        [
            *(put(0, "x"), take(1, "x", receipt=7), acknowledge(1.2, 7, "unknown")),
            *(take(2.5, "x", receipt=8), acknowledge(2.7, 8), acknowledge(2.8, 7, "gone"), END),
        ],
    ],
)
def test_at_least_once(history: History) -> None:
    assert judge(history, redelivery_s=T).faults == []


@pytest.mark.parametrize(
    ("history", "told"),
    [
        ([put(0, "x"), END], "lost"),
        ([put(0, "x"), take(1, None, "unknown"), END], "lost"),
        ([put(0, "x"), take(1, "x", receipt=7), END], "lost"),
        ([put(0, "x"), take(1, "x", receipt=7), acknowledge(1.5, 7, "gone"), END], "lost"),
        ([put(0, "x"), take(1, "x", receipt=7), take(1.5, "x", receipt=8), acknowledge(3, 8), END], "taken again"),
        ([*LENT, take(5, "x", receipt=8)], "taken after"),
        ([*LENT, acknowledge(1.6, 7)], "acknowledged 2 times"),
        ([*LENT, take(5, "y", receipt=8), acknowledge(5.2, 8)], "never put"),
    ],
)
def test_a_planted_fault_of_redelivery_is_found(history: History, told: str) -> None:
    assert any(told in fault for fault in judge(history, redelivery_s=T).faults)


def test_an_acknowledgement_in_time_and_in_vain_is_a_fault() -> None:
    later = [take(3, "x", receipt=8), acknowledge(3.2, 8)]
    early = judge([put(0, "x"), take(1, "x", receipt=7), acknowledge(1.5, 7, "gone"), *later, END], redelivery_s=T)
    assert [fault[:23] for fault in early.faults] == ["acknowledgement refused"]
    late = judge([put(0, "x"), take(1, "x", receipt=7), acknowledge(2.0, 7, "gone"), *later, END], redelivery_s=T)
    assert late.holds and late.counts["taken again"] == 1


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda history: [*history, put(5, "x")], "content of a put"),
        (lambda history: [*history, replace(put(5, "z"), end_s=4)], "history"),
        (lambda history: history[:-1], "history"),
        (lambda history: [*history, take(99.95, None, "unknown")], "history"),
        (lambda history: [*history, replace(put(5, "z"), queue="other")], "history"),
    ],
)
def test_what_cannot_be_judged_is_told(change: Callable[[History], History], place: str) -> None:
    with pytest.raises(InputError) as raised:
        judge(change(ONCE))
    assert raised.value.place == place and raised.value.remedy
