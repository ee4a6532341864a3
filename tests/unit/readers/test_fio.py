"""How many requests of fio are in flight: those of one process, or of all of a group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sojourn.errors import InputError
from sojourn.readers import read_observations

FILE = Path(__file__).resolve().parents[2] / "data/results/fio.json"


@pytest.mark.parametrize(
    ("options", "users"),
    [
        ({"numjobs": "4"}, 8),  # each of the four has an entry of its own
        ({"numjobs": "4", "group_reporting": ""}, 32),
        ({"numjobs": "4", "group_reporting": "0"}, 8),
        ({}, 8),
    ],
)
def test_jobs_count_where_an_entry_is_of_all_of_them(options: dict[str, str], users: float, tmp_path: Path) -> None:
    data = json.loads(FILE.read_text())
    data["jobs"][0]["job options"] |= {"ioengine": "libaio", "iodepth": "8", **options}
    (path := tmp_path / "fio.json").write_text(json.dumps(data))
    assert read_observations(path)[0].users == users


def test_a_warning_in_front_of_the_results_may_have_brackets(tmp_path: Path) -> None:
    (path := tmp_path / "fio.json").write_text("fio: [warning] {of something}\n" + FILE.read_text())
    assert read_observations(path)[0].completed == 8812


def test_the_line_of_an_error_is_that_of_the_file(tmp_path: Path) -> None:
    (path := tmp_path / "fio.json").write_text('fio: a warning\n{"fio version": "3",\n"jobs": [}\n')
    with pytest.raises(InputError, match=r"fio\.json:3"):
        read_observations(path)
