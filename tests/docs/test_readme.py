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

# As the README of each record says, written when it was recorded; messages: 130 of 140 and 62 of 70; the 60 configurations: 87 of 100.
# Besides, runs that were not steady count: 2 of 8 values of the ten services lie inside, 6 of 6 of the eleven,
# 9 of 10 and 2 of 2 of messages.
RECORDED = {
    "10 small services": (54 + 2, 61 + 8),
    "11 small services, later fit": (50 + 6, 54 + 6),
    "22 web services": (107, 116),
    "12 web services, earlier fit": (64, 72),
    "middleware, 12 configurations": (54, 58),
    "middleware, 12, disturbed": (51, 60),
    "middleware, 12, earlier": (62, 64),
    "middleware, 60, earlier fits": (87, 100),
    "message service, 6, later fit": (35, 36),
    "three-tier site, two cores": (47, 48),
    "message service, 36": (192 + 2, 210 + 2),
    "web in a guest, two NICs": (18, 18),
    "web in a guest, slower machine": (12, 18),
    "web in a guest, present fit": (14 + 1, 17 + 1),  # one run is not steady
    # response times alone: the saturation rates were measured first; less those of runs that are not valid
    "16 services, auto, earlier fits": (14 + 17 + 14 - 2, 14 + 18 + 16 - 2),
    "16 services, own, earlier fits": (9 + 14 + 14 - 2, 9 + 16 + 16 - 2),
    "9 services, auto, later fit": (17 - 1, 18 - 1),
    "9 services, own, later fit": (13 - 1, 16 - 1),
}
# saturation rates of the last four: inside and answered, auto and own
FIRST = (6 + 6 + 7 + 9 + 3 + 6 + 6 + 6, 7 + 9 + 8 + 9 + 5 + 8 + 8 + 8)


def readme() -> str:
    return (ROOT / "README.md").read_text()


def test_page_figure_and_readme_have_the_counts_of_the_records() -> None:
    stale = [path.name for path, text in accuracy.made().items() if not path.exists() or path.read_text() != text]
    assert stale == [], f"run `{accuracy.COMMAND}`, which writes them from the records"


@pytest.mark.parametrize("source", accuracy.SOURCES, ids=lambda source: source.short)
def test_counts_are_those_that_the_records_tell(source: accuracy.PredictionSet) -> None:
    found = accuracy.counted(source)
    assert (found.inside, found.of) == RECORDED[source.short]


def test_the_range_and_the_total_are_in_readme() -> None:
    inside, of = (sum(each) for each in zip(*RECORDED.values(), strict=True))
    text, shares = " ".join(readme().split()), [100 * part / whole for part, whole in RECORDED.values()]
    assert f"{min(shares):.0f} to {max(shares):.0f} % lie in their 90 % intervals" in text
    assert f"{inside} of {of} values ({100 * inside / of:.1f} %" in text


def test_values_that_were_measured_first_are_in_a_line_of_their_own() -> None:
    page = (ROOT / "docs/explain/accuracy.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("|") and "measured first" in line]
    assert f"{FIRST[0]} of {FIRST[1]} (" in line


def test_a_run_that_was_to_be_steady_and_was_overloaded_counts() -> None:
    """`cores` with two workers at 750/s: 2.3 ms predicted, 1.4 s measured (benches/services/2026-11-22/README.md)."""
    rows = accuracy.counted(accuracy.SOURCES[0]).rows.filter(name="cores, workers 2, 750/s")
    assert rows["fate"].to_list() == ["overloaded"] and rows["inside"].to_list() == [False]


@pytest.mark.parametrize("page", ["README.md", "docs/explain/accuracy.md", "docs/howto/first-answer.md"])
def test_how_often_capacity_held_is_as_recorded(page: str) -> None:
    """The ninth series, whose seeds and code were named before its first search; without the part of the machine as its README says."""
    rows = pl.read_csv(ROOT / "benches/capacity/2026-11-27-ninth/raw.csv").filter(pl.col("answered"))["inside"]
    text = " ".join((ROOT / page).read_text().split())
    assert f"in {rows.sum()} of {rows.len()} " in text and "it is 69 of 80" in text


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
