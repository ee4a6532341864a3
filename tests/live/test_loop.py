"""The whole loop, live: measure, fit, predict, write the prediction down, run it, compare, report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from machine import Command, tiny_study

from sojourn.lab.cpu_topology import cores

pytestmark = [pytest.mark.live, pytest.mark.alone]


def run_study(folder: Path, *, plain: bool, spinners: bool) -> tuple[Path, list[str]]:
    """Runs the tiny study to its end; its folder and the lines of its verdict."""
    command = Command(folder, "study", tiny_study(folder, spinners=spinners), "--out", "out", plain=plain)
    assert command.end(150) == 0, command.said()
    assert command.left() == []
    out = folder / "out"
    verdict = (out / "verdict.txt").read_text().splitlines()
    shown = [line for line in command.answered().splitlines() if line]
    assert verdict[0] == shown[0], "the answer comes first"
    predicted = json.loads((out / "predictions.json").read_text())["configurations"]
    assert len(shown) <= (6 if predicted else 25), "of a study that predicts the report has the rest"
    whole = f"; the whole verdict: {Path('out/verdict.txt')}" if predicted else ""  # without, all of it was shown
    assert shown[-1] == f"report: {Path('out/report.html')}{whole}"
    assert json.loads((out / "study.json").read_text())["finished"] is True
    return out, verdict


def started(run: Path) -> float:
    return float(json.loads((run / "manifest.json").read_text())["start"]["monotonic_s"])


@pytest.mark.lab
def test_in_the_lab_the_prediction_is_written_before_it_is_run(tmp_path: Path) -> None:
    out, verdict = run_study(tmp_path, plain=False, spinners=True)
    prediction = out / "predictions.json"
    predicted, measured = list((out / "runs").glob("spread-*")), list((out / "runs").glob("on_core_0-*"))
    spread = [path for path in (out / "runs").glob("saturation-*") if "nics=1" not in path.name]
    assert len(predicted) >= 1 and len(measured) >= 3 and len(spread) == (len(cores()) > 1)
    for run in [*predicted, *spread]:
        assert (run / "latency.hlog").stat().st_mtime > prediction.stat().st_mtime
        manifest = json.loads((run / "manifest.json").read_text())
        assert manifest["status"] == "complete"
        assert len(manifest["placement"]["interrupts"]) == manifest["factors"]["nics"]
    assert max(map(started, measured)) < min(map(started, predicted))
    text = "\n".join(verdict)
    for part in ("the prediction, written before it was run", "on core 0: known: interrupt", "fitted, intervals at 90 %",
                 "bottleneck (on core 0)", "bottleneck (spread)", "relative errors", "Num. of Cores", "Response Time",
                 "Training  Held out  Blind"):  # fmt: skip
        assert part in text, text
    assert 8 <= len([line for line in verdict if line.strip()]) <= 25, text
    page = (out / "report.html").read_text()
    assert "Blind prediction against measurement: spread" in page and "<svg" in page


def test_on_loopback_the_study_says_what_could_not_be_shown(open_folder: Path) -> None:
    out, verdict = run_study(open_folder, plain=True, spinners=False)
    text = "\n".join(verdict)
    assert "spread: it needs" in text and "loopback" in text, text
    assert json.loads((out / "predictions.json").read_text())["configurations"] == []
    assert not list((out / "runs").glob("spread-*"))
    assert "run as root" in text or "run as root" in (out / "report.html").read_text()
