"""What another user of this machine has put where this user's files are to be: nothing of it is believed, followed or touched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from sojourn.errors import RunFolderError, StudyError
from sojourn.lab import cleanup_registry
from sojourn.lab.owned_folder import OWNER
from sojourn.model import Model
from sojourn.runs.run_series import kept
from sojourn.simulate.simulated_run import as_run
from sojourn.study.study_folder import open_study

VICTIM, ATTACKER = 65534, 1
# the interpreter may lie in root's home, so it may read; writing and signals are those of a user without rights
AS_VICTIM = ("setpriv", f"--reuid={VICTIM}", f"--regid={VICTIM}", "--clear-groups",
             "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")  # fmt: skip
SLEEPS = "import time; print(flush=True); time.sleep(60)"
LOCKS = "from sojourn.lab.cleanup_registry import only_one\nwith only_one('a test'): pass"
CLEANS = "from sojourn.lab.cleanup_registry import clean_stale; print(clean_stale())"
REMOVES = "from sojourn.lab.owned_folder import owned_folder\nwith owned_folder('sojourn-test-'): pass"

MODEL = """
[stations.cpu]
servers = 2
[classes.page]
kind = "open"
rate_per_s = 20.0
[demands_s.cpu]
page = 0.01
"""

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be two users"),
    pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv (util-linux)"),
]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder like /tmp: all may write, and only the owner of a file may remove it."""
    path = Path(tempfile.mkdtemp(prefix="shared-", dir="/tmp"))
    path.chmod(0o1777)
    yield path
    shutil.rmtree(path)


