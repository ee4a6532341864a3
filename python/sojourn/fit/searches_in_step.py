"""Searches that ask the same function, in step: what they ask at a time is answered together.

A model takes about as long for a few points as for one. A search, such as scipy's, asks for one at a time; so each is a thread that
waits for its answer, and the thread that began them answers all that wait by one call. Each search goes as it would alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import Condition, Thread
from typing import Generic, TypeVar

NAME = "search"  # of its threads
Question = TypeVar("Question")
Answer = TypeVar("Answer")
Found = TypeVar("Found")
Ask = Callable[[Question], Answer]


def in_step(
    answer: Callable[[Sequence[Question]], Sequence[Answer]],
    searches: Sequence[Callable[[Ask[Question, Answer]], Found]],
) -> list[Found]:
    """What each of `searches` finds; it is given a function that it asks. `answer`: questions → an answer each.

    Raises what `answer` raises, else what the first of the searches raised.
    """
    if len(searches) == 1:
        return [searches[0](lambda question: answer([question])[0])]
    return _Step(answer, searches).found()


class _SearchEndedError(Exception):
    """In a search that gets no answer any more."""


class _Step(Generic[Question, Answer, Found]):
    def __init__(
        self,
        answer: Callable[[Sequence[Question]], Sequence[Answer]],
        searches: Sequence[Callable[[Ask[Question, Answer]], Found]],
    ) -> None:
        self.answer, self.searches = answer, searches
        self.changed, self.left, self.stopped = Condition(), len(searches), False
        self.asked: dict[int, Question] = {}
        self.told: dict[int, Answer] = {}
        self.results: dict[int, Found] = {}
        self.raised: dict[int, BaseException] = {}

    def found(self) -> list[Found]:
        threads = [
            Thread(target=copy_context().run, args=(self._search, number), name=NAME, daemon=True)
            for number in range(len(self.searches))
        ]
        try:
            for thread in threads:
                thread.start()
            while self._all_wait():
                numbers = sorted(self.asked)
                told = dict(zip(numbers, self.answer([self.asked[n] for n in numbers]), strict=True))
                with self.changed:
                    self.asked, self.told = {}, told
                    self.changed.notify_all()
        finally:
            with self.changed:
                self.stopped = True
                self.changed.notify_all()
            for thread in threads:
                if thread.ident is not None:  # one that could not start ended the others
                    thread.join()
        for number in sorted(self.raised):
            raise self.raised[number]
        return [self.results[number] for number in range(len(self.searches))]

    def _all_wait(self) -> bool:
        """When all that still search have asked; False where none does."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.asked) == self.left)
            return self.left > 0

    def _search(self, number: int) -> None:
        try:
            self.results[number] = self.searches[number](lambda question: self._ask(number, question))
        except _SearchEndedError:
            pass
        except BaseException as error:
            self.raised[number] = error
        finally:
            with self.changed:
                self.left -= 1
                self.changed.notify_all()

    def _ask(self, number: int, question: Question) -> Answer:
        with self.changed:
            self.asked[number] = question
            self.changed.notify_all()
            self.changed.wait_for(lambda: number in self.told or self.stopped)
            if number not in self.told:
                raise _SearchEndedError
            return self.told.pop(number)
