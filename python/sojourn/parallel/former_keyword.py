"""Keywords by a former name: still understood, and the present name is said."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar
from warnings import warn

P = ParamSpec("P")
Found = TypeVar("Found")


def former_keyword(**present: str) -> Callable[[Callable[P, Found]], Callable[P, Found]]:
    """A function whose keywords had other names: former=present. Both at once are the TypeError of a keyword that it does not have."""

    def of(function: Callable[P, Found]) -> Callable[P, Found]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> Found:
            for former, name in present.items():
                if former in kwargs and name not in kwargs:
                    warn(f"{function.__name__}({former}=…) is now {name}=…", DeprecationWarning, stacklevel=2)
                    kwargs[name] = kwargs.pop(former)
            return function(*args, **kwargs)

        return called

    return of
