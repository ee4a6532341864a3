"""The script of figures is made once and kept; what others may have written is not read."""

from __future__ import annotations

from pathlib import Path

import pytest
import vl_convert

from sojourn.report.vega_script import vega_script


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """How often it is made, in place of vl-convert, which takes seconds."""
    asked: list[str] = []

    def bundle(snippet: str, vl_version: str) -> str:
        asked.append(vl_version)
        return f"{snippet} // \n second line {len(asked)}"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return asked


def anew() -> str:
    """As another process has it."""
    vega_script.cache_clear()
    try:
        return vega_script()
    finally:
        vega_script.cache_clear()


def kept(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "sojourn").iterdir()
    return file


def test_it_is_made_once_and_read_then(made: list[str], tmp_path: Path) -> None:
    assert anew() == anew() == "window.vegaEmbed = vegaEmbed; // \n second line 1"
    assert len(made) == 1
    assert (kept(tmp_path).stat().st_mode & 0o777, kept(tmp_path).parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_text_that_was_changed_or_cut_off_is_made_anew(made: list[str], tmp_path: Path) -> None:
    anew()
    kept(tmp_path).write_text(kept(tmp_path).read_text()[:-1])
    assert anew().endswith("line 2")
    assert anew().endswith("line 2")


@pytest.mark.parametrize("how", ["open to others", "a link"])
def test_a_place_of_others_is_not_read(made: list[str], tmp_path: Path, how: str) -> None:
    anew()
    if how == "a link":
        (tmp_path / "elsewhere").mkdir()
        kept(tmp_path).rename(tmp_path / "elsewhere" / "script")
        (tmp_path / "sojourn").rmdir()
        (tmp_path / "sojourn").symlink_to(tmp_path / "elsewhere")
    else:
        (tmp_path / "sojourn").chmod(0o777)
    assert anew().endswith("line 2")
    assert anew().endswith("line 3")


def test_without_a_place_it_is_made(made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert anew().endswith("line 1")
