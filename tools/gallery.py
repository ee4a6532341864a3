"""`python tools/gallery.py` runs the blocks of docs/howto/ten-questions.md in an empty folder, and draws what each ends in."""

from __future__ import annotations

import ast
import os
import re
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/howto/ten-questions.md"
SHOWN = re.compile(r"^```python\n(.*?)^```\n\n!\[[^\]]+\]\(([^)]+\.svg)\)$", re.DOTALL | re.MULTILINE)


def shown(text: str) -> list[tuple[str, str]]:
    """Block and picture, in the order of the page."""
    return SHOWN.findall(text)


def main() -> None:
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for block, picture in shown(PAGE.read_text()):
            *first, last = ast.parse(block).body
            assert isinstance(last, ast.Expr), f"{picture}: the block must end in an expression"
            exec(compile(ast.Module(first, []), picture, "exec"), names)
            chart = eval(compile(ast.Expression(last.value), picture, "eval"), names)
            file = PAGE.parent / picture
            file.parent.mkdir(exist_ok=True)
            chart.save(str(file))
            print(file.relative_to(ROOT), file.stat().st_size)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
