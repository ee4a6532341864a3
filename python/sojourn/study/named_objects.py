"""What a study file names: classes and functions of ours by a short name, and a user's own as `FILE.py:NAME` beside it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.cases import imported
from sojourn.errors import StudyError
from sojourn.file_errors import meant


def named(name: str, known: Mapping[str, str], folder: Path, place: str, where: str = "") -> Any:
    """The object behind `name`: one of `known` (name → "module:object", or "module"), or `FILE.py:NAME`, relative to `folder`.
    `place`: the key that has it; `where`: its file and line, for errors.

    Raises:
        StudyError: no such name, file or object; a file that cannot be run. CaseError: a case that cannot be imported.
    """
    if name in known:
        return imported(known[name])
    file, _, attribute = name.rpartition(":")
    if not file.endswith(".py"):
        remedy = f"{meant(name, known)}, or FILE.py:NAME beside the study file"
        raise StudyError(f"{place} = {name!r}", where or str(folder), remedy)
    path = folder / file
    try:
        spec = importlib.util.spec_from_file_location(f"sojourn_study_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module_of = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module_of)
    except OSError as error:
        raise StudyError(f"{place} = {name!r}: {error.strerror}", str(path), "mend the path; it is relative") from None
    except Exception as error:
        raise StudyError(f"{place} = {name!r}: {type(error).__name__}: {error}", str(path), "mend the file") from error
    found = getattr(module_of, attribute, None)
    if found is None:
        defined = [one for one in vars(module_of) if not one.startswith("_")]
        raise StudyError(f"{place} = {name!r}: no {attribute} in the file", str(path), meant(attribute, defined))
    return found
