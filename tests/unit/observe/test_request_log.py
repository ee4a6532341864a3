"""Request logs and utilisation series as CSV: what is read, and what is refused by name."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.observe.request_log import is_request_log, read_csv, read_request_log, together
from sojourn.observe.utilisation_series import read_utilisation


def _file(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_times_are_in_the_unit_that_their_columns_say(tmp_path: Path) -> None:
    path = _file(tmp_path, "shop.csv", "start_ms,latency_us,class", "2000,500,b", "1000,250,a")
    log = read_request_log(path)
    assert log.came_s.tolist() == [1.0, 2.0]
    assert log.took_s.tolist() == pytest.approx([250e-6, 500e-6])
    assert [log.classes[i] for i in log.of] == ["a", "b"]


def test_a_log_of_ends_says_when_requests_came(tmp_path: Path) -> None:
    log = read_request_log(_file(tmp_path, "x.csv", "done_s,response_s", "10.5,0.5", "11,2"))
    assert log.came_s.tolist() == [9.0, 10.0]
    log = read_request_log(_file(tmp_path, "y.csv", "arrival_s,done_ms", "1,1250"))
    assert log.took_s.tolist() == pytest.approx([0.25])


def test_a_file_without_a_class_is_one_of_its_own_name_and_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wc-1.csv.gz"
    path.write_bytes(gzip.compress(b"arrival_s,response_s\n1,0.1\n"))
    other = _file(tmp_path, "wc2.csv", "arrival_s,response_s", "0.5,0.2")
    both = together([read_request_log(path), read_request_log(other)])
    assert both.classes == ("wc_1", "wc2")
    assert both.came_s.tolist() == [0.5, 1.0]
    assert both.of.tolist() == [1, 0]


def test_columns_say_what_a_file_is() -> None:
    assert is_request_log(["arrival_s", "response_s"])
    assert is_request_log(["start_ms", "done_ms", "bytes"])
    assert not is_request_log(["end_ms", "utilisation"])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["arrival,response", "1,2"], "arrival_s,response_s"),
        (["arrival_s,response_s"], "no row"),
        (["arrival_s,response_s", "1,-0.5"], "row 2"),
        (["arrival_s,response_s", "1,0.5", "2,"], "row 3"),
        (["arrival_s,response_s", "noon,0.5"], "no number"),
        (["arrival_s,response_s,class", *(f"{i},0.1,/user/{i}" for i in range(40))], "40 classes"),
    ],
)
def test_a_log_that_cannot_be_says_where_and_what_to_do(tmp_path: Path, lines: list[str], said: str) -> None:
    path = _file(tmp_path, "log.csv", *lines)
    with pytest.raises(InputError, match=said) as caught:
        read_request_log(path)
    assert "log.csv" in str(caught.value)


def test_no_csv_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        read_csv(tmp_path / "nowhere.csv", "")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(InputError):
        read_request_log(binary)


def test_a_window_takes_the_part_of_an_interval_that_lies_in_it(tmp_path: Path) -> None:
    path = _file(tmp_path, "cpu.csv", "end_s,utilisation,disk_percent", "10,0.2,10", "20,0.4,20", "30,0.6,")
    series = read_utilisation(path)
    assert series.over(0, 20) == pytest.approx({"cpu": 0.3, "disk": 0.15})
    assert series.over(5, 25) == pytest.approx(
        {"cpu": (5 * 0.2 + 10 * 0.4 + 5 * 0.6) / 20}
    )  # no disk in the last quarter
    assert series.over(20, 40) == {}


def test_times_of_starts_are_moved_to_the_ends(tmp_path: Path) -> None:
    series = read_utilisation(_file(tmp_path, "cpu.csv", "start_s,cpu", "0,0.2", "10,0.4"))
    assert np.array_equal(series.end_s, [10.0, 20.0])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["end_s,cpu", "1,0.5", "2,40"], "row 3"),
        (["end_s,cpu", "1,0.5"], "1 rows"),
        (["end_s", "1", "2"], "columns end_s"),
        (["cpu", "0.5", "0.6"], "end_s"),
        (["end_s,cpu", "1,0.5", "1,0.6"], "same time"),
    ],
)
def test_a_series_that_cannot_be_says_where_and_what_to_do(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read_utilisation(_file(tmp_path, "cpu.csv", *lines))
    assert "cpu.csv" in str(caught.value)


def test_of_three_times_the_two_of_the_finest_units_are_taken(tmp_path: Path) -> None:
    """It came at 1.05 s: the whole second is the coarsest of the three."""
    log = read_request_log(_file(tmp_path, "x.csv", "arrival_s,done_ms,response_ms", "1,1300,250"))
    assert (log.came_s.tolist(), log.took_s.tolist()) == ([pytest.approx(1.05)], [pytest.approx(0.25)])
    log = read_request_log(_file(tmp_path, "y.csv", "arrival_ms,done_ms,response_s", "1050,1300,1"))
    assert (log.came_s.tolist(), log.took_s.tolist()) == ([pytest.approx(1.05)], [pytest.approx(0.25)])


def test_a_name_is_no_pattern(tmp_path: Path) -> None:
    _file(tmp_path, "log1.csv", "arrival_s,response_s", "1,0.1")
    assert read_request_log(_file(tmp_path, "log[1].csv", "arrival_s,response_s", "2,0.2")).came_s.tolist() == [2.0]


def test_what_is_no_plain_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="a pipe"):
        read_csv(tmp_path / "pipe.csv", "")
    with pytest.raises(InputError, match="a folder"):
        read_csv(tmp_path, "")


def test_what_is_packed_is_unpacked_within_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "log.csv").write_bytes(gzip.compress(b"arrival_s,response_s\n" + b"1,0.1\n" * 1000))
    assert read_request_log(path).came_s.size == 1000
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_request_log(path)
    for packed, said in (
        (b"\x28\xb5\x2f\xfd\x00", "not by gzip"),
        (gzip.compress(gzip.compress(b"a")), "packed twice"),
    ):
        path.write_bytes(packed)
        with pytest.raises(InputError, match=said):
            read_request_log(path)
    monkeypatch.setattr("sojourn.observe.request_log.MOST_UNPACKED_BYTES", 5000)
    path.write_bytes(gzip.compress(b"arrival_s,response_s\n" + b"1,0.1\n" * 1000))
    with pytest.raises(InputError, match="MiB unpacked"):
        read_request_log(path)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two columns 'arrival_s'"):
        read_request_log(_file(tmp_path, "x.csv", "Arrival_s, arrival_s,response_s", "1,2,0.1"))


def test_times_of_another_unit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 3, arrival_s"):
        read_request_log(_file(tmp_path, "x.csv", "arrival_s,response_s", "1795708800,0.1", "1795708800000,0.1"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("arrival_s,response_s\n1,0.1\n".encode("utf-16"), "UTF-16; save it as UTF-8"),
        ("arrival_s,response_s,class\n1,0.1,\xe9t\xe9\n".encode("latin-1"), "save it as UTF-8"),
        (b"arrival_s;response_s\n1;0.1\n", "columns separated by ';'; separate them by commas"),
        (b"arrival_s,response_s\n1,0.1\n2,timeout\n", r"row 3: response_s 'timeout' is no number"),
        (b"arrival_s,response_s\n1,0.1\n2,inf\n", r"row 3: response_s 'inf' is no number"),
        (b"arrival_s,response_s\n1,0.1\n2,nan\n", r"row 3: response_s '(nan|NaN)' is no number"),
        (b"arrival_s,response_s\n1,0.1\n2,1e300\n", r"row 3, response_s: 1e\+300 s"),
        (b"arrival_s,arrival_s,response_s\n1,2,3\n", "two columns 'arrival_s'"),
    ],
)
def test_a_log_of_another_encoding_or_with_odd_values_says_what_is_wrong(
    tmp_path: Path, data: bytes, said: str
) -> None:
    """The remedy was that of a log without units, and no row was named."""
    (path := tmp_path / "log.csv").write_bytes(data)
    with pytest.raises(InputError, match=rf"log\.csv.*{said}" if "row" in said else said):
        read_request_log(path)


def test_a_file_that_is_not_there_is_not_told_to_name_its_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_request_log(tmp_path / "nowhere.csv")
    assert "columns" not in str(caught.value)


def test_a_series_without_a_number_says_which_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no number in cpu"):
        read_utilisation(_file(tmp_path, "cpu.csv", "end_s,cpu", "1,", "2,"))
