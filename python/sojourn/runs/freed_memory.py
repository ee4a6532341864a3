"""Memory of large arrays that were freed, given back to the system."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """What the C library keeps of it, which may be twice the largest array that was freed (mallopt(3), M_MMAP_THRESHOLD): malloc_trim(3),
    where the library has it."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
