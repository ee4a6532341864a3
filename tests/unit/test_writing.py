"""Files that are there whole or not at all; links, devices and pipes where a file was to be."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sojourn.cli.console import check_writable
from sojourn.errors import InputError
from sojourn.files.writing import PRIVATE, followed, whole_file, write_output, write_whole


@pytest.fixture
def usual_umask() -> None:
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_that_is_half_written_is_not_seen(tmp_path: Path) -> None:
    write_whole(tmp_path / "x", "before")
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "x") as file:
        file.write(b"half")
        file.flush()
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["x"] and (tmp_path / "x").read_text() == "before"
    with whole_file(tmp_path / "x") as file:
        file.write(b"after")
        assert (tmp_path / "x").read_text() == "before"
    assert (tmp_path / "x").read_text() == "after" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.usefixtures("usual_umask")
def test_modes_are_the_umask_s_or_the_file_s_own(tmp_path: Path) -> None:
    write_output(tmp_path / "usual", "x")
    write_output(tmp_path / "private", "x", PRIVATE)
    assert (mode(tmp_path / "usual"), mode(tmp_path / "private")) == (0o640, 0o600)
    (tmp_path / "private").chmod(0o644)  # its user shows it to others
    write_output(tmp_path / "private", "y", PRIVATE)
    assert mode(tmp_path / "private") == 0o644 and (tmp_path / "private").read_text() == "y"


def test_a_second_name_of_a_file_keeps_what_it_had(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "out").hardlink_to(tmp_path / "precious")
    write_output(tmp_path / "out", "new")
    assert (tmp_path / "precious").read_text() == "kept" and (tmp_path / "out").read_text() == "new"


def test_a_link_is_replaced_in_a_folder_of_ours_and_followed_where_a_user_gave_it(tmp_path: Path) -> None:
    target = tmp_path / "below/target"
    target.parent.mkdir()
    target.write_text("before")
    for name in ("whole", "output"):
        (tmp_path / name).symlink_to("below/target")
    write_whole(tmp_path / "whole", "x")
    assert target.read_text() == "before" and not (tmp_path / "whole").is_symlink()
    write_output(tmp_path / "output", "x")
    assert target.read_text() == "x" and (tmp_path / "output").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a link of another user's")
def test_a_link_that_another_user_made_in_a_shared_folder_is_not_followed(tmp_path: Path) -> None:
    shared, precious = tmp_path / "shared", tmp_path / "precious"
    shared.mkdir()
    precious.write_text("kept")
    link = shared / "report.html"
    link.symlink_to(precious)
    os.chown(link, 1, 1, follow_symlinks=False)
    assert followed(link) == precious, "nobody else can have made it: the folder is not open"
    shared.chmod(0o1777)
    with pytest.raises(PermissionError, match="link created by user 1"):
        write_output(link, "x")
    with pytest.raises(InputError, match="link created by user 1"):
        check_writable(link)
    os.chown(link, 0, 0, follow_symlinks=False)
    assert followed(link) == precious, "our own"
    assert precious.read_text() == "kept"


def test_links_that_lead_to_each_other(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links") as found:
        write_output(tmp_path / "a", "x")
    assert found.value.errno == errno.ELOOP


def test_a_pipe_a_device_and_standard_output_are_written_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    check_writable(tmp_path / "pipe")
    write_output(tmp_path / "pipe", "through")
    reader.join(10)
    assert read == ["through"] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    write_output("/dev/null", "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    says = "from sojourn.files.writing import write_output; write_output('/dev/stdout', 'said'); write_output('/dev/fd/1', '!')"
    done = subprocess.run([sys.executable, "-c", says], capture_output=True, text=True)
    assert done.stdout == "said!", done.stderr


@pytest.mark.parametrize("write", [write_whole, write_output])
def test_errors_name_the_file(tmp_path: Path, write: object) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for path, wanted in (("none/x", errno.ENOENT), ("folder", errno.EISDIR), ("file/x", errno.ENOTDIR)):
        with pytest.raises(OSError) as found:
            write(tmp_path / path, "x")  # type: ignore[operator]
        assert (found.value.errno, found.value.filename) == (wanted, str(tmp_path / path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_name_as_long_as_can_be(tmp_path: Path) -> None:
    write_output(tmp_path / ("x" * 255), "x")
    assert (tmp_path / ("x" * 255)).read_text() == "x"
