"""The lock that lets one measurement at a time use this machine, asked once, waited for, or held over several measurements.

`only_one` is what each measurement takes. Whoever makes several holds the machine over all of them (`holding`); whoever starts one may
wait until another has ended (`waiting`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar

from sojourn.errors import Busy
from sojourn.lab import cleanup_registry

LOOK_S = 0.5  # between two looks whether the other measurement has ended
Told = Callable[[str], None]

_OWN: ContextVar[bool] = ContextVar("own", default=False)
_PATIENCE: ContextVar[tuple[float, Told]] = ContextVar("patience", default=(0.0, lambda _line: None))


@contextmanager
def only_one(what: str) -> Iterator[None]:
    """Holds the lock, or is inside of what holds it already.

    Raises:
        Busy: another process holds it, and did for as long as was waited; its id is named.
    """
    if _OWN.get():
        yield
        return
    with ExitStack() as held:
        _take(held, what)
        yield


@contextmanager
def waiting(wait_s: float, told: Told) -> Iterator[None]:
    """Measurements inside wait up to `wait_s` for another one to end; `told` is given a line where one waits."""
    token = _PATIENCE.set((wait_s, told))
    try:
        yield
    finally:
        _PATIENCE.reset(token)


@contextmanager
def holding(what: str, wait_s: float, told: Told) -> Iterator[None]:
    """Holds the lock over all measurements inside, so that no other one comes between them. Raises as `only_one`."""
    with waiting(wait_s, told), only_one(what):
        token = _OWN.set(True)
        try:
            yield
        finally:
            _OWN.reset(token)


def ask(what: str) -> None:
    """Raises Busy where another process holds the lock now."""
    with cleanup_registry.only_one(what):
        pass


def _take(held: ExitStack, what: str) -> None:
    wait_s, told = _PATIENCE.get()
    until_s = time.monotonic() + wait_s
    said = False
    while True:
        try:
            held.enter_context(cleanup_registry.only_one(what))
            return
        except Busy as busy:
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                raise
            if not said:
                told(f"{busy.value}: waiting for it, {left_s:.0f} s at most")
                said = True
            time.sleep(min(LOOK_S, left_s))
