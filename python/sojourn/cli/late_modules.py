"""Modules of others that a command imports when it first uses them, wherever `import` stands: numpy and polars take longer to import than
all the rest of a command that makes no table.

`importlib.util.LazyLoader` does not do it before Python 3.12: there `import NAME` itself reads `__spec__` of the module, which loads it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

# name → what its environment is while it is imported. OpenBLAS starts a thread a core, which look for work 20 ms long before they sleep
# (2^26 cycles): of a command of 0.2 s that is a quarter. The allocator of
# polars (jemalloc(3)) keeps what is freed for 0.5 s, which of a million requests is 50 MB.
LATE: dict[str, dict[str, str]] = {
    "numpy": {"OPENBLAS_THREAD_TIMEOUT": "16"},
    "polars": {"_RJEM_MALLOC_CONF": "dirty_decay_ms:20,muzzy_decay_ms:0"},
}
_LOADING = RLock()


class _LateModule(ModuleType):
    """A module whose code runs when a name is read that only its code can have put there, `__path__` included: then before that of a
    module inside it."""

    def __getattr__(self, name: str) -> Any:
        with _LOADING:
            own = self.__dict__
            if (path := own.pop("_sojourn_path", None)) is not None:  # else it is running now, and has no such name yet
                own["__path__"] = path
                try:
                    with _environment(LATE[self.__name__]):
                        own["__spec__"].loader.exec_module(self)
                except BaseException:
                    sys.modules.pop(self.__name__, None)  # whoever imports it again is told why
                    raise
                self.__class__ = ModuleType  # type: ignore[assignment]
        return ModuleType.__getattribute__(self, name)


def import_late() -> None:
    """From now on `import NAME` binds a module whose code runs at its first use. Of this process alone: a program that imports sojourn
    decides for itself."""
    for name in LATE:
        spec = None if name in sys.modules else find_spec(name)
        if spec is None:  # where it is missing, its import says so
            continue
        module = module_from_spec(spec)
        module.__class__ = _LateModule
        module.__dict__["_sojourn_path"] = module.__dict__.pop("__path__")
        sys.modules[name] = module


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """With these where nobody has set them, and for no process that is started later."""
    new = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)
