"""Two things measured in turn: order, bounds, commands, and the verb."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sojourn.cli.app import command_line
from sojourn.compare import InterleavedLimits, RunValues, compare_commands
from sojourn.compare.compare_commands import run_command
from sojourn.compare.interleaved import interleaved, orders
from sojourn.errors import InputError, ServiceError
from sojourn.lab.capped_log import MOST_BYTES, last_lines
from sojourn.lab.process_tree import alive, wait_until

SOJOURN = [sys.executable, "-m", "sojourn"]


def test_half_of_the_blocks_begin_with_a_in_an_order_at_random() -> None:
    found = [first for first, _ in orders(40, 1)]
    assert found.count("a") == 20 and found != ["a", "b"] * 20
    assert orders(40, 1) == orders(40, 1) != orders(40, 2)
    assert all(set(pair) == {"a", "b"} for pair in orders(7, 3))


def test_no_block_is_begun_that_would_not_end_in_time() -> None:
    now = 0.0

    def run(side: str, block: int) -> RunValues:
        nonlocal now
        now += 2.0
        return RunValues(f"{side} {block}", {"mean": 0.01})

    a, b, stopped = interleaved(run, InterleavedLimits(10, within_s=13.0), clock=lambda: now)
    assert len(a) == len(b) == 3 and now == 12.0 and "3 of 10 blocks" in stopped
    now = 0.0
    assert interleaved(run, InterleavedLimits(3, within_s=13.0), clock=lambda: now)[2] == ""


@pytest.mark.parametrize("wrong", [{"blocks": 1}, {"within_s": 0.0}])
def test_limits_that_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        InterleavedLimits(**wrong)  # type: ignore[arg-type]


def test_cpu_time_of_a_command_and_of_what_it_waited_for() -> None:
    """A loop of 50 ms by its own clock, in a child of a shell."""
    loop = f"{sys.executable} -S -c 'import time\nwhile time.process_time() < 0.15: pass'"
    found = run_command(["sh", "-c", f"{loop}; true"])
    assert 0.15 <= found["cpu"] < 0.6 and found["time"] > 0.1


def test_a_command_that_fails_is_named_with_what_it_said(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="no such table"):
        run_command(["sh", "-c", "echo no such table >&2; exit 3"])
    with pytest.raises(InputError, match="no-such-program"):
        run_command(["no-such-program"])
    with pytest.raises(InputError, match="quotation"):
        compare_commands("echo 'a", "true")


@pytest.mark.parametrize("begin", ["", "setsid "])
def test_a_command_that_does_not_end_is_ended_with_its_children(tmp_path: Path, begin: str) -> None:
    told = tmp_path / "pid"
    with pytest.raises(ServiceError, match="not done within 300 ms"):
        run_command(["sh", "-c", f"{begin}sleep 60 & echo $! > {told}; wait"], timeout_s=0.3)
    assert wait_until(lambda: not alive(int(told.read_text())), 5.0)


def test_what_a_command_leaves_in_another_process_group_is_ended(tmp_path: Path) -> None:
    """`set -m`: each background job of a shell has a process group of its own (POSIX, set)."""
    told = tmp_path / "pid"
    run_command(["sh", "-c", f"set -m; sleep 60 & echo $! > {told}"])
    assert wait_until(lambda: not alive(int(told.read_text())), 5.0)


def test_standard_error_without_end_is_kept_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def lines(path: Path) -> str:
        sizes.append(path.stat().st_size)
        return last_lines(path)

    monkeypatch.setattr(sys.modules["sojourn.compare.compare_commands"], "last_lines", lines)
    with pytest.raises(ServiceError, match="the end"):
        run_command(["sh", "-c", "head -c 5000000 /dev/zero >&2; echo the end >&2; exit 3"])
    assert MOST_BYTES <= sizes[0] < MOST_BYTES + 100


@pytest.mark.parametrize(("b", "code", "verdict"), [("sleep 0.8", 7, "worse"), ("sleep 0.01", 0, "better")])
def test_the_verb_on_commands(b: str, code: int, verdict: str) -> None:
    words = [*SOJOURN, "compare", "--commands", "sleep 0.2", b, "--blocks", "5", "--warm-up-runs", "0", "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == verdict and found["run_order"] == "5 pairs of runs, one per block"
    assert done.stderr.count("block ") == 5


def test_markdown_and_junit_of_the_verb(tmp_path: Path) -> None:
    words = [*SOJOURN, "compare", "--commands", "sleep 0.02", "sleep 0.5", "--blocks", "5", "--warm-up-runs", "0"]
    done = subprocess.run(
        [*words, "--markdown", "c.md", "--junit", "c.xml", "--html", "c.html"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 7, done.stderr
    text = (tmp_path / "c.md").read_text()
    assert "**B is worse: time +" in text and "| metric | A | B | B against A | verdict |" in text
    suite = ElementTree.fromstring((tmp_path / "c.xml").read_text())
    assert suite.attrib["failures"] == "1" and suite[0].attrib["name"] == "time of B not worse than of A, margin 5 %"
    assert "Change from A to B" in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--commands true true --rate 50", "--rate; only --service-urls has this"),
        ("--commands true true --for 6s", "--for; only --service-urls has this"),
        ("--commands true true --connections 64", "--connections; only --service-urls has this"),
        ("--service-urls http://127.0.0.1:1/ http://127.0.0.1:2/ --rate 5 --warm-up-runs 1", "--warm-up-runs; only --commands has this"),
        *((f"one two {option}", f"{option.split()[0]}; only --service-urls and --commands have this")
          for option in ("--blocks 10", "--within 3m", "--seed 1", "--timeout 1s")),
        ("one two --warm-up-runs 1", "--warm-up-runs; only --commands has this"),
        ("--commands true true --markdown a --junit ./a", "give two files"),
        ("--commands true true --markdown a --html ./a", "give two files"),
    ],
)  # fmt: skip
def test_an_option_that_means_nothing_here_is_refused_though_it_says_the_default(words: str, said: str) -> None:
    given = ["compare", *words.split()]
    with pytest.raises(InputError) as refused:
        command_line(given)(given, standalone_mode=False)
    assert said in f"{refused.value.value}; {refused.value.remedy}"


def test_the_verb_without_two_things() -> None:
    done = subprocess.run([*SOJOURN, "compare", "one", "--commands", "true", "true"], capture_output=True, text=True)
    assert done.returncode == 2 and "give two folders, or --commands 'A' 'B', or --service-urls A B" in done.stderr
