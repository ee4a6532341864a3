"""Users in sessions: the probability of each next page, as a CSV file has it, and how often each page is asked for.

The first row names the columns: `from`, the pages, Back, EndOfSession; then one row a page, in the same order. A session begins
with the first page. Back goes to the page before, which is asked for again; a session that has ended is followed by a new one.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import InputError
from sojourn.files.reading import read_text

Array = NDArray[np.float64]
BACK_AND_END = ("Back", "EndOfSession")
ROUNDING = 1e-9
CONVERGED, MOST_ROUNDS = 1e-15, 100_000
MOST_PAGES = 1000


@dataclass(frozen=True)
class TransitionMatrix:
    """`rows`: pages × (pages, back, end), probabilities whose sums are 1, or zeros for a page that is never asked for. `notes`:
    what was changed for that."""

    pages: tuple[str, ...]
    rows: Array
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> TransitionMatrix:
        """A matrix from a CSV file.

        A row is walked as RUBBoS's users do: the first column is taken whose cumulative sum passes a number drawn from 0 to 1.
        What is above 1 is so cut from the end of the row; where a row falls short of 1 they stay, and ask for the page once more.

        Raises:
            InputError: no such file, a name or a number that is none; it names row and column.
        """
        remedy = "give a CSV file with a transition matrix"
        try:
            table = [row for row in csv.reader(read_text(path, remedy, pipes=True).splitlines()) if row]
        except csv.Error as error:
            raise InputError(error, str(path), remedy) from None
        head, pages = _head(table, path)
        found, notes = [], []
        for number, row in enumerate(table[1:]):
            if len(row) != len(head) or row[0] != pages[number]:
                remedy = f"the row needs {len(head)} cells and begins with {pages[number]}: rows have the order of the columns"
                raise InputError(f"row {row[0]!r} with {len(row)} cells", str(path), remedy)
            values = _numbers(row, head, path)
            total = float(values.sum())
            if abs(total - 1) > ROUNDING and total > 0:
                done = (
                    "the part above 1 is cut off at the row's end"
                    if total > 1
                    else "the rest requests the same page again"
                )
                notes.append(f"{path.name}: row {row[0]} sums to {total:g}; {done}")
            found.append(_walked(values, number) if total > 0 else values)
        if not found[0].sum():
            raise InputError(
                f"row {pages[0]!r} of zeros", str(path), "sessions begin there: the row needs probabilities"
            )
        for number, name in enumerate(pages):
            reached = any(row[number] > 0 for row in found)
            if reached and not found[number].sum():
                raise InputError(
                    f"row {name!r} of zeros", str(path), "other rows lead there: the row needs probabilities"
                )
        return cls(pages, np.array(found), tuple(notes))

    def reweighted(self, weights: Array) -> TransitionMatrix:
        """With the probability of each next page times its weight (> 0, a value a page), in rows that sum to 1 again; Back and the
        end of the session keep theirs beside them. Where only one page follows, it still does."""
        rows = self.rows * np.append(weights, [1.0, 1.0])
        sums = rows.sum(axis=1, keepdims=True)
        return TransitionMatrix(self.pages, np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0), self.notes)

    def only(self, page: str) -> TransitionMatrix:
        """One page again and again; one in a hundred requests ends the session, and the next begins where all do."""
        number, rows = self.pages.index(page), np.zeros_like(self.rows)
        rows[[0, number], number] = 0.99
        rows[[0, number], -1] = 0.01
        return TransitionMatrix(self.pages, rows)

    @cached_property
    def shares(self) -> Array:
        """Of all requests those for each page, in the long run.

        A visit to a page begins with its request and lasts until its user goes back or the session ends; visits that begin
        there are left by Back with probability r = b + r P r', by fixed-point iteration, and have 1/(1 - P r) requests.
        """
        count = len(self.pages)
        forward, back = self.rows[:, :count], self.rows[:, count]
        left = np.zeros(count)
        for _ in range(MOST_ROUNDS):
            again = back / (1 - forward @ left)
            done, left = bool(np.abs(again - left).max() < CONVERGED), again
            if done:
                break
        requests = 1 / (1 - forward @ left)
        begin = np.zeros(count)
        begin[0] = 1.0
        visits = np.linalg.solve((np.eye(count) - requests[:, None] * forward).T, begin)
        asked = visits * requests
        return np.asarray(asked / asked.sum())


def mixed_shares(mixes: Sequence[tuple[float, TransitionMatrix]]) -> dict[str, float]:
    """Shares of pages where users of several kinds, by share of the users, are as quick as each other."""
    pages = mixes[0][1].pages
    total = np.sum([share * matrix.shares for share, matrix in mixes], axis=0)
    return dict(zip(pages, map(float, total / total.sum()), strict=True))


def _head(table: list[list[str]], path: Path) -> tuple[list[str], tuple[str, ...]]:
    head = table[0] if table else []
    pages = tuple(head[1:-2])
    if tuple(head[-2:]) != BACK_AND_END or not 1 <= len(pages) <= MOST_PAGES or len(set(pages)) < len(pages):
        raise InputError(
            f"columns {', '.join(head)[:80] or 'none'}", str(path), "name them: from, the pages (each once), Back, EndOfSession"
        )  # fmt: skip
    if len(table) - 1 != len(pages):
        raise InputError(f"{len(table) - 1} rows for {len(pages)} pages", str(path), "give one row for each page")
    return head, pages


def _numbers(row: list[str], head: list[str], path: Path) -> Array:
    values = np.empty(len(row) - 1)
    for number, text in enumerate(row[1:]):
        try:
            values[number] = float(text)
        except ValueError:
            values[number] = np.nan
        if not 0 <= values[number] <= 1:
            raise InputError(repr(text), f"{path}, row {row[0]}, column {head[number + 1]}", "give a probability")
    return values


def _walked(values: Array, number: int) -> Array:
    """The probabilities with which a walk along row `number` takes each column."""
    passed = np.minimum(np.cumsum(values), 1.0)
    found = np.diff(passed, prepend=0.0)
    found[number] += 1.0 - passed[-1]
    return np.asarray(found)
