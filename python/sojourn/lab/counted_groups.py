"""A control group for each part of a service, whose CPU time the kernel counts exactly, that of processes which have ended too."""

from __future__ import annotations

import re
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn.lab.cgroups import make_counted_group, write
from sojourn.lab.cleanup_registry import PART, CleanupRegistry

CLIENT = "client"


class CountedGroups:
    """Groups that are made when they are first asked for. `made`: whether this machine and user can have them."""

    def __init__(self, registry: CleanupRegistry, token: str) -> None:
        self._registry, self._token = registry, token
        self._groups: dict[str, Path] = {}
        self.made = True
        tried = self.path(CLIENT)
        self.made = tried is not None and _takes_processes(Path(tried))

    def path(self, part: str) -> str | None:
        """Of the group for `part`: nginx, application1 …, database, server, client; None where there are none."""
        assert re.fullmatch(PART, part), f"{part}: the registry would not remove it"
        if not self.made:
            return None
        if part not in self._groups:
            group = make_counted_group(self._registry, f"sojourn-{self._token}-{part}")
            if group is None:
                return None
            self._groups[part] = group
        return str(self._groups[part])


@contextmanager
def counted_groups() -> Iterator[CountedGroups]:
    """Groups that are gone at the end, with whatever is in them; the next start removes those of one that was killed."""
    token = secrets.token_hex(3)
    registry = CleanupRegistry(token)
    try:
        yield CountedGroups(registry, token)
    finally:
        registry.close()


def _takes_processes(group: Path) -> bool:
    """Whether a process of this user may be moved there: making a group is not yet that right."""
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL) as tried:
        try:
            write(group / "cgroup.procs", str(tried.pid))
        except OSError:
            return False
        finally:
            tried.kill()
    return True
