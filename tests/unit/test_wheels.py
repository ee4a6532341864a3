"""What the wheels hold: a budget of bytes, all shipped files, the licences of what is linked."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from sojourn.cases import known, path_of

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import licences  # noqa: E402

MOST_BYTES = {
    "python/sojourn": 6_000_000,
    "cases/sojourn_cases": 3_000_000,
}  # of a wheel; a plain download of some seconds


@pytest.mark.parametrize("package", MOST_BYTES)
def test_a_wheel_stays_within_its_budget(package: str) -> None:
    """Compressed as a wheel is: deflate. The native module of a build for work on sojourn is not stripped less than that of a wheel."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for place, folders, files in os.walk(
            ROOT / package, followlinks=True
        ):  # a wheel has the files of linked folders
            folders[:] = [name for name in folders if name != "__pycache__"]
            for path in (Path(place, name) for name in files):
                wheel.write(path, str(path.relative_to(ROOT)))
        assert any("_native" in name for name in wheel.namelist())
        assert any(name.endswith("/study.toml") for name in wheel.namelist())
    assert packed.tell() <= MOST_BYTES[package]


def test_the_studies_of_the_cases_are_in_their_wheel() -> None:
    included = tomllib.loads((ROOT / "cases/pyproject.toml").read_text())["tool"]["maturin"]["include"]
    patterns = {one["path"] for one in included}
    assert patterns == {f"{place.replace(':', '/')}/*" for place in known("study_folders", {}).values()}
    folders = [path_of(place, ROOT) for place in known("study_folders", {}).values()]
    assert [
        path for folder in folders for path in folder.iterdir() if path.is_dir()
    ] == []  # such a folder needs a pattern of its own


def tracked(folder: Path) -> set[Path]:
    """Files below `folder` that are under version control, or are new and not ignored; those of linked folders by the link's path."""
    real = folder.resolve()
    listing = ["git", "ls-files", "-co", "--exclude-standard", real]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    paths = [folder / (ROOT / name).relative_to(real) for name in names]
    return {inner for path in paths for inner in (tracked(path) if path.is_dir() else {path})}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="maturin asks cargo which crates belong to it")
@pytest.mark.parametrize(
    ("folder", "packages"),
    [(".", ["python/sojourn/shipped"]), ("cases", ["sojourn_cases/studies", "sojourn_cases/kv/published"])],
)
def test_a_source_distribution_has_the_shipped_files(folder: str, packages: list[str], tmp_path: Path) -> None:
    """No other file, and none as a link: what a link names is not in a distribution, and a wheel that is built from it would lack it."""
    maturin = Path(sys.executable).parent / "maturin"
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT / folder, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.iterdir())) as archive:
        names = [one.name.split("/", 1)[1].removeprefix("cases/") for one in archive if one.isfile()]
    for package in packages:
        wanted = {str(path.relative_to(ROOT / folder)) for path in tracked(ROOT / folder / package)}
        if package.endswith("studies"):  # those two are in the other package
            wanted -= {name for name in wanted if name.split("/")[2] in ("control", "workers")}
        assert len(wanted) > 10
        assert sorted(name for name in names if name.startswith(f"{package}/")) == sorted(wanted)


def test_versions_are_the_same_everywhere() -> None:
    """A wheel of the cases works with the product of its own version alone."""
    ours, theirs = (tomllib.loads((ROOT / name / "pyproject.toml").read_text())["project"] for name in (".", "cases"))
    version = ours["version"]
    assert theirs["version"] == version and theirs["dependencies"] == [f"sojourn=={version}"]
    assert ours["optional-dependencies"]["cases"] == [f"sojourn-cases=={version}"]
    assert tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo lists what is linked")
@pytest.mark.parametrize("package", licences.WHEELS)
def test_the_licences_are_those_of_the_linked_crates(package: str) -> None:
    assert licences.listed(licences.WHEELS[package]) == licences.linked(package)
