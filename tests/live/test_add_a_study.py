"""docs/howto/add-a-study.md, word for word, and a system of that kind that fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from machine import Command

pytestmark = pytest.mark.live
PAGE = Path(__file__).resolve().parents[2] / "docs/howto/add-a-study.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
FILES = ("hashes.py", "hashes.toml", "study.toml")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The three files of the page, under 100 lines together, with shorter runs."""
    blocks = [text for language, text in BLOCK.findall(PAGE.read_text()) if language != "text"][: len(FILES)]
    for name, text in zip(FILES, blocks, strict=True):
        (tmp_path / name).write_text(text.replace('for = "3s"', 'for = "1s"'))
    assert sum(text.count("\n") for text in blocks) < 100
    return tmp_path


@pytest.mark.alone
def test_the_page_word_for_word(example: Path) -> None:
    line = next(line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    sojourn study "))
    command = Command(example, *line.split()[1:])
    assert command.end(120) == 0, command.said()
    assert command.left() == []
    assert "the 90 % intervals that were written before they were run" in command.answered()
    out = next(example.glob("runs/hashes-*"))
    verdict = (out / "verdict.txt").read_text()
    assert "a thousand iterations take 0." in verdict and "saturation rate predicted" in verdict
    assert (out / "report.html").exists() and len(list(out.glob("runs/*/metrics.parquet"))) == 7


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("yield lambda: ", "yield lambda: 1 / 0 or ", 5, "requests after the warm-up failed ("),
        (
            "        yield lambda",
            "        raise OSError('in use')\n        yield lambda",
            5,
            "hashes.py:Hashes start: OSError: in use",
        ),
        ("yield lambda: hashlib", "yield 5 or hashlib", 5, "it yields 5; it must yield a function"),
        ("hashes.py:Hashes", "hashes.py:Hash", 2, "no Hash in the file"),
        ("hashes.py:cost", "costs", 2, "analysis.name = 'costs'"),
        ("import hashlib", "import hashlip", 2, "ModuleNotFoundError: No module named 'hashlip'"),
        ("iterations = 40000", "iterations = 0", 2, "iterations = 0; give a value in [1.0"),
    ],
)
def test_one_clear_error(example: Path, old: str, new: str, code: int, said: str) -> None:
    for name in FILES:
        file = example / name
        file.write_text(file.read_text().replace(old, new, 1))
    command = Command(example, "study", "study.toml", "--quick", "--out", "out")
    assert command.end(60) == code, command.said()
    assert said in command.said() and "Traceback" not in command.said() and command.left() == []
