"""Verbs by a former name: still understood, and the present name is said."""

from __future__ import annotations

from collections.abc import Sequence

# words at the beginning → those in their place
FORMER: dict[tuple[str, ...], tuple[str, ...]] = {
    ("plan", "configurations"): ("plan",),
    ("plan", "merge"): ("calc", "merge"),
    ("plan", "table"): ("calc", "table"),
    ("plan", "balance"): ("calc", "balance"),
    ("plan", "storage"): ("calc", "storage"),
    ("lab", "doctor"): ("doctor",),
}

FORMER_OPTIONS = {"duration": "for"}  # without their dashes


def present(words: Sequence[str]) -> tuple[list[str], str]:
    """The words as they are called now, and what to say about it; "" where nothing has changed."""
    new = FORMER.get(tuple(words[:2]))
    if new is None:
        return list(words), ""
    return [*new, *words[2:]], f"sojourn {' '.join(words[:2])} is now called sojourn {' '.join(new)}"
