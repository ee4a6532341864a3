"""Examples and studies that come with sojourn: all there, copied whole, found by name, and as the documentation has them."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from sojourn import shipped
from sojourn.cli.app import command_line
from sojourn.errors import CaseError, InputError
from sojourn.model import Model
from sojourn.shipped import MODEL, STUDY, copy_example, examples, study_path
from sojourn.study.study_check import check_study

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/howto/study-your-own-service.md"
BLOCK = re.compile(r"```\w+\n(.*?)```", re.DOTALL)


def test_all_models_and_studies_of_the_repository_are_there() -> None:
    there = examples()
    models = {path.stem for path in (ROOT / "examples").glob("*.toml")}
    studies = {path.parent.name for path in (ROOT / "studies").glob("*/study.toml")}
    assert models == {name for name, one in there.items() if one.kind == MODEL}
    assert studies == {name for name, one in there.items() if one.kind == STUDY}
    assert all(one.title and "\n" not in one.title for one in there.values())


def test_a_model_is_copied_and_read(tmp_path: Path) -> None:
    copy = copy_example("desk", tmp_path / "new")
    assert copy == tmp_path / "new/desk.toml" and copy.read_bytes() == (ROOT / "examples/desk.toml").read_bytes()
    assert Model.read(copy).name == "desk"
    with pytest.raises(InputError, match="is there already"):
        copy_example("desk", tmp_path / "new")


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "studies").glob("*/study.toml")))
def test_a_copy_of_a_study_can_be_run_anywhere(name: str, tmp_path: Path) -> None:
    copy = copy_example(name, tmp_path)
    assert {path.name for path in copy.iterdir()} == {path.name for path in (ROOT / "studies" / name).iterdir()}
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    assert check_study(copy, ())  # its models are found, from any folder


def test_a_study_is_found_by_name_unless_a_folder_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert study_path(Path("workers")).samefile(ROOT / "studies/workers")
    Path("workers").mkdir()
    assert study_path(Path("workers")) == Path("workers")
    assert study_path(Path("mine.toml")) == Path("mine.toml")  # its reader says that there is none
    with pytest.raises(InputError, match=r"'wrokers'.*one of .*web.*workers"):
        study_path(Path("wrokers"))


def test_without_the_cases_their_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "known", lambda part, ours: dict(ours))
    with pytest.raises(InputError, match="further studies come with the package sojourn-cases"):
        study_path(Path("web"))


@pytest.mark.parametrize(("name", "other"), [("desk", "model"), ("control", "policies")])
def test_a_study_of_a_case_takes_no_name_that_is_there(name: str, other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "known", lambda part, ours: {**ours, name: "sojourn.shipped:workers"})
    with pytest.raises(CaseError, match=f"{other} and study '{name}' have one name"):
        examples()


def test_the_study_of_workers_is_that_of_the_page() -> None:
    blocks = BLOCK.findall(PAGE.read_text())
    for name, text in zip(("shop.py", "shop.toml", "study.toml"), blocks, strict=True):
        assert (ROOT / "studies/workers" / name).read_text() == text, name


@pytest.mark.parametrize("name", ["shop", "control", "workers"])
def test_the_command_that_is_told_takes_the_copy(name: str, tmp_path: Path) -> None:
    copy = copy_example(name, tmp_path)
    words = shlex.split(examples()[name].command.replace("{}", str(copy)))[1:]
    assert all(Path(word).exists() for word in words if "/" in word)
    command: Any = get_command(command_line())
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context(name, words)  # raises for what it does not know


def test_the_verb_lists_them_and_says_what_to_type_with_a_copy(tmp_path: Path) -> None:
    listed = CliRunner().invoke(command_line(), ["examples"]).output
    assert all(name in listed for name in examples())
    assert listed.startswith("Copy one with `sojourn examples NAME`; it prints what to type next.\n")
    words = " ".join(listed.split())
    assert all(examples()[name].command.replace("{}", "NAME") in words for name in ("control", "workers"))
    copied = CliRunner().invoke(command_line(), ["examples", "shop", "--out", str(tmp_path)])
    assert copied.exit_code == 0 and f"sojourn solve {tmp_path}/shop.toml" in copied.output
    command = copied.output.split("try: sojourn ")[1].split()
    assert CliRunner().invoke(command_line(), command).exit_code == 0


def test_nothing_is_left_of_a_copy_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that leads nowhere is something there, and is not written through; a folder that is copied in part goes."""
    (tmp_path / "desk.toml").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="there already"):
        copy_example("desk", tmp_path)
    assert not (tmp_path / "elsewhere").exists()

    def cut_off(source: Path, target: Path, **_: object) -> None:
        target.mkdir()
        raise shutil.Error([(str(source), str(target), "No space left on device")])

    monkeypatch.setattr(shutil, "copytree", cut_off)
    with pytest.raises(InputError, match="No space left"):
        copy_example("workers", tmp_path)
    assert not (tmp_path / "workers").exists()
