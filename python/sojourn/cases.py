"""Cases: what packages beside this one bring, found by their entry points of the group `sojourn.cases`.

A case is a real system that was studied with sojourn: the systems that its studies measure, what is fitted to them, its analyses, its
services and their commands. An entry point names a `Case`. Nothing here knows a case by name; `docs/howto/write-a-case.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sojourn.errors import CaseError
from sojourn.former_keyword import former_field
from sojourn.terminal import say

GROUP = "sojourn.cases"
ImportPaths = Mapping[str, str]  # name → "module:object", or "module"; imported when the name is used
FORMER = {
    "systems": "system_classes",
    "templates": "fit_templates",
    "analyses": "analysis_functions",
    "workers": "worker_functions",
    "mixes": "mix_functions",
    "commands": "command_functions",
    "studies": "study_folders",
}  # fields by a former name


@former_field(**FORMER)
@dataclass(frozen=True)
class Case:
    """What a case brings, by name. `system_classes`: kinds for `[system]`, classes of `System`. `fit_templates`: for `[fit] model`,
    objects of `FitTemplate`. `analysis_functions`: for `[[analysis]]`. `worker_functions`: kinds of worker processes, functions of a
    configuration and of `emit` that return a summary. `mix_functions`: users for `--mix`, functions without arguments that return
    shares and transition matrices. `command_functions`: verb → word → function (`serve`, `calc`), or a class of `LoadOptions` (`load`).
    `study_folders`: for `sojourn study NAME`, folders of the package as "package:folder". `ability_checks`: for `sojourn doctor`,
    functions without arguments that return an `AbilityCheck`."""

    system_classes: ImportPaths = field(default_factory=dict)
    fit_templates: ImportPaths = field(default_factory=dict)
    analysis_functions: ImportPaths = field(default_factory=dict)
    worker_functions: ImportPaths = field(default_factory=dict)
    mix_functions: ImportPaths = field(default_factory=dict)
    command_functions: Mapping[str, ImportPaths] = field(default_factory=dict)
    study_folders: ImportPaths = field(default_factory=dict)
    ability_checks: ImportPaths = field(default_factory=dict)


@cache
def cases() -> Mapping[str, Case]:
    """All that are installed, by name. One that cannot be imported is left out, which is said once on standard error.

    Raises:
        CaseError: two have the same name.
    """
    from importlib.metadata import entry_points  # slow to import, and most commands ask for no case

    found: dict[str, Case] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value)):
        try:
            case = entry.load()
            if not isinstance(case, Case):
                raise TypeError(f"{entry.value} is a {type(case).__name__}, not a Case")
        except Exception as error:  # the code of somebody else, which others must not lack for
            say(f"sojourn: case {entry.name} ({entry.value}) is left out: {type(error).__name__}: {error}", err=True)
            continue
        if entry.name in found:
            raise _twice(f"case {entry.name!r}")
        found[entry.name] = case
    return found


def known(part: str, ours: ImportPaths) -> dict[str, str]:
    """`ours` and what all cases have in that `part` (a field of `Case`).

    Raises:
        CaseError: two have the same name.
    """
    assert part in {one.name for one in fields(Case)}
    return _together(ours, [getattr(case, part) for case in cases().values()], part)


def commands(verb: str, ours: ImportPaths) -> dict[str, str]:
    """`ours` and the commands of all cases below `verb`.

    Raises:
        CaseError: two have the same name.
    """
    return _together(ours, [case.command_functions.get(verb, {}) for case in cases().values()], f"commands of {verb}")


def imported(place: str) -> Any:
    """The object, or the module, at "module:object".

    Raises:
        CaseError: it cannot be imported.
    """
    module, _, attribute = place.partition(":")
    try:
        found = import_module(module)
        return getattr(found, attribute) if attribute else found
    except (ImportError, AttributeError) as error:
        raise CaseError(str(error), place, "repair or reinstall its package") from error


def path_of(name: str, folder: Path) -> Path:
    """Of a file or folder that a study names: beside it in `folder`, or "package:path" in an installed package."""
    package, colon, inside = name.partition(":")
    if colon and package.replace(".", "").isidentifier():
        try:
            places = getattr(find_spec(package), "submodule_search_locations", None)
        except (ImportError, ValueError):  # ValueError: a module without a specification, as a script's `__main__`
            places = None
        if places:
            return Path(places[0]) / inside
    return folder / name


def _together(ours: ImportPaths, others: list[ImportPaths], what: str) -> dict[str, str]:
    found = dict(ours)
    for places in others:
        if twice := sorted(found.keys() & places):
            raise _twice(f"{what}: {twice[0]!r}")
        found |= places
    return found


def _twice(what: str) -> CaseError:
    return CaseError(f"{what} is there twice", "installed cases", "uninstall one of the two packages that define it")
