"""`sojourn doctor`: what is installed here, what this machine can do, what not, and what to install."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from sojourn.cli.console import console
from sojourn.cli.json_answer import say_answer

if TYPE_CHECKING:
    from sojourn.lab.doctor import AbilityCheck


def doctor(as_json: Annotated[bool, typer.Option("--json", help="print the checks as JSON")] = False) -> None:
    """Says what works on this machine, and what to install."""
    from sojourn.lab.doctor import all_checks

    checks = [*_installed(), *all_checks(), *_of_cases(), _leases()]
    if as_json:
        say_answer("doctor", {"checks": [vars(check) for check in checks]})
        return
    table = Table("", "what", "found", "needed for", "if lacking", box=None, header_style="dim")
    for check in checks:
        mark = Text("yes", "green") if check.works else Text("no", "red")
        table.add_row(mark, check.name, check.finding, check.needed_for, "" if check.works else check.remedy)
    console().print(table)


def _installed() -> list[AbilityCheck]:
    """Python, and how sojourn was installed."""
    from sojourn.cases import cases
    from sojourn.lab.doctor import AbilityCheck
    from sojourn.version import __version__

    python = f"{platform.python_implementation()} {platform.python_version()}, {platform.machine()}"
    native, dask = find_spec("sojourn._native"), find_spec("distributed") is not None
    page = find_spec("starlette") is not None and find_spec("uvicorn") is not None
    return [
        AbilityCheck("sojourn", True, f"{__version__} in {Path(__file__).parents[1]}", "everything"),
        AbilityCheck("Python", True, f"{python}, {sys.executable}", "everything"),
        AbilityCheck(
            "native module",
            native is not None,
            Path(native.origin or "").name if native else "not found",
            "load, measurement, exact methods",
            "pip install --force-reinstall sojourn",
        ),
        AbilityCheck(
            "packages of cases", True, ", ".join(sorted(cases())) or "none", "services and models of case studies"
        ),
        AbilityCheck(
            "dask", dask, "is there" if dask else "not found", "--parallel, --agents", "pip install 'sojourn[dask]'"
        ),
        AbilityCheck("workbench", page, "is there" if page else "not found", "sojourn ui", "pip install 'sojourn[ui]'"),
    ]


def _of_cases() -> list[AbilityCheck]:
    """What their services need that is not everywhere."""
    from sojourn.cases import imported, known

    return [imported(place)() for _, place in sorted(known("ability_checks", {}).items())]


def _leases() -> AbilityCheck:
    from sojourn.lab.doctor import AbilityCheck
    from sojourn.live_service.restore_plan import left
    from sojourn.live_service.systemd_unit import systemd_run

    if found := left():
        names = "; ".join(map(str, found))
        return AbilityCheck(
            "settings left", False, f"a killed controller left {names}", "services as they were", "sojourn lab restore"
        )
    holds = "systemd holds leases" if systemd_run() else "none; no systemd to hold leases of `control live --act`"
    return AbilityCheck("settings left", True, holds, "services as they were")
