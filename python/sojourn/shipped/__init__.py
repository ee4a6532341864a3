"""What comes with sojourn as files: example models, policies, and studies; those of the cases that are installed too.

In a clone the folders beside this file are links to `examples/` and `studies/`; a wheel has the files themselves.
"""

from __future__ import annotations

import os
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn.cases import known, path_of
from sojourn.errors import CaseError, InputError

HERE = Path(__file__).resolve().parent
STUDIES = {"workers": "sojourn.shipped:workers"}
POLICIES = {"control": "sojourn.shipped:control"}
MODEL, POLICY, STUDY = "model", "policies", "study"


@dataclass(frozen=True)
class Example:
    """`path`: a model file, or a folder. `title`: what it shows, one line. `command`: what to type with a copy, whose path takes the place of `{}`."""

    kind: str
    path: Path
    title: str
    command: str


def examples() -> Mapping[str, Example]:
    """All that there are, by name: models, policies, then studies.

    Raises:
        CaseError: a case brings a study whose name something else here has.
    """
    found = {path.stem: _model(path) for path in sorted((HERE / "examples").glob("*.toml"))}
    for name, place in POLICIES.items():
        folder = path_of(place, HERE)
        found[name] = Example(
            POLICY, folder, _heading(folder), "sojourn control simulate {}/kpa.toml --model {}/pool.toml --load all"
        )
    for name, place in sorted(known("study_folders", STUDIES).items()):
        if name in found:
            remedy = "uninstall the package with a study of this name, or rename the study"
            raise CaseError(f"{found[name].kind} and study {name!r} have one name", "installed cases", remedy)
        folder = path_of(place, HERE)
        title = str(tomllib.loads((folder / "study.toml").read_text())["title"])
        found[name] = Example(STUDY, folder, title, "sojourn study {} --quick")
    return found


def study_path(given: Path) -> Path:
    """`given`, or, where nothing is there and it is a single word, the folder of the study that comes with sojourn under this name.

    Raises:
        InputError: there is no such file, folder or study.
    """
    if given.exists() or len(given.parts) != 1 or given.suffix:
        return given
    studies = known("study_folders", STUDIES)
    if given.name in studies:
        return path_of(studies[given.name], HERE)
    more = "" if len(studies) > len(STUDIES) else "; further studies come with the package sojourn-cases"
    raise InputError(
        repr(given.name), "study", f"give a study file, a folder, or one of {', '.join(sorted(studies))}{more}"
    )


def copy_example(name: str, into: Path) -> Path:
    """Copies the file or the folder of that name into the folder `into`; where it is then.

    Raises:
        InputError: there is no such example, or there is something in its place.
    """
    there = examples()
    if name not in there:
        raise InputError(repr(name), "examples", "`sojourn examples` lists all that there are")
    source = there[name].path
    target = into / (source.name if source.is_file() else name)
    if os.path.lexists(target):
        raise InputError(f"{target} is there already", "--out", "give another folder, or remove it")
    try:
        into.mkdir(parents=True, exist_ok=True)
        if source.is_file():
            shutil.copyfile(source, target)
        else:
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    except shutil.Error as error:  # of a folder: all that went wrong
        shutil.rmtree(target, ignore_errors=True)
        raise InputError(str(error.args[0][0][2]), "--out", "give a folder that can be written") from None
    except OSError as error:
        raise InputError(f"{error.filename}: {error.strerror}", "--out", "give a folder that can be written") from None
    return target


def _model(path: Path) -> Example:
    title = path.read_text().split("\n", 1)[0].removeprefix("#").strip()
    return Example(MODEL, path, title, "sojourn solve {}")


def _heading(folder: Path) -> str:
    return (folder / "README.md").read_text().split("\n", 1)[0].removeprefix("#").strip()
