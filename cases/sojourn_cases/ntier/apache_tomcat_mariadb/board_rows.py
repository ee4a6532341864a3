"""The rows of the bulletin board, from a scale and a seed: the same as those that `bulletin_database/rows.sql` makes in PostgreSQL.

What looks random in them is PostgreSQL's `hashint8extended`, which is the hash `lookup3` of Bob Jenkins (2006, public domain) of an
eight-byte number and a seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sojourn_cases.ntier.bulletin_database import TableSizes

Cell: TypeAlias = int | str
Table: TypeAlias = Iterator[tuple[Cell, ...]]
Integers: TypeAlias = NDArray[np.int64]

MASK = (1 << 63) - 1
BEGUN = 0x9E3779B9 + 4 + 3923095
MIX = ((0, 2, 1, 4), (1, 0, 2, 6), (2, 1, 0, 8), (0, 2, 1, 16), (1, 0, 2, 19), (2, 1, 0, 4))
FINAL = ((2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24))
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"
WORDS, PASSAGES, PASSAGE_WORDS, PASSAGE_LENGTH = 2000, 256, 300, 1400
CATEGORIES = 20
FIRST, NEWEST = datetime(2023, 1, 1), datetime(2026, 1, 1)
YEARS_US = 94_608_000 * 1_000_000  # three years, as rows.sql has them


def hashed(ids: Integers, seed: int) -> Integers:
    """PostgreSQL's `hashint8extended(id, seed)` of each id (0 or more), without its sign bit."""
    low = ((ids & 0xFFFFFFFF) ^ (ids >> 32)).astype(np.uint32)
    state = [np.full(len(low), BEGUN & 0xFFFFFFFF, np.uint32) for _ in range(3)]
    if seed:
        state[0] = state[0] + np.uint32(seed >> 32)
        state[1] = state[1] + np.uint32(seed & 0xFFFFFFFF)
        for one, two, three, turn in MIX:
            state[one] = (state[one] - state[two]) ^ _rotated(state[two], turn)
            state[two] = state[two] + state[three]
    state[0] = state[0] + low
    for one, two, turn in FINAL:
        state[one] = (state[one] ^ state[two]) - _rotated(state[two], turn)
    whole = (state[1].astype(np.uint64) << np.uint64(32)) | state[2].astype(np.uint64)
    return (whole & np.uint64(MASK)).astype(np.int64)


def _rotated(word: NDArray[np.uint32], turn: int) -> NDArray[np.uint32]:
    return (word << np.uint32(turn)) | (word >> np.uint32(32 - turn))


