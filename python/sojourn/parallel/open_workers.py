"""What `on` means: "2" or "local:2", "dask://127.0.0.1:8786", "tls://scheduler:8786", an Executor of a user, a dask Client."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, cast

from sojourn.errors import InputError
from sojourn.parallel.dask_peers import INSECURE, SCHEMES, checked_address
from sojourn.parallel.workers import Tell, Workers

On = Any  # str, int, Executor, dask Client or Workers: dask need not be installed
HOW = "give 2 (processes of this machine), dask:// or tls://HOST:PORT of a scheduler, an Executor or a dask Client"
MOST_LOCAL = 256


@contextmanager
def open_workers(on: On, tell: Tell | None = None) -> Iterator[Workers]:
    """The workers that `on` names; what was started for it is ended with the block. `tell` hears of progress.

    Raises InputError for what is no place to run, a cluster that strangers can reach (`dask_peers`), and dask where it is not
    installed, and WorkerError where nobody answers.
    """
    if hasattr(on, "submit") and hasattr(on, "send"):  # opened by the caller
        yield cast(Workers, on)
        return
    made = _made(on)
    made.tell = tell
    try:
        yield made
    except BaseException:
        made.stop()
        raise
    finally:
        made.close()


def _made(on: On) -> Workers:
    from sojourn.parallel.executor_workers import ExecutorWorkers

    if isinstance(on, str) or type(on) is int:
        return _named(str(on))
    if isinstance(on, Executor):
        return ExecutorWorkers(on)
    if hasattr(on, "get_executor"):
        from sojourn.parallel.dask_workers import DaskWorkers

        return DaskWorkers(on)
    raise InputError(f"a {type(on).__name__}", "--parallel", HOW)


def _named(on: str) -> Workers:
    kind, _, rest = (f"local:{on}" if on.isdecimal() else on).partition(":")
    if kind == "local":
        if not (rest.isdigit() and 1 <= int(rest) <= MOST_LOCAL):
            raise InputError(repr(on), "--parallel", f"give 1 to {MOST_LOCAL}")
        from sojourn.parallel.local_workers import LocalWorkers

        return LocalWorkers(int(rest))
    if kind in SCHEMES:
        host, _, port = rest.removeprefix("//").rpartition(":")
        if not rest.startswith("//") or not host or not port.isdigit() or not 0 < int(port) < 65536:
            raise InputError(repr(on), "--parallel", "give dask://HOST:PORT, with the scheduler's port, usually 8786")
        try:
            from sojourn.parallel.dask_workers import connected
        except ModuleNotFoundError as error:
            raise InputError(f"{on}: no package {error.name}", "--parallel", "pip install 'sojourn[dask]'") from None
        return connected(checked_address(kind, host, int(port)), trusted=kind == INSECURE)
    raise InputError(repr(on), "--parallel", HOW)
