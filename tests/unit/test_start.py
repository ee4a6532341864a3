"""What a command imports before it does anything: our modules are counted, since time depends on who else uses the
machine, and the number of others on their version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SHOP = Path(__file__).parents[2] / "examples/shop.toml"
TOLD = "print('MODULES', *sys.modules)"
RUN = f"import sys; from sojourn.cli import main; sys.argv = ['sojourn', *WORDS]\ntry: main()\nfinally: {TOLD}"
SOLVE, HELP = (RUN.replace("WORDS", repr(words)) for words in (["solve", str(SHOP)], ["--help"]))
LOAD = f"import sys, sojourn.cli.load, sojourn.load.http_load, sojourn.measure.measure, sojourn.runs.assess_run; {TOLD}"


@pytest.mark.parametrize(
    ("code", "most", "without"),
    [
        pytest.param(SOLVE, 850, ("scipy", "sojourn.fit", "sojourn.simulate", "sojourn.lab"), id="solve"),
        pytest.param(LOAD, 850, ("scipy", "sojourn.fit", "sojourn.solve", "altair"), id="load"),
        pytest.param(HELP, 400, ("numpy", "polars", "pydantic"), id="help"),
    ],
)
def test_a_command_imports_what_it_needs(code: str, most: int, without: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    modules = done.stdout.rpartition("MODULES ")[2].split()
    assert "sojourn" in modules, done.stderr
    assert [name for name in without if name in modules] == []
    assert len([name for name in modules if name.partition(".")[0].startswith("sojourn")]) <= most