@dataclass(frozen=True)
class BoardRows:
    """All tables of a board, row by row in the order of their identifiers; columns as in `schema.sql`."""

    size: TableSizes
    seed: int

    def _hash(self, ids: Integers, purpose: int) -> Integers:
        return hashed(ids, self.seed * 64 + purpose)

    def _word_ids(self, ids: Integers, *purposes: int) -> list[list[int]]:
        return [(self._hash(ids, purpose) % WORDS).tolist() for purpose in purposes]

    def words(self) -> list[str]:
        """Of two to four syllables."""
        ids = np.arange(WORDS)
        counts = 2 + self._hash(ids, 3) % 3
        syllables = [
            [CONSONANTS[one] + VOWELS[other] for one, other in zip(consonants, vowels, strict=True)]
            for part in range(4)
            for consonants, vowels in [
                ((self._hash(ids * 8 + part, 1) % 14).tolist(), (self._hash(ids * 8 + part, 2) % 5).tolist())
            ]
        ]
        return ["".join(syllables[part][k] for part in range(count)) for k, count in enumerate(counts.tolist())]

    def passages(self, words: Sequence[str]) -> list[str]:
        """Texts of which bodies are pieces."""
        parts = np.arange(PASSAGE_WORDS)
        return [
            " ".join(words[k] for k in (self._hash(number * 512 + parts, 4) % WORDS).tolist())[:PASSAGE_LENGTH]
            for number in range(PASSAGES)
        ]

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Each table's name and rows."""
        words = self.words()
        passages = self.passages(words)
        yield "categories", ((k, words[k + 100]) for k in range(1, CATEGORIES + 1))
        yield "users", self._users()
        ids = np.arange(1, self.size.stories + 1)
        recent = ids > self.size.stories * 9 // 10
        stories = list(self._stories(ids, words, passages))
        yield "stories", (row for row, new in zip(stories, recent, strict=True) if new)
        yield "old_stories", (row for row, new in zip(stories, recent, strict=True) if not new)
        waiting = [row for row, new in zip(stories, recent, strict=True) if new and int(row[0]) % 10 == 0]
        yield (
            "submissions",
            (
                (number, row[1], row[2], _time(NEWEST - timedelta(minutes=int(row[0]))), *row[4:])
                for number, row in enumerate(waiting, 1)
            ),
        )
        comments = list(self._comments(ids, recent, words, passages))
        yield "comments", (row for row, new in comments if new)
        yield "old_comments", (row for row, new in comments if not new)
        yield "moderator_log", self._moderations([row for row, new in comments if new and int(row[0]) % 20 == 0])

    def _users(self) -> Table:
        ids = np.arange(1, self.size.users + 1)
        ratings, minutes = (self._hash(ids, 5) % 11 - 5).tolist(), (self._hash(ids, 6) % 1_576_800).tolist()
        for k, (rating, since) in enumerate(zip(ratings, minutes, strict=True), 1):
            begun = _time(FIRST + timedelta(minutes=since))
            mail, access = f"user{k}@example.net", int(k <= self.size.authors)
            yield k, f"first{k}", f"last{k}", f"user{k}", f"password{k}", mail, rating, access, begun

    def _story_time(self, number: int) -> datetime:
        return FIRST + timedelta(microseconds=round(YEARS_US * (number - 1) / self.size.stories))

    def _body(
        self, ids: Integers, passages: Sequence[str], of: int, begin: int, length: int, least: int, span: int
    ) -> list[str]:
        which = (self._hash(ids, of) % PASSAGES).tolist()
        starts, lengths = (self._hash(ids, begin) % 300).tolist(), (least + self._hash(ids, length) % span).tolist()
        return [passages[k][at : at + count] for k, at, count in zip(which, starts, lengths, strict=True)]

    def _stories(self, ids: Integers, words: Sequence[str], passages: Sequence[str]) -> Table:
        titles = self._word_ids(ids, 12, 13, 14, 15)
        bodies = self._body(ids, passages, 16, 8, 9, 200, 825)
        writers = (1 + self._hash(ids, 10) % self.size.users).tolist()
        categories = (1 + self._hash(ids, 11) % CATEGORIES).tolist()
        for at, number in enumerate(ids.tolist()):
            title = " ".join(words[part[at]] for part in titles)
            yield number, title, bodies[at], _time(self._story_time(number)), writers[at], categories[at]

    def _comments(
        self, stories: Integers, recent: NDArray[np.bool_], words: Sequence[str], passages: Sequence[str]
    ) -> Iterator[tuple[tuple[Cell, ...], bool]]:
        """Each with whether its story is recent: a tree, two in five answer the story itself, the others an earlier comment of it."""
        shares = (self._hash(stories, 7) >> 11) / 4503599627370496.0
        counts = np.minimum(50, np.floor(-5 * np.log(1 - shares))).astype(np.int64)
        firsts = np.repeat(np.cumsum(counts) - counts, counts)
        ids = np.arange(1, int(counts.sum()) + 1)
        numbers, owners = ids - firsts, np.repeat(stories, counts)
        on_story = (numbers == 1) | (self._hash(ids, 17) % 5 < 2)
        parents = np.where(on_story, 0, firsts + 1 + self._hash(ids, 18) % np.maximum(numbers - 1, 1))
        answers = np.bincount(parents[parents > 0], minlength=len(ids) + 1)[1:].tolist()
        subjects = self._word_ids(ids, 23, 24)
        bodies = self._body(ids, passages, 25, 21, 22, 30, 995)
        writers = (1 + self._hash(ids, 19) % self.size.users).tolist()
        ratings = (self._hash(ids, 20) % 7 - 1).tolist()
        news = np.repeat(recent, counts).tolist()
        for at, (story, number, parent) in enumerate(
            zip(owners.tolist(), numbers.tolist(), parents.tolist(), strict=True)
        ):
            when = _time(self._story_time(story) + timedelta(minutes=5 * number))
            subject = " ".join(words[part[at]] for part in subjects)
            row = (at + 1, writers[at], story, parent, answers[at], ratings[at], when, subject, bodies[at])
            yield row, news[at]

    def _moderations(self, comments: Sequence[tuple[Cell, ...]]) -> Table:
        moderators = 1 + self._hash(np.array([int(row[0]) for row in comments], np.int64), 26) % self.size.authors
        for number, (row, moderator) in enumerate(zip(comments, moderators.tolist(), strict=True), 1):
            when = _time(datetime.fromisoformat(str(row[6])) + timedelta(hours=1))
            yield number, moderator, row[0], row[5], when


def _time(when: datetime) -> str:
    return when.isoformat(" ", "microseconds")
