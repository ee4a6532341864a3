"""Where the verbs print: tables keep their shape on a pipe, too."""

from __future__ import annotations

from rich.console import Console

PIPE_WIDTH = 140


def console() -> Console:
    """Standard output; as wide as the terminal, or 140 columns where there is none."""
    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=PIPE_WIDTH)
