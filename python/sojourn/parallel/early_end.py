"""Tasks that were asked to end early and to hand over what they have; the asking comes from outside of the task."""

from __future__ import annotations

EVERY = ""  # of a process that serves one run alone
_asked: set[str] = set()


def ask(name: str) -> None:
    """The tasks named so are to end, those that begin later too."""
    _asked.add(name)


def asked(name: str) -> bool:
    return name in _asked or EVERY in _asked
