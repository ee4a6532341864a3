"""No block of docs without a test: a page is run from top to bottom, is written from the code, has a test of its own, or is read here."""

from __future__ import annotations

import ast
import re
import subprocess
import textwrap
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from test_models_docs import BLOCK
from test_models_docs import PAGES as RUN

import sojourn as sj
from sojourn.load.http_request import read_requests

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = {"docs/reference/python.md", "docs/reference/commands.md", "docs/reference/query.md"}  # by tools/reference
OWN = {  # page → the test that runs its blocks
    "docs/howto/read-run-folders.md": "docs/test_docs.py",
    "docs/howto/add-a-study.md": "live/test_add_a_study.py",
    "docs/howto/compare-two-versions.md": "unit/compare/test_howto.py",
    "docs/howto/same-objective-elsewhere.md": "unit/query/test_objective_elsewhere.py",
    "docs/howto/study-your-own-service.md": "live/test_own_study.py",
    "docs/howto/write-a-case.md": "unit/test_cases.py",
    "docs/reference/json.md": "unit/cli/test_json_forms.py",
}
READ = {
    "python",
    "toml",
}  # languages that are read below; of console and sh, test_commands_in_docs.py reads the commands
PLAIN = {"text", "yaml", "console", "sh"}  # recorded output, files of other programs, commands


def blocks(page: str) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for found in BLOCK.finditer((ROOT / page).read_text())]


def left() -> list[str]:
    every = (str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md")))
    return [page for page in every if page not in {*RUN, *WRITTEN, *OWN} and blocks(page)]


@pytest.mark.parametrize("page", OWN)
def test_a_page_with_a_test_of_its_own_is_named_there(page: str) -> None:
    assert blocks(page) and Path(page).name in (ROOT / "tests" / OWN[page]).read_text()


@pytest.mark.parametrize("page", left())
def test_every_other_block_is_read(page: str, tmp_path: Path) -> None:
    for language, text in blocks(page):
        assert language in READ | PLAIN, f"{page}: nothing reads {language}"
        if language == "python":
            names = [
                n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
            ]
            of_ours = [name.attr for name in names if isinstance(name.value, ast.Name) and name.value.id == "sj"]
            assert [name for name in of_ours if not hasattr(sj, name)] == [], page
        if language == "toml":
            table = tomllib.loads(text)
            if "stations" in table:
                assert sj.Model.parse(text).stations
            elif "request" in table:
                (tmp_path / "mix.toml").write_text(text)
                assert len(read_requests(tmp_path / "mix.toml")) == len(table["request"])


INDENTED = re.compile(r"(?:\n\n)((?:(?: {4,}.*)?\n)*? {4,}.*\n(?!\n* {4}))")


def set_in(page: str) -> list[str]:
    """Blocks that are set in from the margin: what of them is Python or TOML."""
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    found = [textwrap.dedent(block[1]).strip() for block in INDENTED.finditer(text)]
    return [one for one in found if one.startswith(("from ", "import ", "["))]


def every() -> list[str]:
    pages = [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if "decisions" not in page and page not in WRITTEN and set_in(page)]


@pytest.mark.parametrize("page", every())
def test_what_is_set_in_from_the_margin_is_read(page: str) -> None:
    for text in set_in(page):
        if text.startswith("["):
            assert tomllib.loads(re.sub(r"(?m)^.*….*$", "", text)), page
        else:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.module:
                    missing = [one.name for one in node.names if not hasattr(import_module(node.module), one.name)]
                    assert missing == [], f"{page}: {node.module} has no {missing}"


def test_shell_and_yaml_are_read() -> None:
    """Files of other programs, and scripts: what a shell and YAML refuse is seen here, although nothing runs it."""
    shell = {"sh": 0, "yaml": 0}
    for page in left():
        for language, text in blocks(page):
            if language == "sh":
                done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{page}: {done.stderr}"
            elif language == "yaml":
                assert [one for one in yaml.safe_load_all(text) if one], page
            shell[language] = shell.get(language, 0) + 1
    assert shell["sh"] and shell["yaml"]


def test_text_that_was_recorded_says_so() -> None:
    """What a `text` block shows on a page that is not run is output of a day: the page says of which."""
    pages = [page for page in left() if any(language == "text" for language, _ in blocks(page))]
    assert [page for page in pages if not re.search(r"[Rr]ecorded|20\d\d-\d\d-\d\d", (ROOT / page).read_text())] == []
