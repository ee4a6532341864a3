"""Verdicts as JUnit's XML, which test reporters of continuous integration read.

There is no standard; elements and attributes are those of the schema of Apache Ant's `junitreport` that Jenkins, GitLab and GitHub's
reporters read. What cannot be told is an `error`, not a `failure`: the test did not come to an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from xml.etree import ElementTree

from sojourn.files.writing import write_output
from sojourn.terminal import shown

Outcome: TypeAlias = Literal["met", "missed", "unknown"]
_ELEMENT = {"missed": "failure", "unknown": "error"}


@dataclass(frozen=True)
class JunitCase:
    """A claim `name`, whether it was met, what was found (`text`), and how long that took in s."""

    name: str
    outcome: Outcome
    text: str
    took_s: float = 0.0


def render_junit(suite: str, cases: Sequence[JunitCase]) -> str:
    """A test suite of that name as XML."""
    count = {outcome: sum(one.outcome == outcome for one in cases) for outcome in ("missed", "unknown")}
    root = ElementTree.Element(
        "testsuite", name=shown(suite), tests=str(len(cases)), failures=str(count["missed"]), errors=str(count["unknown"]),
        skipped="0", time=f"{sum(one.took_s for one in cases):.3f}",
    )  # fmt: skip
    for one in cases:
        case = ElementTree.SubElement(
            root, "testcase", classname=shown(suite), name=shown(one.name), time=f"{one.took_s:.3f}"
        )
        if one.outcome in _ELEMENT:
            found = ElementTree.SubElement(case, _ELEMENT[one.outcome], message=shown(one.text.partition("\n")[0]))
            found.text = shown(one.text)
        else:
            ElementTree.SubElement(case, "system-out").text = shown(one.text)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def write_junit(suite: str, cases: Sequence[JunitCase], path: Path | str) -> Path:
    """Writes them to `path` and returns the path. OSError where it cannot be written."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_output(path, render_junit(suite, cases))
    return path
