"""What verbs that measure have in common: whether anybody answers, and the lock of this machine, both asked before all that is slow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Annotated

import typer

from sojourn.errors import Busy
from sojourn.lab.listening_process import PORTS, refuse_closed
from sojourn.lab.machine_lock import Told, ask, holding, waiting
from sojourn.terminal import say
from sojourn.units import duration_s

FLAG = "--wait"
NOT_NOW = ("--help", "--unix-socket", "--from-runs")  # nothing is loaded, or not through a port
Wait = Annotated[
    str | None,
    typer.Option(
        FLAG, help="wait this long for another measurement on this machine to end, e.g. 10m", show_default=False
    ),
]


def ask_early(words: Sequence[str]) -> None:
    """Before the imports of a command line that loads a service: whether somebody answers there, and whether the machine is free.

    Raises:
        ServiceError: a port is closed. Busy: another measurement is running, and the command line does not wait.
    """
    verb, rest = (words[0], words[1:]) if words else ("", ())
    flags = {word.partition("=")[0] for word in rest if word.startswith("--")}
    loads = verb in ("measure", "capacity") or (verb == "compare" and "--service-urls" in flags)
    if not loads or flags & set(NOT_NOW):
        return
    if urls := urls_of(rest):
        if FLAG in flags:
            return
        try:
            ask(verb)
        except Busy:
            refuse_closed(urls)  # which is the reason that helps
            raise


def urls_of(words: Sequence[str]) -> list[str]:
    """URLs that are loaded, and no value of an option."""
    before = ["", *words]
    return [
        word for k, word in enumerate(words)
        if word.partition("://")[0] in PORTS and "://" in word
        and (not before[k].startswith("--") or before[k] == "--service-urls")
    ]  # fmt: skip


def _say(line: str) -> None:
    say(line, err=True)


@contextmanager
def held(verb: str, wait: str | None, urls: Sequence[str] = ()) -> Iterator[None]:
    """The machine's lock over all that the verb measures. Where it is not free and one of `urls` is closed, that is said."""
    with ExitStack() as stack:
        try:
            stack.enter_context(holding(verb, _wait_s(wait), _say))
        except Busy:
            refuse_closed(urls)
            raise
        yield


def patient(wait: str | None, told: Told = _say) -> AbstractContextManager[None]:
    """Whatever takes the machine's lock inside waits for it."""
    return waiting(_wait_s(wait), told)


def _wait_s(wait: str | None) -> float:
    return 0.0 if wait is None else duration_s(wait, FLAG)
