"""What a notebook shows of each result, and the pictures of docs/howto/ten-questions.md."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import sojourn as sj
from sojourn.errors import InputError
from sojourn.measure.measured_runs import MeasuredRuns
from sojourn.notebook import ShownInNotebook
from sojourn.report import Document, Figure, Section, Series, Table
from sojourn.report.notebook_html import notebook_html
from sojourn.simulate.simulated_run import as_run

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import gallery  # noqa: E402

HOSTILE = "<script>alert(1)</script>"


def service(rate_per_s: float, workers: int = 2) -> sj.Model:
    pool = sj.Queue("workers", servers=workers)
    return sj.Model([pool], [sj.Open("request", rate_per_s=rate_per_s)], service_s={"workers": {"request": 0.008}})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for rate in (40, 80, 120):
        as_run(service(rate), folder / f"rate-{rate}", seed=rate, until_s=20)
    return folder


def results(runs: Path) -> dict[str, Any]:
    unknown = sj.Model(
        [sj.Queue("workers", servers=2)], [sj.Open("request", rate_per_s=10)],
        service_s={"workers": {"request": sj.Exponential(sj.Unknown())}}, factors={"rate_per_s": "classes.request.rate_per_s"},
    )  # fmt: skip
    return {
        "run": sj.RunFolder.open(runs / "rate-40"),
        "runs": MeasuredRuns([sj.RunFolder.open(runs / "rate-40"), sj.RunFolder.open(runs / "rate-80")]),
        "fit": sj.fit([runs], unknown),
        "capacity": sj.capacity_of_runs([runs], "mean < 20ms"),
        "plan": sj.plan(
            service(500), {"stations.workers.servers": range(4, 8)}, "p99 < 50ms", "stations.workers.servers"
        ),
    }


def test_each_result_shows_its_verdict_a_figure_and_a_table(runs: Path) -> None:
    for name, found in results(runs).items():
        assert isinstance(found, ShownInNotebook), name
        html = found._repr_html_()
        assert html is not None and "<script" not in html, name
        (image,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
        assert base64.b64decode(image).startswith(b"<svg"), name
        assert html.count("<table>") == 1, name
        assert type(found.plot()).__name__ == "LayerChart", name


def test_a_figure_is_chosen_by_its_name_and_an_unknown_one_is_refused(runs: Path) -> None:
    run = sj.RunFolder.open(runs / "rate-40")
    assert run.plot("distribution").to_dict()["title"]["text"] == ["Distribution of the response time"]
    with pytest.raises(InputError, match="distribution"):
        run.plot("nothing")


def test_what_a_run_or_a_model_is_called_cannot_act() -> None:
    figure = Figure("f", HOSTILE, "x", "y", (Series(HOSTILE, [1, 2], [1, 2]),))
    table = Table("", (HOSTILE, "b"), ((HOSTILE, 1.0),))
    html = notebook_html(Document(HOSTILE, "", [HOSTILE], "ok", (Section(HOSTILE, "", (figure, table)),)))
    assert "<script" not in html and "&lt;script&gt;" in html


def test_a_result_of_which_nothing_can_be_told_is_shown_as_text() -> None:
    assert MeasuredRuns()._repr_html_() is None


def test_a_sweep_has_a_figure_and_names_its_axis_in_words() -> None:
    swept = sj.sweep(service(10), "classes.request.rate_per_s", [10, 20])
    assert "data:image/svg+xml" in swept._repr_html_()
    assert "data:image/svg+xml" not in sj.solve(service(10))._repr_html_()
    assert swept.plot().to_dict()["usermeta"]["x"] == "rate of request (1/s)"


def test_each_picture_of_the_ten_questions_has_its_block() -> None:
    pictures = [picture for _, picture in gallery.shown(gallery.PAGE.read_text())]
    files = {f"ten-questions/{one.name}" for one in (gallery.PAGE.parent / "ten-questions").iterdir()}
    assert len(pictures) == 10 and set(pictures) == files
