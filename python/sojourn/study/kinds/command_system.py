"""A program of the user's own as a service: started for each run, loaded, and ended with all that it started.

Factors go where `{name}` stands: in arguments, in values of the environment, in the cores and in the URL. There is no shell.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from sojourn.errors import InputError
from sojourn.lab.backends import Environment, LoopbackBackend, NamespaceBackend, environment
from sojourn.lab.cgroups import make_counted_group
from sojourn.lab.cleanup_registry import MARK, CleanupRegistry
from sojourn.load.credentials import LEAST_SECRET, OWN, SECRET, set_variable
from sojourn.runs.resources import MeasuredResource
from sojourn.study.kinds.command_options import CommandOptions, StartCommand
from sojourn.study.kinds.command_session import CommandSession
from sojourn.study.kinds.http_system import HttpLoad, HttpSystem
from sojourn.study.kinds.placeholders import filled
from sojourn.study.kinds.study_resources import declared

FROM_ENVIRONMENT = "env:"
HOST = "host"  # {host}: where the service listens
CPUSET = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


class CommandSystem(HttpSystem):
    """A program that a study starts by itself."""

    options_type: ClassVar[type[BaseModel]] = CommandOptions

    def __init__(self, options: CommandOptions, load: HttpLoad, base_folder: Path) -> None:
        if HOST in options.factors:
            raise InputError(
                f"factor {HOST!r}", "[system.factors]", f"choose another name: {{{HOST}}} is the service's address"
            )
        texts = {where: text.replace(f"{{{HOST}}}", "") for where, text in options.texts().items()}
        super().__init__(options.factors, texts, load, base_folder)
        if options.cores is not None and options.cpuset is not None:
            raise InputError("cores and cpuset", "[system]", "give a number (cores), or a list (cpuset)")
        if "cpu" in options.resources:
            raise InputError(
                "resource 'cpu'", "[system.resources]", "choose another name: it is the program's own CPU time"
            )
        self.options = options
        self.launch({name: factor.default for name, factor in options.factors.items()})

    @property
    def resources(self) -> dict[str, MeasuredResource | None]:
        return {"cpu": None, **declared(self.options.resources)}

    def place(self) -> AbstractContextManager[Environment]:
        return environment(self.options.hosts, spinners=False)

    def launch(self, values: Mapping[str, Any], host: str = "127.0.0.1") -> StartCommand:
        """How it is started with these factors, on a host with this address.

        Raises:
            InputError: no such program, folder, variable or core.
        """
        options = self.options
        known = {HOST: host, **values}
        full = {where: filled(text, known, where) for where, text in options.texts().items()}
        argv = [full[f"[system] command[{k}]"] for k in range(len(options.command))]
        folder = (self.base_folder / full["[system] folder"]).resolve()
        if not folder.is_dir():
            raise InputError(f"no folder {folder}", "[system] folder", "give an existing one")
        given = {name: full[f"[system.environment] {name}"] for name in options.environment}
        environment, hidden = _environment(given)
        argv[0] = _program(argv[0], folder, environment)
        ready = _ready(full.get("[system] ready"), full["[system] url"], self.load.unix_socket)
        cores = _cores(full.get("[system] cores"), full.get("[system] cpuset"))
        return StartCommand(argv, environment, hidden, folder, full["[system] url"], ready, cores)

    @contextmanager
    def open(self, place: LoopbackBackend | NamespaceBackend) -> Iterator[Any]:
        """A session; whatever a run could not end of the program is ended with it, by its mark and its control group."""
        token = secrets.token_hex(3)
        registry = CleanupRegistry(token)
        placement = place.arrange(len(os.sched_getaffinity(0)), 1) if place.server_network else None
        try:
            registry.add(mark=token)
            group = make_counted_group(registry, f"sojourn-{token}")
            watched = declared(self.options.resources)
            yield CommandSession(
                self.options, self.load, self.base_folder, self.launch, place, token, group, watched, placement
            )
        finally:
            registry.close()


def _environment(given: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """That of this process with the given values, `env:NAME` read from it; and what of it must not be written."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(OWN) and name != MARK}
    hidden = [value for name, value in found.items() if SECRET.search(name) and len(value) >= LEAST_SECRET]
    for name, text in given.items():
        taken = text.startswith(FROM_ENVIRONMENT)
        variable = text.removeprefix(FROM_ENVIRONMENT)
        value = os.environ[set_variable(variable, f"[system.environment] {name}")] if taken else text
        hidden += [value] if taken or SECRET.search(name) else []
        found[name] = value
    return found, hidden


def _program(name: str, folder: Path, environment: Mapping[str, str]) -> str:
    found = shutil.which(str(folder / name)) if "/" in name else shutil.which(name, path=environment.get("PATH"))
    if found is None:
        where = f"in {folder}" if "/" in name else "on the PATH"
        raise InputError(f"no program {name!r} {where}", "[system] command[0]", "install it, or give its path")
    return found


def _ready(said: str | None, url: str, unix_socket: str | None) -> dict[str, Any]:
    """A URL that must answer, or what must accept: by default the load's socket, else host and port of its URL."""
    if said is None and unix_socket is not None:
        return {"unix": unix_socket}
    if said is None:
        parts = urlsplit(url)
        if parts.hostname is None:
            raise InputError(repr(url), "[system] url", "give http://host:port/path")
        return {"address": [parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)]}
    if said.startswith(("http://", "https://")):
        return {"url": said}
    host, _, port = said.rpartition(":")
    if not port.isdigit() or not 1 <= int(port) <= 65535:
        raise InputError(repr(said), "[system] ready", "give a URL, host:port or a port")
    return {"address": [host or "127.0.0.1", int(port)]}


def _cores(count: str | None, cpuset: str | None) -> list[int] | None:
    """The cores it may use; None: all."""
    from sojourn.lab.cpu_topology import cores

    available = [core.number for core in cores()]
    if count is not None:
        if not count.isdigit() or not 1 <= int(count) <= len(available):
            raise InputError(
                f"cores = {count}", "[system] cores", f"give 1 to {len(available)}: the cores of this machine"
            )
        return sorted(available[: int(count)])
    if cpuset is None:
        return None
    chosen = set(_numbers(cpuset)) if CPUSET.fullmatch(cpuset) else set()
    if not chosen or not chosen <= set(available):
        known = ",".join(map(str, sorted(available)))
        raise InputError(f"cpuset = {cpuset}", "[system] cpuset", f"give some of the cores {known}, as 0,2-3")
    return sorted(chosen)


def _numbers(text: str) -> Iterator[int]:
    for part in text.split(","):
        low, _, high = part.partition("-")
        yield from range(int(low), int(high or low) + 1)
