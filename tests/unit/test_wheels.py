"""What the wheels hold: a budget of bytes, all shipped files, the licences of what is linked."""

from __future__ import annotations

import io
import shutil
import sys
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
    for place in known("studies", {}).values():
        assert all(path.is_file() for path in path_of(place, ROOT).iterdir()), (
            place
        )  # a folder in it needs a pattern of its own


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
