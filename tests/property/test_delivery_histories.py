"""The judge of delivery never blames an honest service, and finds every change of its history that breaks the promise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn_cases.messages.delivery import ClientOperation, judge

STEADY = settings(max_examples=300, deadline=None, derandomize=True)
T = 5.0
# What is done, what its client sees of it, and how long before and after the effect the client waits, in s.
Step = tuple[str, str, float, float]
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "take", "take", "acknowledge"]),
        st.sampled_from(["seen", "seen", "seen", "cut before", "cut after", "refused"]),
        st.floats(0, 3),
        st.floats(0, 3),
    ),
    max_size=40,
)


@dataclass
class Honest:
    """A queue that keeps its promise, a step each second; its clients see what they are let see."""

    redelivery_s: float | None
    now: float = 10.0
    waiting: list[str] = field(default_factory=list)
    lent: dict[int, tuple[float, str]] = field(default_factory=dict)
    # Receipts that a client has seen.
    known: list[int] = field(default_factory=list)
    receipts: int = 0
    history: list[ClientOperation] = field(default_factory=list)

    def step(self, step: Step) -> None:
        kind, seen, before, after = step
        self.now += 1.0
        for receipt in [receipt for receipt, (until, _) in self.lent.items() if until <= self.now]:
            self.waiting.insert(0, self.lent.pop(receipt)[1])
        if kind == "acknowledge" and not self.known:
            return
        told: dict[str, object] = {"content": f"{self.now:g}"} if kind == "put" else {}
        told |= {"receipt": self.known[int(before * 1e3) % len(self.known)]} if kind == "acknowledge" else {}
        outcome = "refused" if seen == "refused" else "unknown"
        if seen in ("seen", "cut after"):
            done, answer = getattr(self, f"_{kind}")(told)
            (outcome, told) = (done, told | answer) if seen == "seen" else (outcome, told)
            if seen == "seen" and "receipt" in answer:
                self.known.append(answer["receipt"])
        end_s = self.now + after if outcome != "unknown" else self.now - before + after
        self.history.append(ClientOperation("a", self.now - before, end_s, kind, "q", outcome, **told))  # type: ignore[arg-type]

    def _put(self, told: dict[str, object]) -> tuple[str, dict[str, object]]:
        self.waiting.append(str(told["content"]))
        return "done", {}

    def _take(self, told: dict[str, object]) -> tuple[str, dict[str, object]]:
        if not self.waiting:
            return "empty", {}
        content = self.waiting.pop(0)
        if self.redelivery_s is None:
            return "done", {"content": content}
        self.receipts += 1
        self.lent[self.receipts] = (self.now + self.redelivery_s, content)
        return "done", {"content": content, "receipt": self.receipts}

    def _acknowledge(self, told: dict[str, object]) -> tuple[str, dict[str, object]]:
        return ("done" if self.lent.pop(told["receipt"], None) else "gone"), {}  # type: ignore[call-overload]


def history(given_: list[Step], redelivery_s: float | None) -> list[ClientOperation]:
    """Of an honest service, drained."""
    queue = Honest(redelivery_s)
    for step in given_:
        queue.step(step)
    queue.now += 20.0
    while True:
        queue.step(("take", "seen", 0.0, 0.0))
        if queue.history[-1].outcome == "empty":
            queue.now += 20.0
            queue.step(("take", "seen", 0.0, 0.0))
            return queue.history
        if redelivery_s is not None:
            queue.known = queue.known[-1:]
            queue.step(("acknowledge", "seen", 0.0, 0.0))


@given(steps, st.sampled_from([None, T]))
@STEADY
def test_an_honest_service_is_not_blamed(given_: list[Step], redelivery_s: float | None) -> None:
    assert judge(history(given_, redelivery_s), redelivery_s=redelivery_s).faults == []


def spoiled(given_: list[Step], redelivery_s: float | None, change: Callable[[list[ClientOperation]], bool]) -> None:
    """Where the change can be made, it is found."""
    found = history(given_, redelivery_s)
    if change(found):
        assert not judge(found, redelivery_s=redelivery_s).holds


@given(steps, st.sampled_from([None, T]))
@STEADY
def test_a_loss_is_found(given_: list[Step], redelivery_s: float | None) -> None:
    def lose(found: list[ClientOperation]) -> bool:
        found.append(ClientOperation("a", 0.0, 1.0, "put", "q", "done", "never seen again"))
        # At most once: so many takes without an answer may hold a message, and no more.
        cut = sum(one.kind == "take" and one.outcome == "unknown" for one in found)
        held = {one.content for one in found if one.kind == "take" and one.outcome == "done"}
        gone = sum(one.kind == "put" and one.outcome == "done" and one.content not in held for one in found)
        return redelivery_s is not None or gone > cut

    spoiled(given_, redelivery_s, lose)


@given(steps, st.sampled_from([None, T]))
@STEADY
def test_a_second_take_is_found(given_: list[Step], redelivery_s: float | None) -> None:
    def twice(found: list[ClientOperation]) -> bool:
        # One that took as long as the redelivery may have been undone and done again.
        short = [one for one in found if one.end_s - one.start_s < T / 2]
        taken = [one for one in short if one.kind == "take" and one.outcome == "done"]
        if taken:
            found.append(replace(taken[0], client="b", end_s=taken[0].start_s + T / 2, receipt=10_000))
        return bool(taken)

    spoiled(given_, redelivery_s, twice)


@given(steps, st.sampled_from([None, T]))
@STEADY
def test_a_message_that_nobody_put_is_found(given_: list[Step], redelivery_s: float | None) -> None:
    def invent(found: list[ClientOperation]) -> bool:
        found.append(ClientOperation("b", 1.0, 2.0, "take", "q", "done", "invented", receipt=10_000))
        return True

    spoiled(given_, redelivery_s, invent)
