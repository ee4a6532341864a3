"""What kind of file somebody gave, in words, and which verb takes it: for errors."""

from __future__ import annotations

from pathlib import Path

from sojourn.errors import InputError
from sojourn.files.reading import read_toml

STUDY, MODEL, FIT = "a study file", "a model file", "a fitted model file"
OLD_FIT = "a two-class or mmm fit of an earlier version"
TAKES = {
    STUDY: "`sojourn study` runs it",
    MODEL: "`sojourn solve` answers it, and `sojourn fit RUNS --model` finds its unknowns",
    FIT: "`sojourn predict` and `sojourn validate --model` read it",
    OLD_FIT: "these models are now model files: fit the runs again, `sojourn fit RUNS --model web-models`, or --model auto for a service "
    "of your own",
}
ENDINGS = {".html": "an HTML page", ".parquet": "a Parquet file", ".csv": "a CSV file", ".md": "a page of text"}


def kind_of(path: Path | str) -> str:
    """One of the kinds above, or what the ending says; `a file` where nothing tells."""
    path = Path(path)
    if path.is_dir():
        return "a folder"
    if path.suffix != ".toml":
        return ENDINGS.get(path.suffix, "a file")
    try:
        keys = set(read_toml(path, "give a file")[0])
    except InputError:
        return "a file"
    if "stations" in keys:
        return FIT if "fit" in keys else MODEL
    if "system" in keys or "section" in keys:
        return STUDY
    return OLD_FIT if {"model", "parameters"} <= keys else "a TOML file"


def expect(path: Path | str, *kinds: str) -> None:
    """Raises InputError for a file that is known to be of another kind; what cannot be told passes, its reader knows."""
    found = kind_of(path)
    if found in kinds or found in ("a file", "a TOML file") or not Path(path).exists():
        return
    remedy = f"give {' or '.join(kinds)}"
    raise InputError(found, path, f"{remedy}; {TAKES[found]}" if found in TAKES else remedy)
