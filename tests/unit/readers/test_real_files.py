"""Files that real tools wrote (tests/data/results): the figures are those that the files print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sojourn.check import check
from sojourn.errors import InputError
from sojourn.readers import NAMES, Observation, read_observations

FOLDER = Path(__file__).resolve().parents[2] / "data/results"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".md")


def read(name: str) -> Observation:
    return read_observations(FOLDER / name)[0]


@pytest.mark.parametrize(
    ("name", "tool", "requests", "rate_per_s", "mean_s", "p99_s", "users"),
    [
        ("wrk.txt", "wrk", 588, 192.69, 41.96e-3, 103.38e-3, 8),
        ("ab.txt", "ab", 2000, 184.82, 43e-3, 118e-3, 8),
        ("hey.txt", "hey", 464, 150.5707, 52.6e-3, 128.3e-3, None),
        ("bombardier.json", "bombardier", 520, 254.28861, 46.68996e-3, 135.867e-3, 8),
        ("vegeta_report.json", "vegeta", 600, 199.87338, 7.774604e-3, 34.440941e-3, None),
        ("fio.json", "fio", 8812, 4397.205589, 226.352986e-6, 4.01408e-3, 1),
    ],
)  # fmt: skip
def test_figures(
    name: str, tool: str, requests: int, rate_per_s: float, mean_s: float, p99_s: float, users: float | None
) -> None:
    found = read(name)
    assert (found.tool, found.completed, found.failed, found.users) == (tool, requests, 0, users)
    assert found.throughput_per_s == pytest.approx(rate_per_s, rel=1e-4)
    assert found.mean_s == pytest.approx(mean_s, rel=1e-4) and found.quantiles[0.99] == pytest.approx(p99_s, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "count", "first_s"),
    [("vegeta.json", 150, 14.970123e-3), ("vegeta.csv", 50, 14.970123e-3), ("hey.csv", 199, 7.8e-3)],
)
def test_requests(name: str, count: int, first_s: float) -> None:
    requests = read(name).requests
    assert requests is not None and requests.start_s.size == count and requests.ok.all()
    assert requests.response_s[0] == pytest.approx(first_s)


def test_a_host() -> None:
    found = read("sadf.json")
    assert found.tool == "sadf" and found.servers == 2 and found.windows is not None
    # the first record: idle 0.00, iowait 0.00; disk vda busy for 1.17 %
    assert found.windows.busy["cpu"][0] == 1.0 and found.windows.busy["disk:vda"][0] == pytest.approx(0.0117)


@pytest.mark.parametrize(
    ("name", "laws"),
    [
        ("wrk_one.txt", ["littles_law"]),
        ("bombardier.json", ["throughput"]),
        ("wrk.txt", []),
        ("ab.txt", []),
        ("hey.txt", []),
        ("fio.json", []),
        ("nginx.log", []),
        ("nginx_small.log", ["coarse_times"]),
    ],
)
def test_what_the_laws_say_of_them(name: str, laws: list[str]) -> None:
    assert [one.law for one in check([FOLDER / name]).findings if one.severity != "note"] == laws


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_cut_off_anywhere_it_is_read_or_refused_with_a_remedy(name: str, share: float, tmp_path: Path) -> None:
    held = (FOLDER / name).read_bytes()
    (path := tmp_path / name).write_bytes(held[: int(share * len(held))])
    try:
        read_observations(path)
    except InputError as error:
        assert error.remedy and str(path) in str(error.place)


@pytest.mark.parametrize("name", FILES)
def test_damaged_bytes_are_read_or_refused(name: str, tmp_path: Path) -> None:
    held = bytearray((FOLDER / name).read_bytes())
    for k in range(0, len(held), 97):
        held[k] = (held[k] * 7 + k) % 256
    (path := tmp_path / name).write_bytes(held)
    try:
        check([path])
    except InputError as error:
        assert error.remedy


@pytest.mark.parametrize("name", FILES)
def test_numbers_that_no_load_has_are_refused(name: str, tmp_path: Path) -> None:
    """The first, the middle and the last number of a file, each with 400 digits."""
    held = (FOLDER / name).read_text()
    numbers = list(re.finditer(r"\d+", held))
    for found in (numbers[0], numbers[len(numbers) // 2], numbers[-1]):
        (path := tmp_path / name).write_text(held[: found.start()] + "9" * 400 + held[found.end() :])
        try:
            check([path])
        except InputError as error:
            assert error.remedy


def test_every_file_says_its_format_by_itself() -> None:
    assert {read(name).tool for name in FILES} == {
        "wrk",
        "ab",
        "hey",
        "bombardier",
        "vegeta",
        "fio",
        "sadf",
        "access-log",
    }
    with pytest.raises(InputError, match="the formats are"):
        read_observations(FOLDER / "wrk.txt", "no-such-format")
    assert "wrk" in NAMES
