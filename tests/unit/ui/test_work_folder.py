"""What the workbench sees of a folder: nothing outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ui_folder import run_folder, work_folder

from sojourn.errors import InputError
from sojourn.ui.work_folder import WorkFolder, natural


def test_runs_and_models_are_found(tmp_path: Path) -> None:
    found = WorkFolder(work_folder(tmp_path / "work")).contents()
    assert found.runs == ["runs/rate-20", "runs/rate-40", "runs/rate-60"]
    assert found.models == ["broken.toml", "one.toml"] and found.fitted == [] and found.studies == []


@pytest.mark.parametrize(
    "name", ["..", "../secret", "/etc/passwd", "runs/../../secret", "link", "link/secret.toml", "a\0b", "circle"]
)
def test_nothing_outside_has_a_name(tmp_path: Path, name: str) -> None:
    folder = work_folder(tmp_path / "work")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "secret.toml").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "circle").symlink_to("circle")
    with pytest.raises(InputError, match=r"outside the folder|no name|leads nowhere"):
        WorkFolder(folder).inside(name)


def test_a_run_whose_records_are_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    folder = work_folder(tmp_path / "work")
    outside = run_folder(tmp_path / "other", 30.0)
    run = folder / "runs" / "rate-20"
    (run / "metrics.parquet").unlink()
    (run / "metrics.parquet").symlink_to(outside / "metrics.parquet")
    with pytest.raises(InputError, match="outside the folder"):
        WorkFolder(folder).run("runs/rate-20")
    (folder / "planted").symlink_to(outside)
    with pytest.raises(InputError, match="outside the folder"):
        WorkFolder(folder).run("planted")
    assert "planted" not in WorkFolder(folder).contents().runs


def test_a_link_inside_the_folder_is_good(tmp_path: Path) -> None:
    folder = work_folder(tmp_path / "work")
    (folder / "newest").symlink_to(folder / "runs" / "rate-60")
    assert WorkFolder(folder).run("newest") == folder / "runs" / "rate-60"


def test_a_new_file_replaces_nothing_and_stays_inside(tmp_path: Path) -> None:
    folder = WorkFolder(work_folder(tmp_path / "work"))
    assert folder.new_file("two.toml") == folder.root / "two.toml"
    (folder.root / "dangling.toml").symlink_to(tmp_path / "planted.toml")
    for name in ("one.toml", "../two.toml", "two.txt", ".hidden.toml", "no/such/two.toml", "dangling.toml"):
        with pytest.raises(InputError):
            folder.new_file(name)


def test_numbers_in_names_are_counted() -> None:
    assert sorted(["run-10", "run-9", "run"], key=natural) == ["run", "run-9", "run-10"]
    assert sorted(["a²", "a1", "²"], key=natural)  # a digit that is no decimal


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        WorkFolder(tmp_path / "none")
