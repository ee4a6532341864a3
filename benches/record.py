"""Runs benches and records them: FOLDER/NAME/DATE gets machine.json, raw.csv and summary.md.

A bench is a file NAME.py beside the script that calls `record`, with `measure() -> rows` and `summary(rows) -> text`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from sojourn.lab.cleanup_registry import only_one

Peers = dict[str, Callable[[], str | None]]


def record(here: Path, names: tuple[str, ...], peers: Peers, usual: int | None = None) -> None:
    """Runs the benches named on the command line; without a word the first `usual` of `names`, all where None.

    `peers`: a program → what says its version, for machine.json.
    """
    with only_one("bench"):
        for name in sys.argv[1:] or names[:usual]:
            if name not in names:
                sys.exit(f"benches: {name}: no such bench; use {' or '.join(names)}")
            _one(here, name, peers)


def _one(here: Path, name: str, peers: Peers) -> None:
    bench = import_module(name)
    rows = bench.measure()
    folder = new_folder(here, name, peers)
    with open(folder / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    text = bench.summary(rows)
    (folder / "summary.md").write_text(text)
    print(text)


def services_parser(names: Iterable[str], seconds: float) -> argparse.ArgumentParser:
    """The command line of a bench that takes services one after another. On SIGTERM it ends as on an interrupt: its service, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="; ".join(names))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=seconds, help="for all together")
    parser.add_argument("--summary", type=Path, help="a folder with raw.csv: only the table")
    return parser


def new_folder(here: Path, bench: str, peers: Peers, suffix: str = "") -> Path:
    """HERE/BENCH/DATE with what the machine is."""
    folder = here / bench / (time.strftime("%Y-%m-%d") + suffix)
    describe(folder, peers)
    return folder


def describe(folder: Path, peers: Peers) -> None:
    """The folder, with what the machine is in machine.json."""
    folder.mkdir(parents=True, exist_ok=True)
    versions = {peer: version() for peer, version in peers.items()}
    machine = {"kernel": platform.release(), "cores": os.cpu_count(), **versions}
    (folder / "machine.json").write_text(json.dumps(machine, indent=1) + "\n")


@contextmanager
def version_of(folder: str | None) -> Iterator[None]:
    """Processes that begin meanwhile have the packages in FOLDER/python and FOLDER/cases; None: these here.

    `git archive COMMIT python cases | tar x -C FOLDER`, and the native modules of that commit beside them.
    """
    path = os.environ.get("PYTHONPATH")
    if folder:
        os.environ["PYTHONPATH"] = f"{folder}/python:{folder}/cases"
    try:
        yield
    finally:
        if folder:
            os.environ.pop("PYTHONPATH")
        if folder and path is not None:
            os.environ["PYTHONPATH"] = path


@contextmanager
def running(command: Sequence[str | Path], is_ready: Callable[[], bool]) -> Iterator[int]:
    """A program for the time of the block, from when it is ready: its process; an error after 10 s without that."""
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + 10
        while not is_ready():
            assert process.poll() is None and time.monotonic() < deadline, f"{command[0]}: not ready"
            time.sleep(0.01)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def listens(port: int) -> bool:
    """Whether somebody accepts connections on this port of 127.0.0.1."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def compiled(source: Path, folder: str | Path, *options: str) -> Path:
    """The program of a C file, in `folder`."""
    program = Path(folder, source.stem)
    subprocess.run(["cc", "-O2", "-o", program, source, *options], check=True)
    return program


def cpu_s(pid: int) -> float:
    """CPU time of all threads that a process has now."""
    return (
        sum(int(Path(task, "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1e9
    )
