"""Issue 26, point 3: report and query draw from one truth; records that are not those of the run are refused by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn.errors import RunFolderError
from sojourn.measure.run_report import runs_document
from sojourn.query import query
from sojourn.runs.run_folder import RunFolder
from sojourn.simulate.simulated_folder import write_run

Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    intended = np.cumsum(random.exponential(0.01, 2000))
    done = intended + random.exponential(0.001, 2000)
    what = {"name": "x", "factors": {"rate_per_s": 100.0}, "load": {"lanes": [{}], "duration_s": 20.0}}
    folder = write_run(tmp_path / "run", manifest=what, requests={"intended_s": intended, "done_s": done})
    return folder.path


def change(run: Path, how: Change) -> None:
    how(pl.read_parquet(run / "requests.parquet")).write_parquet(run / "requests.parquet")


def manifest(run: Path, how: Callable[[dict[str, Any]], object]) -> None:
    told = json.loads((run / "manifest.json").read_text())
    how(told)
    (run / "manifest.json").write_text(json.dumps(told))


def without_hashes(run: Path) -> None:
    manifest(run, lambda told: told.pop("files"))


def moved(*names: str, by_s: float = 3.0) -> Change:
    return lambda frame: frame.with_columns(pl.col(name) + by_s for name in names)


READERS: dict[str, Callable[[Path], object]] = {
    "report": lambda run: runs_document([run]),
    "query": lambda run: query("p99(response_time)", run),
}


def test_the_manifest_has_rows_bytes_and_hash_of_each_record_file(run: Path) -> None:
    told = json.loads((run / "manifest.json").read_text())["files"]
    assert set(told) == {"requests.parquet", "metrics.parquet"}
    held = (run / "requests.parquet").read_bytes()
    assert told["requests.parquet"] == {"rows": 2000, "bytes": len(held), "sha256": hashlib.sha256(held).hexdigest()}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("known", [True, False], ids=["hashes", "an older folder"])
def test_times_moved_by_three_seconds_are_refused_by_both(run: Path, reader: str, known: bool) -> None:
    if not known:
        without_hashes(run)
    READERS[reader](run)
    change(run, moved("received_s", "done_s"))
    with pytest.raises(RunFolderError, match=r"requests\.parquet: differs from what the run recorded"):
        READERS[reader](run)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["metrics.parquet", "requests.parquet"])
def test_any_other_change_is_refused_too(run: Path, reader: str, name: str) -> None:
    held = bytearray((run / name).read_bytes())
    held[len(held) // 2] ^= 1
    (run / name).write_bytes(held)
    with pytest.raises(RunFolderError, match=rf"{name}: differs from what the run recorded"):
        READERS[reader](run)


def test_a_file_that_is_written_again_by_the_run_counts(run: Path) -> None:
    folder = RunFolder.open(run)
    metrics = folder.metrics()
    metrics.with_factors(more=1.0).write(run / "metrics.parquet")
    folder.save()
    assert RunFolder.open(run).metrics().factors != metrics.factors


IMPOSSIBLE: dict[str, tuple[Change, str]] = {
    "no number": (lambda f: f.with_columns(intended_s=pl.lit(float("nan"))), "a time that is not a number"),
    "infinite": (lambda f: f.with_columns(done_s=pl.lit(float("inf"))), "a time that is not a number"),
    "null": (lambda f: f.with_columns(done_s=pl.lit(None, pl.Float64)), "a time that is not a number"),
    "negative": (moved("intended_s", "sent_s", "received_s", "done_s", by_s=-30.0), "a negative time"),
    "sent before it was due": (moved("intended_s", by_s=0.1), "a request that was sent before it was due"),
    "answered before it was sent": (moved("sent_s", "intended_s", by_s=5.0), "an answer before its request"),
    "no rows": (lambda f: f.clear(), "no rows, though 2000 requests were sent"),
    "no column": (lambda f: f.drop("done_s"), "no column done_s"),
    "a column of text": (lambda f: f.with_columns(pl.col("done_s").cast(pl.String)), "column done_s is of String, not of numbers"),
    "no failures": (lambda f: f.with_columns(failure=pl.lit(None, pl.UInt8)), "no failure code"),
    "a list": (lambda f: f.with_columns(pl.concat_list("failure").alias("failure")), "column failure is of List"),
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_records_that_no_run_can_have(run: Path, reader: str, kind: str) -> None:
    how, said = IMPOSSIBLE[kind]
    without_hashes(run)
    change(run, how)
    with pytest.raises(RunFolderError, match=rf"requests\.parquet: {said}"):
        READERS[reader](run)


def test_requests_outside_of_a_measured_run(run: Path) -> None:
    without_hashes(run)
    manifest(run, lambda told: told.update(simulated=False, start={"monotonic_s": 0.0}, end={"monotonic_s": 30.0}))
    READERS["report"](run)
    change(run, moved("intended_s", "sent_s", "received_s", "done_s", by_s=20.0))
    with pytest.raises(RunFolderError, match="a time outside of the run"):
        READERS["report"](run)


DEEP: Any = 1
for _ in range(500):
    DEEP = [DEEP]
WRONG: tuple[tuple[str, Any, str], ...] = (
    ("load", "x", "load: 'x'; give a table"),
    ("load", {"lanes": "x"}, "load.lanes: 'x'; give a list"),
    ("load", {"lanes": [{"closed": {"users": "many"}}]}, "closed.users: 'many'"),
    ("load", {"lanes": [], "duration_s": 1e308}, r"load.duration_s: 1e\+308; give a value less than or equal to 1000000000"),
    ("load", {"lanes": [], "duration_s": -5}, "load.duration_s: -5; give a value greater than or equal to 0"),
    ("load", {"lanes": [], "duration_s": float("nan")}, "load.duration_s: nan"),
    ("load", {"lanes": [{"targets": None}]}, "load.lanes.0.targets: None"),
    ("load", {"lanes": [{"arrivals": 5}]}, "load.lanes.0.arrivals: 5"),
    ("generator", {"lanes": 5}, "generator.lanes: 5"),
    ("checks", None, "checks: None"),
    ("factors", {"rate_per_s": "x"}, "factors.rate_per_s: 'x'"),
    ("window_s", [5, 1], r"window_s: \[5, 1\]; give the start and the end"),
    ("window_s", "x", "window_s: 'x'"),
    ("factors", {"rate_per_s": {"a": 1}}, "factors.rate_per_s"),
    ("factors", {"rate_per_s": float("inf")}, "factors.rate_per_s: inf"),
    ("reasons", [1], "reasons.0: 1; give text"),
    ("generator", [1], "generator"),
    ("status", 5, "status: 5"),
    ("warm_up_s", "long", "warm_up_s: 'long'"),
    ("files", {"../../etc/passwd": {"bytes": 1, "sha256": "x"}}, "give a name in the folder"),
    ("files", {"requests.parquet": 5}, "files.requests.parquet: 5; give a table"),
    ("files", {"requests.parquet": {"bytes": 1}}, "files.requests.parquet.sha256: no sha256; give it"),
    ("records", {"requests": 5}, "records.requests: 5"),
    ("deep", DEEP, "nested more than 64 levels deep"),
)  # fmt: skip


@pytest.mark.parametrize(("key", "value", "said"), WRONG, ids=[f"{key}-{k}" for k, (key, _, _) in enumerate(WRONG)])
def test_a_manifest_of_another_shape(run: Path, key: str, value: Any, said: str) -> None:
    manifest(run, lambda told: told.update({key: value}))
    with pytest.raises(RunFolderError, match=rf"manifest\.json.*{said}"):
        RunFolder.open(run)


def test_a_parquet_file_of_more_rows_than_any_record(run: Path) -> None:
    """A column of one value takes no room in the file: by its footer alone it is refused."""
    without_hashes(run)
    columns = {name: pl.repeat(0, 2_000_000, eager=True, dtype=pl.Int8) for name in (f"c{k}" for k in range(501))}
    pl.DataFrame(columns).write_parquet(run / "requests.parquet")
    assert (run / "requests.parquet").stat().st_size < 2e6
    with pytest.raises(RunFolderError, match=r"requests\.parquet: 2000000 rows of 501 columns: at most 1e\+09 cells"):
        RunFolder.open(run).frame("requests")


def ended(text: bytes) -> bytes:
    return text + len(text).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(
    "held", [b"", b"PAR1", b"PAR1" * 10, b"x" * 100 + (2**31).to_bytes(4, "little") + b"PAR1",
             ended(b"\x19" * 100), ended(b"\x5c" * 100), ended(b"\x1c" * 10_000), ended(b"\x19\xfc" + b"\xff" * 9 + b"\x01")],
)  # fmt: skip
def test_what_is_no_parquet_file(run: Path, held: bytes) -> None:
    without_hashes(run)
    (run / "requests.parquet").write_bytes(held)
    with pytest.raises(RunFolderError, match=r"requests\.parquet: "):
        RunFolder.open(run).frame("requests")
