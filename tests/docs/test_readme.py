"""README and what it says of accuracy: short, commands that exist, counts that are those of the records."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import accuracy  # noqa: E402

# As the README of each record says, written when it was recorded; messages: 130 of 140 and 62 of 70; the 60 configurations: 87 of 100
RECORDED = {
    "10 small services": (54, 61),
    "11 small services, later fit": (50, 54),
    "22 web services": (107, 116),
    "12 web services, earlier fit": (64, 72),
    "middleware, 12 configurations": (54, 58),
    "middleware, 12, disturbed": (51, 60),
    "middleware, 12, earlier": (62, 64),
    "middleware, 60, earlier fits": (87, 100),
    "message service, 6, later fit": (26, 26),
    "three-tier site, two cores": (47, 48),
    "message service, 36": (192, 210),
    "web in a guest, two NICs": (18, 18),
    "16 services, auto, earlier fits": (20 + 23 + 21 - 2, 21 + 27 + 24 - 2),  # less two of runs that are not valid
    "16 services, own, earlier fits": (12 + 20 + 20 - 2, 14 + 24 + 24 - 2),
    "9 services, auto, present fit": (26 - 1, 27 - 1),
    "9 services, own, present fit": (19 - 1, 24 - 1),
}


def readme() -> str:
    return (ROOT / "README.md").read_text()


def test_page_figure_and_readme_have_the_counts_of_the_records() -> None:
    stale = [path.name for path, text in accuracy.made().items() if not path.exists() or path.read_text() != text]
    assert stale == [], f"run `{accuracy.COMMAND}`, which writes them from the records"


@pytest.mark.parametrize("source", accuracy.SOURCES, ids=lambda source: source.short)
def test_counts_are_those_that_the_records_tell(source: accuracy.PredictionSet) -> None:
    found = accuracy.counted(source)
    assert (found.inside, found.of) == RECORDED[source.short]


def test_the_total_is_in_readme() -> None:
    inside, of = (sum(each) for each in zip(*RECORDED.values(), strict=True))
    assert f"Of {of} values" in readme() and f"{inside} ({100 * inside / of:.1f} %)" in readme()


@pytest.mark.parametrize("page", ["README.md", "docs/explain/accuracy.md", "docs/howto/first-answer.md"])
def test_how_often_capacity_held_is_as_recorded(page: str) -> None:
    """The series of the present rule, which was final before its first search."""
    rows = pl.read_csv(ROOT / "benches/capacity/2026-11-27-eighth/raw.csv").filter(pl.col("answered"))["inside"]
    assert f"in {rows.sum()} of {rows.len()} " in " ".join((ROOT / page).read_text().split())


def test_readme_is_short() -> None:
    assert len(readme().splitlines()) <= 110


def test_the_version_to_cite_is_that_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"sojourn-{version}-" in (ROOT / "docs/howto/install.md").read_text()


def test_its_commands_and_options_exist() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text()
    verbs = {*re.findall(r"`sojourn ([a-z]+)", readme()), *re.findall(r"^    (?:\$ )?sojourn ([a-z]+)", readme(), re.M)}
    assert len(verbs) >= 8
    assert [verb for verb in verbs if not re.search(rf"^## `sojourn {verb}[ `]", page, re.M)] == []
    options = set(re.findall(r"sojourn [^`\n]*?(--[a-z-]+)", readme())) - {"--help"}
    assert options and [option for option in options if f"`{option}`" not in page] == []
