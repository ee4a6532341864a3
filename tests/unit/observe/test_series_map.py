"""The map file: what it may say, and errors with line, key and remedy."""

from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.observe.series_map import ClassSeries, ResourceSeries, read_map

CLASS = "[classes.a]\nrequests = 'n_count'\nseconds = 'n_sum'\n"


def _file(folder: Path, text: str) -> Path:
    path = folder / "shop.map.toml"
    path.write_text(text)
    return path


def test_units_cores_and_gauges(tmp_path: Path) -> None:
    text = f"{CLASS}unit = 'ms'\n[resources.cpu]\nbusy = 'b'\ncores = 4\n[resources.disk]\ngauge = 'g'\n"
    found = read_map(_file(tmp_path, text))
    assert found.classes == {"a": ClassSeries("n_count", "n_sum", 1e-3)}
    assert found.resources == {"cpu": ResourceSeries("b", "", 4.0), "disk": ResourceSeries("", "g", 1.0)}


def test_a_native_histogram_has_both(tmp_path: Path) -> None:
    found = read_map(_file(tmp_path, "[classes.a]\nhistogram = 'h'\nunit = 'ms'\n"))
    assert found.classes == {"a": ClassSeries(unit_s=1e-3, histogram="h")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CLASS + "histogram = 'h'\n", r"classes\.a: both histogram and requests"),
        ("", "no class"),
        ("[clases.a]\n", "clases"),
        ("[classes.a]\nrequests = 'x'\n", "no seconds"),
        (CLASS + "unit = 'h'\n", r"toml:4: classes\.a\.unit"),
        (CLASS + "rate = 'x'\n", r"toml:4: classes\.a\.rate: unknown key"),
        ("[classes.a]\nrequests = 5\nseconds = 'x'\n", r"toml:2: classes\.a\.requests: 5"),
        ("[classes]\na = 'x'\n", r"classes\.a"),
        (CLASS + "[resources.cpu]\ncores = 2\n", "neither or both"),
        (CLASS + "[resources.cpu]\nbusy = 'x'\ncores = 0\n", r"resources\.cpu\.cores: 0"),
        ("classes = [\n", "toml"),
    ],
)
def test_a_map_that_cannot_be_says_where_and_what_to_do(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_map(_file(tmp_path, text))
