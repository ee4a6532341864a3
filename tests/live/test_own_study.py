"""docs/howto/study-your-own-service.md, word for word, interrupted on the way; and a study whose service fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from machine import Command

pytestmark = pytest.mark.live
PAGE = Path(__file__).resolve().parents[2] / "docs/howto/study-your-own-service.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The three files of the page, with shorter runs."""
    blocks = [text for _, text in BLOCK.findall(PAGE.read_text())]
    for name, text in zip(("shop.py", "shop.toml", "study.toml"), blocks, strict=True):
        (tmp_path / name).write_text(text.replace('for = "5s"', 'for = "2s"'))
    return tmp_path


@pytest.mark.alone
def test_the_page_word_for_word_and_interrupted_it_goes_on_where_it_was(example: Path) -> None:
    line = next(
        line.strip()
        for line in PAGE.read_text().splitlines()
        if line.startswith("    sojourn study ") and "--check-only" not in line
    )
    first = Command(example, *line.split()[1:])
    first.wait_for(lambda: len(list(example.glob("runs/shop-*/runs/ramp-*/metrics.parquet"))) == 1)
    first.wait_for(lambda: len(list(example.glob("runs/shop-*/runs/ramp-*/requests.rec"))) == 1)
    assert first.interrupt() == 130 and first.left() == []
    out = next(example.glob("runs/shop-*"))
    command = Command(example, *line.split()[1:], "--out", out.relative_to(example))
    assert command.end(180) == 0, command.said()
    assert command.left() == [] and "1 of 3 runs already exist" in command.said()
    assert "the 90 % intervals that were written before they were run" in command.answered()
    verdict = (out / "verdict.txt").read_text()
    assert "demands_s.workers.user 0.0" in verdict and "twice the workers, workers 4, 120 /s" in verdict
    for name in (
        "fitted.toml",
        "predictions.json",
        "predictions.sha256",
        "validation.csv",
        "verdict.txt",
        "report.html",
    ):
        assert (out / name).exists(), name
    assert len(list(out.glob("runs/*/service.log"))) == 5


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("--workers", "--wokers", 5, "ended with 2 before it was ready; its last lines"),
        ('"python3", "shop.py"', '"python4", "shop.py"', 2, "no program 'python4' on the PATH"),
        ("{workers}", "2", 2, "factor workers has no placeholder"),
        ("{workers}", "{threads}", 2, "placeholder {threads} has no factor"),
        ("workers = 4", "threads = 4", 2, "factor 'threads'; use one of workers"),
    ],
)
def test_one_clear_error(example: Path, old: str, new: str, code: int, said: str) -> None:
    file = example / "study.toml"
    file.write_text(file.read_text().replace(old, new, 1))
    command = Command(example, "study", "study.toml", "--quick", "--out", "out")
    assert command.end(60) == code, command.said()
    assert said in command.said() and "Traceback" not in command.said() and command.left() == []
