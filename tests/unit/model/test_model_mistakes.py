"""Every mistake in a model is one ModelError with value, place and remedy: in a file with its line, in an object without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mistakes import BASE, MISTAKES, OPEN, ROUTED, Mistake

import sojourn as sj
from sojourn.errors import ModelError

GOOD: dict[str, Any] = {
    "stations": [sj.Queue("cpu"), sj.Queue("disk")],
    "classes": [sj.Closed("user", population=50, think_s=1.0)],
    "demands_s": {"cpu": {"user": 0.02}, "disk": {"user": 0.03}},
}


def test_the_table_is_long_and_its_bases_are_right() -> None:
    assert len({mistake.what for mistake in MISTAKES}) == len(MISTAKES) >= 45
    assert [len(sj.Model.parse(text).stations) for text in (BASE, OPEN, ROUTED)] == [2, 2, 2]
    assert sj.Model(**GOOD).network.demands_s.tolist() == [[0.02], [0.03]]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.what)
def test_in_a_file(mistake: Mistake, tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_text(mistake.text)
    with pytest.raises(ModelError) as caught:
        sj.Model.read(path)
    error = caught.value
    where = f"{path}:{mistake.line}" if mistake.line else f"{path}"
    assert error.place == (f"{where}: {mistake.place}" if mistake.place else where)
    assert mistake.value in str(error.value) and mistake.remedy in error.remedy, str(error)


@pytest.mark.parametrize("mistake", [m for m in MISTAKES if m.said is not None], ids=lambda m: m.what)
def test_in_an_object(mistake: Mistake) -> None:
    with pytest.raises(ModelError) as caught:
        sj.Model(**{**GOOD, **(mistake.said or {})})
    error = caught.value
    assert mistake.value in str(error.value) and mistake.remedy in error.remedy, str(error)
    assert str(error.place).split(".")[0] == mistake.place.split(".")[0]


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ({"stations": [sj.Queue("cpu"), sj.Queue("cpu"), sj.Queue("disk")]}, "stations.cpu"),
        ({"classes": [sj.Closed("user", 1, 1.0), sj.Open("user", 1.0)]}, "classes.user"),
        ({"stations": ["cpu"]}, "stations"),
        ({"classes": ["user"]}, "classes"),
        ({"regions": ["all"]}, "regions"),
    ],
)
def test_what_only_an_object_can_get_wrong(said: dict[str, Any], place: str) -> None:
    with pytest.raises(ModelError) as caught:
        sj.Model(**{**GOOD, **said})
    assert caught.value.place == place


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"No such file.*model file"):
        sj.Model.read(tmp_path / "nowhere.toml")
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'name = "caf\xe9"')
    with pytest.raises(ModelError, match="UTF-8"):
        sj.Model.read(latin)
    with pytest.raises(ModelError, match=r"shop.toml:2: not TOML"):
        sj.Model.parse('name = "shop"\nservers = = 2\n', "shop.toml")


def test_instability_is_no_mistake() -> None:
    assert sj.Model.parse(OPEN.replace("3.0", "3000.0")).network.rate_per_s.tolist() == [3000.0]


def test_a_station_may_be_called_think_where_nothing_is_routed() -> None:
    m = sj.Model(
        [sj.Queue("cpu"), sj.Delay("think")], [sj.Closed("user", 5)], {"cpu": {"user": 0.02}, "think": {"user": 1.0}}
    )
    assert m.network.visits.tolist() == [[1.0], [1.0]]
