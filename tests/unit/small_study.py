"""What tests of study files have in common: a small file, and what one with a mistake in it is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sojourn.errors import StudyError


def written(folder: Path, text: str) -> Path:
    """A study file."""
    path = folder / "study.toml"
    path.write_text(text)
    return path


def mistaken(file: Path, text: str, read: Callable[[Path], object]) -> str:
    """What a study file with a mistake in it is told."""
    file.write_text(text)
    with pytest.raises(StudyError) as found:
        read(file)
    return str(found.value)
