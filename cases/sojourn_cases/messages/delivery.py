"""What a message service promised, judged from its clients' own logs: at most once, or at least once.

A history is what each client did and was told; the service and its database are not asked. Every message has a content
of its own, by which it is known again, and the history ends with takes that drain each queue. The judge makes no
assumption on when an operation took effect but that it was after its start and, where it was answered, before its end.
So it never blames an honest service, whatever the client did not see.

Without redelivery, at most once: an acknowledged put is taken by one client, or went out in a take whose client never
saw the answer; of these there are at least as many in that queue. With redelivery, at least once: every acknowledged
put is taken and acknowledged, and comes twice only where its time was over before it was acknowledged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from typing import Literal

from sojourn.errors import InputError

DONE, EMPTY, GONE, REFUSED, UNKNOWN = "done", "empty", "gone", "refused", "unknown"


@dataclass(frozen=True)
class ClientOperation:
    """One request of a client, times in s on one clock for all clients.

    Args:
        outcome: `done`; `empty`, a take that found nothing; `gone`, an acknowledgement of what is not lent to its client;
            `refused`, surely nothing was done; `unknown`, the answer did not come, or said so.
        content: of the message put, or taken (None where none came).
        number: that the service gave the message. receipt: of a take with redelivery, and of its acknowledgement.
    """

    client: str
    start_s: float
    end_s: float
    kind: Literal["put", "take", "acknowledge"]
    queue: str
    outcome: Literal["done", "empty", "gone", "refused", "unknown"]
    content: str | None = None
    number: int | None = None
    receipt: int | None = None


# Acknowledgements, by queue and receipt
Asked = dict[tuple[str, int | None], list[ClientOperation]]


@dataclass
class DeliveryVerdict:
    """`faults` are sentences, none where the promise was kept; `counts` say what the history held."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.faults


def judge(history: Iterable[ClientOperation], *, redelivery_s: float | None = None) -> DeliveryVerdict:
    """Whether the service kept its promise; `redelivery_s` is the time after which a take is undone, None for never.

    Raises:
        InputError: the history cannot be judged: two puts of one content, times that run backwards, a queue that was
            not drained.
    """
    operations = sorted(history, key=lambda one: one.start_s)
    _check(operations, redelivery_s or 0.0)
    puts = {one.content: one for one in operations if one.kind == "put"}
    takes: dict[str | None, list[ClientOperation]] = defaultdict(list)
    for one in operations:
        if one.kind == "take" and one.outcome == DONE:
            takes[one.content].append(one)
    verdict = DeliveryVerdict(_counts(operations))
    for content, taken in takes.items():
        verdict.faults += _foreign(puts.get(content), taken)
    if redelivery_s is None:
        _at_most_once(verdict, operations, puts.values(), takes)
    else:
        _at_least_once(verdict, operations, puts.values(), takes, redelivery_s)
    return verdict


def _check(operations: Sequence[ClientOperation], rest_s: float) -> None:
    for content, count in Counter(one.content for one in operations if one.kind == "put").items():
        if count > 1 or content is None:
            raise InputError(content, "content of a put", "give every message a unique content")
    for one in operations:
        if not one.start_s <= one.end_s:
            raise InputError(
                one, "history", "every operation has to end after it started; use one clock for all clients"
            )
    for queue, of_queue in groupby(sorted(operations, key=lambda one: one.queue), key=lambda one: one.queue):
        *earlier, last = sorted(of_queue, key=lambda one: one.start_s)
        ended_s = max((one.end_s for one in earlier if one.outcome != EMPTY), default=last.start_s - rest_s)
        if last.outcome != EMPTY or last.start_s < ended_s + rest_s:
            raise InputError(
                queue, "history", f"end it with an empty take, {rest_s:g} s after the queue's last other operation"
            )


def _counts(operations: Iterable[ClientOperation]) -> Counter[str]:
    return Counter(f"{one.kind} {one.outcome}" for one in operations)


def _foreign(put: ClientOperation | None, takes: Iterable[ClientOperation]) -> Iterator[str]:
    """What is wrong with takes of one message whatever was promised."""
    for take in takes:
        if put is None:
            yield f"taken, never put: {take}"
        elif put.outcome == REFUSED:
            yield f"taken, though its put was refused: {take}"
        elif take.end_s < put.start_s:
            yield f"taken before it was put: {take}"
        elif take.queue != put.queue:
            yield f"put into {put.queue}, taken from another queue: {take}"
        elif put.number is not None and put.number != take.number:
            yield f"put as number {put.number}, taken with another number: {take}"


def _at_most_once(
    verdict: DeliveryVerdict,
    operations: Iterable[ClientOperation],
    puts: Iterable[ClientOperation],
    takes: dict[str | None, list[ClientOperation]],
) -> None:
    for taken in takes.values():
        if len(taken) > 1:
            verdict.faults.append(f"taken {len(taken)} times: {taken}")
    gone = Counter(put.queue for put in puts if put.outcome == DONE and put.content not in takes)
    cut = Counter(one.queue for one in operations if one.kind == "take" and one.outcome == UNKNOWN)
    for queue, count in gone.items():
        if count > cut[queue]:
            verdict.faults.append(f"{queue}: {count} messages lost, but only {cut[queue]} takes had no answer")
    verdict.counts["in a take without an answer"] = gone.total()


def _at_least_once(
    verdict: DeliveryVerdict,
    operations: Iterable[ClientOperation],
    puts: Iterable[ClientOperation],
    takes: dict[str | None, list[ClientOperation]],
    redelivery_s: float,
) -> None:
    asked: Asked = defaultdict(list)
    for one in operations:
        if one.kind == "acknowledge":
            asked[one.queue, one.receipt].append(one)
    for taken in takes.values():
        verdict.faults += _too_often(taken, asked, redelivery_s)
        verdict.counts["taken again"] += len(taken) - 1
    settled = {content for content, taken in takes.items() if any(_may_be_over(take, asked) for take in taken)}
    # The history ends with an empty queue: what was taken and never acknowledged must have come back.
    for put in puts:
        if put.content not in settled and (put.outcome == DONE or put.content in takes):
            verdict.faults.append(f"lost: {put}, taken {len(takes.get(put.content, []))} times, never acknowledged")


def _may_be_over(take: ClientOperation, asked: Asked) -> bool:
    return any(one.outcome in (DONE, UNKNOWN) for one in asked.get((take.queue, take.receipt), []))


def _too_often(taken: Sequence[ClientOperation], asked: Asked, redelivery_s: float) -> Iterator[str]:
    """One message: a delivery too early, one after its acknowledgement, two acknowledgements, one in time in vain."""
    for one, other in combinations(taken, 2):
        longest_s = max(other.end_s - one.start_s, one.end_s - other.start_s)
        if longest_s < redelivery_s:
            yield f"taken again after at most {longest_s:.3f} s: {one} and {other}"
    done = [(take, one) for take in taken for one in asked.get((take.queue, take.receipt), []) if one.outcome == DONE]
    if len(done) > 1:
        yield f"acknowledged {len(done)} times: {[one for _, one in done]}"
    for last, acknowledged in done:
        # A take after `last` would have ended the right to acknowledge it.
        yield from (f"taken after {acknowledged}: {take}" for take in taken if take.start_s > last.end_s)
    for take in taken:
        tries = [one for one in asked.get((take.queue, take.receipt), []) if one.outcome != REFUSED]
        if len(tries) == 1 and tries[0].outcome == GONE and tries[0].end_s - take.start_s < redelivery_s:
            yield f"acknowledgement refused before its time was over: {tries[0]} of {take}"
