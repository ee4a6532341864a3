"""What the pages on models, methods and simulation say: snippets run, tables are those of the code, keys are told.

A page is read from top to bottom in an empty folder that also has `examples/` and `benches/`. A `toml` block whose first line is
`# file: NAME` becomes that file. `python` blocks share one namespace. Each `$ sojourn …` line of a `console` block runs
through the command line. A `text` block after either, and what a `console` block shows below a command, must be what was
printed: blanks count as one, a line `…` stands for any lines. Programs of others are in blocks of other languages.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.metric_names import UNITS
from sojourn.model import Model, components
from sojourn.model.distribution_registry import KINDS
from sojourn.solve.registry import all_methods

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "docs/tutorial/first-model.md",
    "docs/howto/write-a-model.md",
    "docs/howto/simulate-a-model.md",
    "docs/howto/fit-your-own-model.md",
    "docs/howto/model-a-middleware.md",
    "docs/howto/plan-capacity.md",
    "docs/howto/find-an-oscillating-bottleneck.md",
    "docs/howto/ten-questions.md",
    "docs/howto/see-how-cores-are-related.md",
    "docs/howto/coming-from-other-tools.md",
    "docs/howto/ask-for-an-objective.md",
    "docs/explain/message-study.md",
    "docs/explain/scale.md",
    *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs/explain/methods").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# section of docs/howto/write-a-model.md → the noun whose keys it tells
NOUNS = {
    "queue": components.Queue,
    "delay": components.Delay,
    "load_dependent": components.LoadDependent,
    "fork_join": components.ForkJoin,
    "multicore": components.Multicore,
    "pool": components.Pool,
    "closed": components.Closed,
    "open": components.Open,
    "region": components.Region,
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("examples", "benches"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    names: dict[str, Any] = {}
    printed = ""
    for found in BLOCK.finditer((ROOT / page).read_text()):
        language, text = found.groups()
        place = f"{page}:{(ROOT / page).read_text()[: found.start()].count(chr(10)) + 1}"
        if language == "toml" and (name := re.match(r"# file: (\S+)\n", text)):
            Path(name[1]).write_text(text)
        elif language == "python":
            exec(compile(text, place, "exec"), names)
            printed = capsys.readouterr().out
        elif language == "console":
            run_console(text, place)
        elif language == "text":
            compare(text, printed, place)


def run_console(text: str, place: str) -> None:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        words = shlex.split(command, comments=True)
        assert words[0] == "sojourn", f"{place}: {command}"
        result = CliRunner().invoke(command_line(), words[1:])
        assert result.exit_code == 0, f"{place}: {command}\n{result.output}{result.exception or ''}"
        if shown.strip():
            compare(shown, result.output, place)


def compare(shown: str, printed: str, place: str) -> None:
    wanted = [" ".join(line.split()) for line in shown.splitlines() if line.strip()]
    there = [" ".join(line.split()) for line in printed.splitlines() if line.strip()]
    pattern = "".join("(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in wanted)
    assert re.fullmatch(pattern, "\n".join(there) + "\n"), f"{place} shows\n{shown}\nbut this was printed\n{printed}"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("methods_table", ROOT / "tools/methods_table.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_methods_and_statuses_are_those_of_the_code(tool: ModuleType) -> None:
    stale = [str(path.relative_to(ROOT)) for path, text in tool.made().items() if path.read_text() != text]
    assert stale == [], f"run `{tool.COMMAND}`, which writes these pages from the code"


def test_every_example_is_in_the_tables(tool: ModuleType) -> None:
    assert sorted(tool.EXAMPLES) == sorted(path.stem for path in (ROOT / "examples").glob("*.toml"))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_an_example_is_a_model_of_its_name_and_says_what_it_is(path: Path) -> None:
    assert path.read_text().startswith("# ")
    assert Model.read(path).name == path.stem


def test_every_method_has_its_place_on_a_page_and_no_page_names_another() -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs/explain/methods").glob("*.md"))
    named = {name for line in re.findall(r"^## .*", text, re.MULTILINE) for name in re.findall(r"`([^`]+)`", line)}
    assert sorted(set(all_methods()) - named) == [], "tell it in docs/explain/methods"
    assert sorted(named - set(all_methods())) == [], "no such method"


def told(section: str) -> dict[str, str]:
    """Key → default of the table in a section of the page, as written there."""
    text = (ROOT / "docs/howto/write-a-model.md").read_text()
    part = text.split(f"### `{section}`\n")[1].split("\n## ")[0].split("\n### ")[0]
    return dict(re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*?) \|", part, re.MULTILINE))


@pytest.mark.parametrize("section", NOUNS)
def test_every_key_of_a_noun_is_told_with_its_default(section: str) -> None:
    keys = told(section)
    wanted = [f for f in fields(NOUNS[section]) if f.name != "name"]
    assert sorted(keys) == sorted(f.name for f in wanted)
    for f in wanted:
        assert meant(keys[f.name]) == default(f), f"{section}: {f.name}"


def meant(cell: str) -> Any:
    """– is a key that must be given, none is None, the rest is TOML."""
    if cell in ("–", "none"):
        return {"–": MISSING, "none": None}[cell]
    return tomllib.loads(f"x = {cell.strip('`')}")["x"]


def default(f: Field[Any]) -> Any:
    return list(f.default) if isinstance(f.default, tuple) else f.default


@pytest.mark.parametrize("kind", KINDS)
def test_every_distribution_is_told_with_its_keys(kind: str) -> None:
    text = (ROOT / "docs/howto/write-a-model.md").read_text()
    row = re.search(rf"^\| `{kind}` \|([^|]*)\|", text, re.MULTILINE)
    assert row, kind
    keys = {f.name.rstrip("_") for f in fields(KINDS[kind])}
    assert set(re.findall(r"`(\w+)`", row[1])) == keys


@pytest.mark.parametrize(
    "words", [components.DISCIPLINES, components.ON_FULL, tuple(UNITS)], ids=["disciplines", "full", "metrics"]
)
def test_every_word_of_a_list_is_told(words: tuple[str, ...]) -> None:
    text = "".join((ROOT / f"docs/{p}").read_text() for p in ("howto/write-a-model.md", "reference/model-file.md"))
    assert [word for word in words if not re.search(rf'`"?{word}"?`', text)] == []
