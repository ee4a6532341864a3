"""Keywords by a former name: still understood, and the present name is said."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar
from warnings import warn

P = ParamSpec("P")
Found = TypeVar("Found")
OfClass = TypeVar("OfClass", bound=type)


def _beyond_rooms() -> int:
    """The `stacklevel` of who called: behind `sojourn.plan(…)` stands the call of the package of that name."""
    return 3 if sys._getframe(2).f_code.co_name == "__call__" else 2


def former_keyword(**present: str) -> Callable[[Callable[P, Found]], Callable[P, Found]]:
    """A function whose keywords had other names: former=present. Both at once are the TypeError of a keyword that it does not have."""

    def of(function: Callable[P, Found]) -> Callable[P, Found]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> Found:
            for former, name in present.items():
                if former in kwargs and name not in kwargs:
                    called_as = function.__qualname__.removesuffix(".__init__")
                    warn(f"{called_as}({former}=…) is now {name}=…", DeprecationWarning, stacklevel=_beyond_rooms())
                    kwargs[name] = kwargs.pop(former)
            return function(*args, **kwargs)

        return called

    return of


def former_field(**present: str) -> Callable[[OfClass], OfClass]:
    """A class whose fields had other names: former=present, as keywords and to read."""

    def of(cls: OfClass) -> OfClass:
        cls.__init__ = former_keyword(**present)(cls.__init__)  # type: ignore[misc]
        for former, name in present.items():
            setattr(cls, former, property(_reads(former, name)))
        return cls

    return of


def _reads(former: str, name: str) -> Callable[[object], object]:
    def read(own: object) -> object:
        warn(f"{type(own).__name__}.{former} is now {name}", DeprecationWarning, stacklevel=2)
        return getattr(own, name)

    return read
