"""How users of the bulletin board go from page to page: transition matrices, and in which shares they are mixed."""

from __future__ import annotations

from importlib.resources import as_file, files

from sojourn.load import TransitionMatrix

Mix = list[tuple[float, TransitionMatrix]]


def browse() -> Mix:
    """Users who read."""
    return [(1.0, _matrix("browse_only"))]


def readwrite() -> Mix:
    """One user in ten is an author."""
    return [(0.9, _matrix("user_default")), (0.1, _matrix("author_default"))]


def _matrix(name: str) -> TransitionMatrix:
    with as_file(files(__name__).joinpath(f"{name}.csv")) as path:
        return TransitionMatrix.read(path)
