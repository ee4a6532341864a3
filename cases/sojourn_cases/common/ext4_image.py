"""A file system for a disk of a guest, made of a folder without being mounted."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from sojourn.errors import LabError

MAKER, MAKER_PACKAGE, LIMIT_S = "mkfs.ext4", "e2fsprogs", 120
SEARCHED = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
# all tables are written now, and none during a run; no journal, whose thread would write beside the load
OPTIONS = ("-q", "-F", "-O", "^has_journal", "-m", "0", "-E", "nodiscard,lazy_itable_init=0")


def ext4_image(content: Path, image: Path, size_bytes: int, remedy: str) -> None:
    """An image of so many bytes with an ext4 file system that has a copy of `content`.

    Raises:
        LabError: e2fsprogs is not installed, or there is no room; `remedy` says what then helps.
    """
    maker = shutil.which(MAKER, path=SEARCHED)
    if maker is None:
        raise LabError(f"{MAKER} is not installed", "a disk of a guest", f"run: apt-get install {MAKER_PACKAGE}")
    done = subprocess.run(
        [maker, *OPTIONS, "-d", str(content), str(image), f"{size_bytes >> 10}k"], capture_output=True, text=True, check=False,
        timeout=LIMIT_S, env={**os.environ, "LC_ALL": "C"}, start_new_session=True,
    )  # fmt: skip
    if done.returncode:
        raise LabError(done.stderr.strip() or f"it ended with {done.returncode}", MAKER, remedy)
