"""The docs as a whole: generated pages are current and complete, every page is in the site, quoted messages are those of the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import sojourn as sj
from sojourn.cases import known
from sojourn.study.kinds import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from reference import commands, pages, study_keys  # noqa: E402


def test_generated_pages_are_what_the_code_says() -> None:
    stale = [path.name for path, text in pages.made().items() if not path.exists() or path.read_text() != text]
    assert stale == [], f"run `{pages.COMMAND}`, which writes these pages from the code"


def test_nothing_of_the_machine_that_made_them_is_in_generated_pages() -> None:
    text = "".join(pages.made().values())
    assert [
        name
        for name in ("PATH", "HOME", "PWD")
        if (value := os.environ.get(name, "")) not in ("", "/") and value in text
    ] == []


def test_every_verb_option_name_and_system_is_there() -> None:
    told = (ROOT / "docs/reference/commands.md").read_text()
    verbs = "load, measure, fit, predict, validate, solve, simulate, study, report, doctor, serve messages"
    assert [verb for verb in verbs.split(", ") if f"## `sojourn {verb}`" not in told] == []
    assert "`--objective`" in told and "`--sample-interval`" in told
    python = (ROOT / "docs/reference/python.md").read_text()
    assert [name for name in sj.__all__ if f"### `{name}`" not in python] == []
    keys = study_keys.page()
    assert [name for name in known("system_classes", SYSTEMS) if f"## System `{name}`" not in keys] == []


def test_an_option_says_its_flags_value_default_and_meaning() -> None:
    assert "| `--for` | text | `8s` | length of each run, e.g. 8s |" in commands.page()


def pages_of_docs() -> Iterator[str]:
    for path in sorted((ROOT / "docs").rglob("*.md")):
        yield str(path.relative_to(ROOT / "docs"))


def test_every_page_is_in_the_navigation() -> None:
    """Decisions are put there by tools/docs_site.py."""
    text = (ROOT / "mkdocs.yml").read_text()
    assert [page for page in pages_of_docs() if f": {page}" not in text and not page.startswith("decisions/")] == []


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is in requirements-docs.lock only")
def test_the_site_is_built_without_a_broken_link(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    page = (tmp_path / "site/reference/methods.html").read_text()
    assert "source/examples/shop.toml.page.html" in page and (tmp_path / "site/tutorial/whole-loop.html").exists()


def test_messages_in_troubleshooting_are_those_of_the_code() -> None:
    """Each piece of a quoted message between what varies; numbers and names of an example vary, too."""
    files = (
        p for folder in ("python", "crates", "cases") for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".rs")
    )
    code = "".join(p.read_text() for p in files)
    code = re.sub(r'"\s*\n?\s*f?"', "", code)  # texts over several lines
    code = re.sub(r"\s+", " ", code)
    text = (ROOT / "docs/howto/troubleshooting.md").read_text()
    heads = re.findall(r"^\*\*(`.*?)\*\*", text, re.MULTILINE | re.DOTALL)
    quoted = [part for head in heads for part in re.findall(r"`([^`]+)`", head)]
    assert len(quoted) > 25
    strange = {
        (message, piece)
        for message in quoted
        for piece in re.split(r"…|\d[\d.:/]*|'[^']*'|[();:]", " ".join(message.split()))
        if " " in piece.strip() and piece.strip(" ,") not in code
    }
    assert strange == set(), "no message has this"
