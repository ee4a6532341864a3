"""What the wheels hold: a budget of bytes, all shipped files, the licences of what is linked."""

from __future__ import annotations

import io
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
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                wheel.write(path, str(path.relative_to(ROOT)))
        assert any("_native" in name for name in wheel.namelist())
    assert packed.tell() <= MOST_BYTES[package]


def test_the_studies_of_the_cases_are_in_their_wheel() -> None:
    included = tomllib.loads((ROOT / "cases/pyproject.toml").read_text())["tool"]["maturin"]["include"]
    patterns = {one["path"] for one in included}
    assert patterns == {f"{place.replace(':', '/')}/*" for place in known("studies", {}).values()}
    folders = [path_of(place, ROOT) for place in known("studies", {}).values()]
    assert [
        path for folder in folders for path in folder.iterdir() if path.is_dir()
    ] == []  # such a folder needs a pattern of its own


@pytest.mark.skipif(shutil.which("cargo") is None, reason="maturin asks cargo which crates belong to it")
@pytest.mark.parametrize(
    ("folder", "package"), [(".", "python/sojourn/shipped"), ("cases", "cases/sojourn_cases/studies")]
)
def test_a_source_distribution_has_the_shipped_files(folder: str, package: str, tmp_path: Path) -> None:
    """Links to folders are not followed by themselves: without the files a wheel that is built from it would lack them."""
    maturin = Path(sys.executable).parent / "maturin"
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT / folder, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.iterdir())) as archive:
        names = {name.split("/", 1)[1].removeprefix("cases/") for name in archive.getnames()}
    ours = {"control", "workers"} if folder == "cases" else set()  # links to them are in that package too
    paths = [path for path in (ROOT / package).glob("*/**/*") if path.is_file() and not ours & set(path.parts)]
    wanted = {str(path.relative_to(ROOT)).removeprefix("cases/") for path in paths}
    assert len(wanted) > 10 and wanted <= names


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
