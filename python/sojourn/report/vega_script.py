"""The script that draws a page's figures: Vega, Vega-Lite and Vega-Embed, 0.9 MB, by vl-convert.

Making it takes 1.4 s of CPU time, more than the rest of a report, so that it is kept in this user's cache: `sojourn` in XDG_CACHE_HOME
(XDG Base Directory Specification), else in ~/.cache. It goes into pages, so what is there is read only where the folder and the file
are this user's alone and the text is what was written.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from sojourn.errors import LabError
from sojourn.files.private_folder import private_folder, read_own
from sojourn.files.writing import PRIVATE, write_whole
from sojourn.report.figure_files import LANGUAGE

ENTRY = "window.vegaEmbed = vegaEmbed;"


@cache
def vega_script() -> str:
    """From the cache; else made, and kept where that can be done."""
    place = None
    with suppress(LabError, OSError, RuntimeError):  # no home, or a folder that others may write: it is made anew
        place = _folder() / f"vega-{version('vl-convert-python')}-{LANGUAGE}-{_digest(ENTRY)[:8]}.js"
    if place and (kept := _kept(place)):
        return kept
    import vl_convert  # starts an engine: slow, and not needed where nothing is drawn

    made = str(vl_convert.javascript_bundle(ENTRY, vl_version=LANGUAGE))
    if place:
        with suppress(OSError):
            write_whole(place, f"{_digest(made)}\n{made}", PRIVATE)
    return made


def _folder() -> Path:
    """Raises LabError, OSError or RuntimeError where there is none of this user alone."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    parent = given if given.is_absolute() else Path.home() / ".cache"
    nearest = next(one for one in (parent, *parent.parents) if one.exists())
    if nearest.stat().st_uid != os.geteuid():  # root with another user's HOME would lock that user out of it
        raise PermissionError(f"{nearest} is another user's")
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return private_folder(parent / "sojourn")


def _kept(place: Path) -> str:
    """Empty where there is none, or another than was written."""
    try:
        digest, _, script = read_own(place).partition("\n")
    except (OSError, UnicodeDecodeError):
        return ""
    return script if digest == _digest(script) else ""


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()