def as_victim(shared: Path, code: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    return subprocess.run(
        [*AS_VICTIM, sys.executable, "-c", code],
        env=environment | {"TMPDIR": str(shared)} | more, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def plant(path: Path, text: str | None = None, mode: int = 0o777) -> Path:
    """A folder, or a file, of the attacker's."""
    path.mkdir() if text is None else path.write_text(text)
    path.chmod(mode)
    os.chown(path, ATTACKER, ATTACKER)
    return path


def test_a_registry_that_another_user_made_is_refused(shared: Path) -> None:
    precious = shared / "precious"
    precious.write_text("of the victim")
    precious.chmod(0o600)
    os.chown(precious, VICTIM, VICTIM)
    planted = plant(shared / f"sojourn-{VICTIM}")
    (planted / "lock").symlink_to(precious)
    plant(planted / "lab-0a1b2c.json", json.dumps({"pid": 1, "started": "0", "marks": ["0a1b2c"]}))
    marked = subprocess.Popen([*AS_VICTIM, sys.executable, "-c", SLEEPS], env={**os.environ, "SOJOURN_SERVICE": "0a1b2c"},
                              stdout=subprocess.PIPE)  # fmt: skip
    try:
        assert marked.stdout and marked.stdout.readline()  # it runs
        for code in (LOCKS, CLEANS):
            done = as_victim(shared, code)
            assert done.returncode != 0 and f"LabError: {planted}: it belongs to user {ATTACKER}" in done.stderr
        assert precious.read_text() == "of the victim" and marked.poll() is None
        assert (planted / "lab-0a1b2c.json").exists()
    finally:
        marked.kill()
        marked.wait()


@pytest.mark.parametrize("kind", ["link", "open", "file"])
def test_a_registry_that_is_not_this_user_s_alone_is_refused(shared: Path, kind: str) -> None:
    place, own = shared / f"sojourn-{VICTIM}", shared / "own"
    own.mkdir(0o700)
    os.chown(own, VICTIM, VICTIM)
    if kind == "link":
        place.symlink_to(own)
    elif kind == "file":
        place.touch()
    else:
        own.rename(place)
        place.chmod(0o770)
    done = as_victim(shared, LOCKS)
    wanted = {"link": "it is a link", "open": "open to others (mode 0770)", "file": "it is no folder"}[kind]
    assert done.returncode != 0 and wanted in done.stderr and "TMPDIR" in done.stderr


def test_a_lock_that_is_a_link_is_refused(shared: Path) -> None:
    assert as_victim(shared, LOCKS).returncode == 0, "the folder is made"
    (shared / "precious").write_text("kept")
    (shared / "precious").chmod(0o666)
    lock = shared / f"sojourn-{VICTIM}/lock"
    lock.unlink()
    lock.symlink_to(shared / "precious")
    done = as_victim(shared, LOCKS)
    assert "LabError" in done.stderr and str(lock) in done.stderr
    assert (shared / "precious").read_text() == "kept"


def test_the_runtime_folder_is_taken_where_it_is_this_user_s(shared: Path) -> None:
    says = "from sojourn.lab.cleanup_registry import directory; print(directory())"
    own, other = shared / "own", plant(shared / "other", mode=0o700)
    own.mkdir(0o700)
    os.chown(own, VICTIM, VICTIM)
    told = [as_victim(shared, says, XDG_RUNTIME_DIR=str(place)).stdout.strip() for place in (own, other, "relative")]
    assert told == [str(own / "sojourn"), *[str(shared / f"sojourn-{VICTIM}")] * 2]
    assert list(other.iterdir()) == []


def test_a_folder_that_only_looks_like_a_dead_process_s_is_left_alone(shared: Path) -> None:
    """Nor is anything removed through a link to a folder of the victim's own."""
    dead = json.dumps({"pid": 2**22 + 1, "started": "1"})
    planted = plant(shared / "sojourn-test-planted")
    plant(planted / OWNER, dead)
    plant(planted / "in it", "")
    own = shared / "own"
    own.mkdir(0o700)
    (own / OWNER).write_text(dead)
    for path in (own, own / OWNER):
        os.chown(path, VICTIM, VICTIM)
    (shared / "sojourn-test-link").symlink_to(own)
    done = as_victim(shared, REMOVES)
    assert done.returncode == 0, done.stderr
    assert (planted / "in it").exists() and (own / OWNER).exists() and (shared / "sojourn-test-link").is_symlink()


def test_a_disk_s_folder_of_another_user_is_left_alone(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root's registry still lists it, and its name was to be read while it was there."""
    monkeypatch.setattr(cleanup_registry, "places", lambda: [shared / "book"])
    target = shared / "target"
    target.mkdir()
    (target / "image").write_text("of root")
    link = shared / "sojourn-disk-0a1b2c"
    link.symlink_to(target)
    book = cleanup_registry.directory() / "lab-0a1b2c.json"
    book.write_text(json.dumps({"pid": 1, "started": "0", "disks": [str(link)]}))
    assert cleanup_registry.clean_stale() == []
    assert (target / "image").read_text() == "of root" and not book.exists()


def test_a_process_that_began_before_its_mark_was_written_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup_registry, "places", lambda: [tmp_path / "book"])
    marked = subprocess.Popen([sys.executable, "-c", SLEEPS], env={**os.environ, "SOJOURN_SERVICE": "0a1b2c"},
                              stdout=subprocess.PIPE)  # fmt: skip
    book = cleanup_registry.directory() / "lab-0a1b2c.json"
    try:
        assert marked.stdout and marked.stdout.readline()
        began = int(cleanup_registry.start_time(marked.pid) or 0)
        head = {"pid": 2**22 + 1, "marks": ["0a1b2c"], "boot": cleanup_registry.boot()}
        for late in ({"started": str(began + 1)}, {"started": "1", "boot": "another start of the machine"}):
            book.write_text(json.dumps(head | late))
            assert cleanup_registry.clean_stale() == [] and not book.exists()
        assert marked.poll() is None
        book.write_text(json.dumps(head | {"started": str(began)}))
        assert cleanup_registry.clean_stale() == [
            f"process {marked.pid} ({Path('/proc/self/comm').read_text().strip()})"
        ]
        assert marked.wait(10) == -signal.SIGKILL
    finally:
        marked.kill()
        marked.wait()


def cut_off(run: Path) -> None:
    """Makes of a whole run one that was killed: a log without its last bytes, and a manifest that says running."""
    frame = pl.read_parquet(run / "requests.parquet")
    codes = {pl.Float64: "f8", pl.UInt8: "u1", pl.UInt16: "u2", pl.UInt32: "u4"}
    columns = [(name, codes[kind]) for name, kind in frame.schema.items()]  # type: ignore[index]
    rows = np.zeros(frame.height, dtype=[(name, f"<{code}") for name, code in columns])
    for name, _ in columns:
        rows[name] = frame[name].to_numpy()
    manifest = json.loads((run / "manifest.json").read_text())
    meta = manifest.pop("records", {}).get("requests", {})
    head = {"format": "sojourn-record", "version": 1, "columns": columns, "meta": meta}
    (run / "requests.rec").write_bytes(json.dumps(head).encode() + b"\n" + rows.tobytes()[:-3])
    (run / "requests.parquet").unlink()
    (run / "manifest.json").write_text(json.dumps(manifest | {"status": "running", "pid": 2**22 + 1}))


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in sorted(folder.iterdir())}


def test_verbs_that_read_write_nothing_into_a_run_of_another_user(shared: Path) -> None:
    """Nor into what a link there leads to; and what they write elsewhere is its user's alone."""
    run, precious, out = shared / "run", shared / "precious", shared / "report.html"
    as_run(Model.parse(MODEL), run, until_s=20.0)
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    cut_off(run)
    precious.write_text("kept")
    for path, mode in ((precious, 0o666), (run, 0o777)):
        path.chmod(mode)
    (run / "manifest.tmp").symlink_to(precious)
    before = contents(run)
    for words in (["report", str(run), "--out", str(out)], ["query", "mean(response_time) < 1s", str(run)]):
        done = as_victim(
            shared, f"import os, sys; os.umask(0); sys.argv[1:] = {words}\nfrom sojourn.cli import main; main()"
        )
        assert done.returncode == 0, done.stderr
        assert contents(run) == before and precious.read_text() == "kept"
    assert "the run was cut off" in out.read_text() and "yes" in done.stdout
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def studied(out: Path) -> object:
    plan = SimpleNamespace(study=SimpleNamespace(name="test"), fingerprint="0")
    with open_study(out, plan, lambda line: None) as folder:
        return folder


def measured(out: Path) -> object:
    return kept(out, {"run": {"lanes": []}}, {})


@pytest.mark.parametrize("open_folder", [studied, measured])
def test_a_folder_of_another_user_is_not_gone_on_with(shared: Path, open_folder: Callable[[Path], object]) -> None:
    with pytest.raises((StudyError, RunFolderError), match=f"belongs to user {ATTACKER}.*another --out"):
        open_folder(plant(shared / "out"))
    assert list((shared / "out").iterdir()) == []
