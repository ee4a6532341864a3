"""The folder that the workbench shows: nothing outside of it is read, whatever links are in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sojourn.errors import InputError
from sojourn.file_kind import FIT, MODEL, kind_of

MOST_ENTRIES, MOST_DEEP = 50_000, 8  # of the folder: what is beyond is not looked at
OUTSIDE = "give a name inside the folder that sojourn ui was started with"


@dataclass
class FolderContents:
    """Names relative to the folder, in order. `left_out`: what was not looked at, in words."""

    runs: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    fitted: list[str] = field(default_factory=list)
    studies: list[str] = field(default_factory=list)
    left_out: str = ""


class WorkFolder:
    """The folder at `root`. InputError where it is none."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).resolve()
        self.unnamed = 0
        self._kinds: dict[Path, tuple[tuple[int, int] | None, str]] = {}
        if not self.root.is_dir():
            raise InputError("no such folder", root, "give a folder with runs or model files")

    def inside(self, name: str) -> Path:
        """The path of a name in the folder. InputError for one that leads outside, by its parts or by a link."""
        if not isinstance(name, str) or "\0" in name or len(name) > 1000:
            raise InputError("no name of a file", repr(name)[:80], OUTSIDE)
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError):  # a circle of links
            raise InputError("a link that leads nowhere", name, OUTSIDE) from None
        if not path.is_relative_to(self.root):
            raise InputError("outside the folder", name, OUTSIDE)
        return path

    def run(self, name: str) -> Path:
        """The path of a run folder, none of whose files is a link that leads outside."""
        path = self.inside(name)
        if not (path / "manifest.json").exists():
            raise InputError("no run folder", name, "give the name of a folder that has a manifest.json")
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_symlink():
                    self.inside(os.path.join(name, entry.name))  # noqa: PTH118  (a name, not a path)
        return path

    def study(self, name: str) -> Path:
        """The folder of a study; what it has of its own is no link that leads outside."""
        path = self.inside(name)
        for file in ("study.json", "predictions.json"):
            self.inside(f"{name}/{file}")
        if not (path / "study.json").is_file():
            raise InputError("no study", name, "give the name of a folder that has a study.json")
        return path

    def runs_of_study(self, name: str) -> dict[str, str]:
        """Name → path of the runs that it has now; one that leads outside is left out."""
        found: dict[str, str] = {}
        folder = self.inside(f"{name}/runs")
        for own in sorted((one.name for one in folder.iterdir()), key=natural) if folder.is_dir() else []:
            with suppress(InputError):
                found[f"{name}/runs/{own}"] = str(self.run(f"{name}/runs/{own}"))
        return found

    def new_file(self, name: str) -> Path:
        """Where a new model file goes. InputError where something of the name is there, or its folder is not."""
        if not name.endswith(".toml") or name.startswith("."):
            raise InputError(repr(name), "save as", "give a name that ends in .toml")
        folder = self.inside(str(Path(name).parent))
        path = folder / Path(name).name
        if os.path.lexists(path):
            raise InputError("the file exists", name, "give another name: nothing is replaced")
        if not folder.is_dir():
            raise InputError("no such folder", name, "give the name of a folder that is there")
        return path

    def contents(self) -> FolderContents:
        """What the folder has. Links to folders are not followed, and of names that begin with a dot nothing is said."""
        found, self.unnamed = FolderContents(), 0
        for number, (name, kind) in enumerate(self._entries()):
            if number >= MOST_ENTRIES:
                found.left_out = f"only the first {MOST_ENTRIES} files were looked at"
                break
            if kind == "manifest.json":
                found.runs.append(name.rpartition("/")[0] or ".")
            elif kind == "study.json":
                found.studies.append(name.rpartition("/")[0] or ".")
            elif kind.endswith(".toml"):
                self._toml(name, found)
        if self.unnamed and not found.left_out:
            found.left_out = f"{self.unnamed} files and folders are left out: their names are no text"
        for names in (found.runs, found.models, found.fitted, found.studies):
            names.sort(key=natural)
        return found

    def _toml(self, name: str, found: FolderContents) -> None:
        try:
            path = self.inside(name)
        except InputError:
            return
        kind = self._kind(path)
        if kind == FIT:
            found.fitted.append(name)
        elif kind in (MODEL, "a file"):  # no TOML: whoever is writing it wants to see where it is wrong
            found.models.append(name)

    def _kind(self, path: Path) -> str:
        """Of a file, kept until it changes: a page asks every few seconds. Empty for what is none."""
        try:
            found = path.stat()
        except OSError:
            return ""
        if not stat.S_ISREG(found.st_mode):
            return ""
        mark = (found.st_mtime_ns, found.st_size)
        if self._kinds.get(path, (None, ""))[0] != mark:
            self._kinds[path] = (mark, kind_of(path))
        return self._kinds[path][1]

    def _entries(self, folder: str = "", deep: int = 0) -> Iterator[tuple[str, str]]:
        """(name in the folder, its last part) of all files, folder by folder."""
        try:
            with os.scandir(self.root / folder) as there:
                entries = sorted(there, key=lambda one: one.name)
        except OSError:
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if not entry.name.isprintable():  # no UTF-8, or control characters: no name for a URL
                self.unnamed += 1
                continue
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if deep < MOST_DEEP:
                    yield from self._entries(name, deep + 1)
            else:
                yield name, entry.name


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key for names with numbers in them: run-9 before run-10."""
    parts: list[tuple[int, int, str]] = []
    text = ""
    for character in [*name, ""]:
        if text and (not character or character.isdigit() != text[-1].isdigit()):
            parts.append((0, int(text), "") if text.isdecimal() and len(text) < 18 else (1, 0, text))
            text = ""
        text += character
    return parts
