"""A factor: a name and its levels, in the order from low to high."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sojourn.errors import DesignError
from sojourn.units import number_or_word

Level = float | int | str
RESERVED = ("run", "block", "repetition")
NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Factor:
    """`levels`: two or more different numbers or words; -1 and +1 of a two-level design are the first and the second.

    Raises DesignError for a name that is no identifier or is reserved, fewer than two levels, a level given twice.
    """

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or self.name in RESERVED:
            raise DesignError(repr(self.name), "factor", f"use letters, digits, _; not one of {', '.join(RESERVED)}")
        if len(self.levels) < 2 or len(set(self.levels)) < len(self.levels):
            raise DesignError(list(self.levels), f"factor {self.name}", "give two or more different levels")

    @classmethod
    def parse(cls, text: str) -> Factor:
        """From `name=level,level,…`; a level that reads as a number is one."""
        name, equals, levels = text.partition("=")
        if not equals:
            raise DesignError(repr(text), "factor", "write name=level,level, for example servers=2,3")
        return cls(name.strip(), tuple(_level(part.strip()) for part in levels.split(",")))


def _level(text: str) -> Level:
    if not text:
        raise DesignError("an empty level", "factor", "write name=level,level without empty places")
    return number_or_word(text)


def distinct(factors: Iterable[Factor]) -> Sequence[Factor]:
    """The factors; DesignError where there is none, or two share a name."""
    found = list(factors)
    names = [factor.name for factor in found]
    if not found or len(set(names)) < len(names):
        raise DesignError(names, "factors", "give at least one factor, each with a different name")
    return found


def two_levels(factors: Iterable[Factor]) -> Sequence[Factor]:
    """The factors; DesignError names one that has more than two levels."""
    found = distinct(factors)
    for factor in found:
        if len(factor.levels) != 2:
            raise DesignError(list(factor.levels), f"factor {factor.name}", "give exactly two levels, or use kind full")
    return found
