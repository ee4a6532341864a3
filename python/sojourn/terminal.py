"""Text on a terminal: characters that would command it are shown, not sent; names are never read as markup.

Names of models, runs and services, and what services answer, are written by others. A control character in them could write the
clipboard, move the cursor over a verdict, or turn the order of letters round. What rich itself sends (colours) is not touched.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

__all__ = ["say"]

# C0 without tab and newline, DEL, C1; marks, overrides and isolates of direction; halves of pairs, as in file names; U+FFFE and
# U+FFFF, which no XML 1.0 may hold (Char)
COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)


def shown(text: str) -> str:
    """`text` with each such character as `\\u001b`, which JSON reads as the same character."""
    return COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: object = "", *, err: bool = False, end: str = "\n") -> None:
    """Writes a text to standard output or error as `shown`."""
    out = sys.stderr if err else sys.stdout
    out.write(shown(str(text)) + end)
    out.flush()


class SafeConsole(Console):
    """A console on which texts are neither markup nor commands; a caller's own markup is `Text.from_markup`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"highlight": False, "markup": False, "emoji": False, **options})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(shown(segment.text), segment.style)
