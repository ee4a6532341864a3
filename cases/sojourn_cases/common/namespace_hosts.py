"""Hosts of a study in network namespaces of this machine: what they need, and what removes all that is made for them."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sojourn.errors import LabError, PermissionLacking
from sojourn.lab import CleanupRegistry, clean_stale


@contextmanager
def namespace_registry(place: str, instead: str, programs: Mapping[str, str]) -> Iterator[tuple[CleanupRegistry, str]]:
    """A registry, and the token of the names in it; what is registered is removed at the end, or by the next start. `place`: the option
    that asks for it; `instead`: what else the user may do; `programs`: those that are needed, and the Debian packages that have them.

    Raises:
        PermissionLacking: not root. LabError: a program is not installed.
    """
    if os.geteuid():
        raise PermissionLacking("not root", place, f"run as root, {instead}")
    for program, package in programs.items():
        if not shutil.which(program):
            raise LabError(f"{program}: no such command", place, f"install the package {package}, {instead}")
    clean_stale()
    token = secrets.token_hex(3)
    registry = CleanupRegistry(token)
    try:
        yield registry, token
    finally:
        registry.close()
