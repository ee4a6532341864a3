"""Fractional factorial designs 2^(k-p), and which effects they cannot tell apart.

Source: Jain (1991), ch. 19; Box, Hunter, Hunter (2005), ch. 6. A generator "D=ABC" sets the column of factor D to the
product of those of A, B and C; the words of the defining relation are all products of the generators' words, and each
effect is confounded with its products with every word. Letters A, B, … are the factors in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations, product
from math import prod
from string import ascii_uppercase

import polars as pl

from sojourn.design.factors import Factor, two_levels
from sojourn.design.make.randomised_order import ordered
from sojourn.errors import DesignError

Word = frozenset[str]


def fractional(
    factors: Iterable[Factor], generators: Sequence[str], repetitions: int = 1, *, seed: int = 1,
    block: str = "repetition", randomise: bool = True,
) -> pl.DataFrame:  # fmt: skip
    """2^(k-p) runs a repetition, p generators; columns as `full_factorial`. DesignError for a generator that is none."""
    found = two_levels(factors)
    letters = _letters(found)
    made = _generated(letters, generators)
    base = [letter for letter in letters if letter not in made]
    points = []
    for signs in product((-1, 1), repeat=len(base)):
        sign = dict(zip(base, signs, strict=True))
        sign |= {letter: prod(sign[x] for x in word) for letter, word in made.items()}
        points.append(
            {f.name: f.levels[(1 + sign[letters_i]) // 2] for f, letters_i in zip(found, letters, strict=True)}
        )
    return ordered(points, repetitions, seed, block, randomise)


def alias_table(factors: Iterable[Factor], generators: Sequence[str], most: int = 2) -> pl.DataFrame:
    """Columns `effect`, `aliases`: what each effect of at most `most` factors is confounded with, shortest first; the
    row of effect "I" is the defining relation, whose shortest word is the resolution."""
    found = two_levels(factors)
    letters = _letters(found)
    words = _defining(_generated(letters, generators))
    rows = [{"effect": "I", "aliases": " = ".join(map(_text, sorted(words, key=_key)))}]
    for size in range(1, most + 1):
        for effect in combinations(letters, size):
            aliases = sorted((frozenset(effect) ^ word for word in words), key=_key)
            rows.append({"effect": "".join(effect), "aliases": " = ".join(map(_text, aliases))})
    return pl.DataFrame(rows)


def resolution(factors: Iterable[Factor], generators: Sequence[str]) -> int:
    """Length of the shortest word of the defining relation: at III main effects are confounded with pairs."""
    return min(len(word) for word in _defining(_generated(_letters(two_levels(factors)), generators)))


def _letters(factors: Sequence[Factor]) -> str:
    if len(factors) > 26:
        raise DesignError(len(factors), "factors", "use at most 26")
    return ascii_uppercase[: len(factors)]


def _generated(letters: str, generators: Sequence[str]) -> dict[str, Word]:
    """Generated letter → the base letters it is the product of."""
    made: dict[str, Word] = {}
    for text in generators:
        letter, _, right = text.replace(" ", "").partition("=")
        if len(letter) != 1 or letter not in letters or len(right) < 2 or len(set(right)) < len(right):
            raise DesignError(
                repr(text), "generator", f"write LETTER=LETTERS, for example D=ABC, with letters of {letters}"
            )
        if letter in made:
            raise DesignError(repr(text), "generator", f"{letter} has one already")
        made[letter] = frozenset(right)
    if not made:
        raise DesignError("no generator", "generators", "give p of them, or use a full factorial")
    for letter, word in made.items():
        if not word <= set(letters) - set(made):
            base = "".join(x for x in letters if x not in made)
            raise DesignError(f"{letter}={_text(word)}", "generator", f"use letters that are not generated: {base}")
    return made


def _defining(made: dict[str, Word]) -> list[Word]:
    words = [word | {letter} for letter, word in made.items()]
    products = [
        reduce(frozenset.symmetric_difference, chosen)
        for n in range(1, len(words) + 1)
        for chosen in combinations(words, n)
    ]
    if any(not word for word in products):
        raise DesignError([_text(w) for w in words], "generators", "two of them are equivalent; take one away")
    return [frozenset(word) for word in products]


def _key(word: Word) -> tuple[int, str]:
    return len(word), _text(word)


def _text(word: Word) -> str:
    return "".join(sorted(word)) or "I"
