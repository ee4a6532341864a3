"""Cases: found by their entry points, also one in a repository of its own; what is wrong with one does not stop the others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from sojourn import cases
from sojourn.cases import GROUP, Case, commands, imported, known, path_of
from sojourn.errors import CaseError
from sojourn.study.kinds import SYSTEMS

PAGE = Path(__file__).resolve().parents[2] / "docs/howto/write-a-case.md"
STUDY = """
name = "evenings"
[system]
kind = "library"
model = "desk.toml"
[load]
for = "200s"
[[section]]
name = "open"
vary = { rate_per_s = [10, 20, 30] }
[[analysis]]
name = "library.loans"
"""
MODEL = """
[stations.desk]
[classes.reader]
kind = "open"
rate_per_s = 10.0
[demands_s]
desk = { reader = 0.02 }
"""


def sojourn(folder: Path, *words: str, path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run(
        [sys.executable, "-m", "sojourn", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


def repository(folder: Path, python: str, project: dict[str, str]) -> Path:
    """A package in a folder of its own, as pip would have it: a module, and a description with its entry points."""
    described = folder / "library_case-1.0.dist-info"
    described.mkdir(parents=True)
    (folder / "library_case.py").write_text(python)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: library-case\nVersion: 1.0\n")
    points = "".join(f"{name} = {value}\n" for name, value in project.items())
    (described / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    return folder


def page() -> tuple[str, dict[str, str]]:
    """The module and the entry points of docs/howto/write-a-case.md."""
    text = PAGE.read_text()
    (python,), (toml,) = (
        re.findall(r"```python\n(.*?)```", text, re.DOTALL),
        re.findall(r"```toml\n(.*?)```", text, re.DOTALL),
    )
    return python, tomllib.loads(toml)["project"]["entry-points"][GROUP]


def test_a_case_in_a_repository_of_its_own_is_found_and_run_by_a_study(tmp_path: Path) -> None:
    """The page's own files, word for word."""
    theirs = repository(tmp_path / "theirs", *page())
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "desk.toml").write_text(MODEL)
    done = sojourn(tmp_path, "study", "study.toml", "--out", "runs", path=theirs)
    assert done.returncode == 0, done.stderr
    assert "3 evenings at the desk" in done.stdout
    without = sojourn(tmp_path, "study", "study.toml", "--out", "runs2", path=tmp_path)
    assert without.returncode == 2 and "system.kind = 'library'" in without.stderr


def test_a_case_that_is_broken_is_left_out_and_said(tmp_path: Path) -> None:
    broken = repository(tmp_path / "theirs", "import no_such_module\n", {"library": "library_case:CASE"})
    done = sojourn(tmp_path, "serve", "mail", path=broken)
    first, second = done.stderr.splitlines()
    assert first == (
        "sojourn: case library (library_case:CASE) is left out: ModuleNotFoundError: No module named 'no_such_module'"
    )
    assert second.startswith("sojourn: serve: 'mail'; use one of bulletin, kv, kv-proxy, ") and done.returncode == 2


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Entry points as if they were installed: of this module's objects."""
    found: list[EntryPoint] = []
    monkeypatch.setattr(metadata, "entry_points", lambda group: found)
    cases.cases.cache_clear()
    yield found
    cases.cases.cache_clear()


ONE = Case(system_classes={"desk": "one:Desk"}, command_functions={"serve": {"desk": "one:desk"}})
OTHER = Case(system_classes={"desk": "other:Desk"})
URL = Case(system_classes={"url": "other:Url"})
NONE = {"systems": {}}


def point(name: str, of: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{of}", GROUP)


def test_tables_are_joined_and_each_command_is_below_its_verb(installed: list[EntryPoint]) -> None:
    installed.append(point("one", "ONE"))
    assert known("system_classes", {"url": "a:b"}) == {"url": "a:b", "desk": "one:Desk"}
    assert (commands("serve", {}), commands("plan", {"x": "y"})) == ({"desk": "one:desk"}, {"x": "y"})


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ((("one", "ONE"), ("other", "OTHER")), "system_classes: 'desk' is there twice"),
        ((("one", "URL"),), "system_classes: 'url' is there twice"),
        ((("one", "ONE"), ("one", "OTHER")), "case 'one' is there twice"),
    ],
)
def test_two_things_of_one_name(installed: list[EntryPoint], points: tuple[tuple[str, str], ...], message: str) -> None:
    installed += [point(*one) for one in points]
    with pytest.raises(CaseError, match=message) as error:
        known("system_classes", SYSTEMS)
    assert error.value.exit_code == 4


def test_what_is_no_case_is_left_out(installed: list[EntryPoint], capsys: pytest.CaptureFixture[str]) -> None:
    installed += [point("none", "NONE"), point("one", "ONE")]
    assert known("system_classes", {}) == {"desk": "one:Desk"}
    said = capsys.readouterr().err
    assert (
        said == f"sojourn: case none ({__name__}:NONE) is left out: TypeError: {__name__}:NONE is a dict, not a Case\n"
    )


def test_an_object_that_is_not_there() -> None:
    with pytest.raises(CaseError, match="sojourn_cases.web:Shop: .*Shop.*; repair or reinstall"):
        imported("sojourn_cases.web:Shop")


def test_a_path_in_a_module_without_a_specification_is_beside_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """`find_spec` raises ValueError there, as documented: of `__main__` where a script runs."""
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    assert path_of("__main__:x", Path("here")) == Path("here/__main__:x")
    assert path_of("no_such_package:x", Path("here")) == Path("here/no_such_package:x")


def test_all_that_the_cases_here_name_is_there() -> None:
    """Each name of each table: that of a case that was renamed, too."""
    found = cases.cases()
    assert set(found) == {"kv", "messages", "ntier", "storage", "web"}
    for case in found.values():
        tables = [
            case.system_classes,
            case.fit_templates,
            case.analysis_functions,
            case.worker_functions,
            case.mix_functions,
            *case.command_functions.values(),
        ]
        for places in tables:
            for place in places.values():
                assert imported(place) is not None


@pytest.mark.parametrize("verb", ["serve", "load", "plan"])
def test_words_of_cases_below_a_verb_cost_no_imports(verb: str) -> None:
    """All commands of all cases are known after 0.2 s; what runs studies takes a second to import."""
    code = f"import sys, sojourn.cli.{verb}; print([one for one in ('sojourn.study', 'scipy', 'polars') if one in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr
