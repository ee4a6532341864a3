"""What a command imports before it does anything: our modules are counted, since time depends on who else uses the
machine, and the number of others on their version. CPU time: `benches/start`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SHOP = Path(__file__).parents[2] / "examples/shop.toml"
RUN = """
import os, subprocess, sys
from sojourn.cli import main

def tell(*_, **__):
    print("MODULES", *sys.modules, flush=True)
    os._exit(0)

sys.argv = ["sojourn", *WORDS]
STOP
try:
    main()
finally:
    tell()
"""
FIRST_WORKER = "subprocess.Popen = tell"  # as it is asked for the generator's process
POLARS, NUMPY = (
    "polars.dataframe",
    "numpy.linalg",
)  # before they are used they are there, and empty (cli/late_modules.py)
SLOW = (POLARS, "scipy", "altair", "lark")


@pytest.mark.parametrize(
    ("words", "stop", "most", "without"),
    [
        pytest.param(["--help"], "", 15, (*SLOW, NUMPY, "pydantic"), id="help"),
        pytest.param(
            ["load", "http://127.0.0.1:1/", "--rate", "1", "--for", "1s"],
            FIRST_WORKER, 87, (*SLOW, NUMPY, "sojourn.fit", "sojourn.solve", "sojourn.parallel"), id="load",
        ),
        pytest.param(["solve", str(SHOP)], "", 138, (*SLOW, "sojourn.fit", "sojourn.lab", "sojourn.solve.markov"), id="solve"),
    ],
)  # fmt: skip
def test_a_command_imports_what_it_needs(words: list[str], stop: str, most: int, without: tuple[str, ...]) -> None:
    code = RUN.replace("WORDS", repr(words)).replace("STOP", stop)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    modules = done.stdout.rpartition("MODULES ")[2].split()
    assert "sojourn" in modules, done.stderr
    assert [name for name in without if name in modules] == []
    ours = [name for name in modules if name.partition(".")[0] == "sojourn"]
    assert len(ours) <= most, sorted(ours)
