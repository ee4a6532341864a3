"""The notebook of the whole loop, executed: a service is started, measured, fitted, predicted and run again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = [pytest.mark.live, pytest.mark.alone]
PAGE = Path(__file__).parents[2] / "docs/tutorial/whole-loop.ipynb"


def test_the_whole_loop(tmp_path: Path) -> None:
    shutil.copy(PAGE, tmp_path)
    notebook = nbformat.read(PAGE, as_version=4)
    for cell in notebook.cells:  # fewer and shorter runs
        cell.source = cell.source.replace('"--for", "2.5s"', '"--for", "1.2s"').replace(
            '"60,110,160,200"', '"60,130,200"'
        )
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    said = "".join(output.get("text", "") for output in outputs)
    assert "the limit is " in said or "cannot tell what the limit is" in said
    assert "demands_s.workers.user" in said and "in their 90 % prediction intervals" in said
    assert [list(output.get("data", ())) for output in notebook.cells[1].outputs] == [["image/svg+xml", "text/plain"]]
    assert sum("image/svg+xml" in output.get("data", {}) for output in outputs) == 5
    fitted, predicted = (tmp_path / name for name in ("fitted.toml", "prediction.json"))
    four = list((tmp_path / "runs/four").glob("*/manifest.json"))
    assert len(four) == 2 and all(json.loads(m.read_text())["factors"]["workers"] == 4 for m in four)
    assert all(m.stat().st_mtime > predicted.stat().st_mtime > fitted.stat().st_mtime for m in four)
    assert "saturates" in (tmp_path / "report.html").read_text()
