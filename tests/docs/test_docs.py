"""What the documents say: paths, links, verbs, keys and their defaults, and snippets that run."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import sojourn
from sojourn.cli.verbs import VERBS
from sojourn.runs import assess_run, disturbances
from sojourn.runs.run_metrics import metrics_row
from sojourn.study import file_schema
from sojourn.table import Metrics
from sojourn_cases.kv.middleware import KvLoad, KvOptions
from sojourn_cases.messages.message_service import MessagesLoad, MessagesOptions
from sojourn_cases.ntier.bulletin_guests import BulletinGuestOptions
from sojourn_cases.storage.storage_guests import StorageGuestsOptions
from sojourn_cases.web.web_guest import WebGuestOptions
from sojourn_cases.web.web_shop import LabOptions, WebLoad, WebSystemOptions
from sojourn_cases.web.web_shop_simulated import WebVirtualOptions

ROOT = Path(__file__).resolve().parents[2]
NOT_OURS = {".git", ".venv", "target", "runs", "node_modules", ".pytest_cache"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
# section of docs/howto/write-a-study.md → what checks it
STUDY_PARTS: dict[str, type[BaseModel]] = {
    "Top level": file_schema.StudyFile,
    "`[[section]]`": file_schema.StudySection,
    "`[fit]`": file_schema.FitSection,
    "`[saturation]`": file_schema.SaturationSection,
    "`[choose]`": file_schema.ChooseSection,
    "`[draw]`": file_schema.DrawSection,
    "`[[analysis]]`": file_schema.AnalysisSection,
    "`[quick]`": file_schema.QuickOverrides,
    "System `web`": WebSystemOptions,
    "`[system.lab]`": LabOptions,
    "Load of `web`": WebLoad,
    "System `web-virtual`": WebVirtualOptions,
    "System `web-guest`": WebGuestOptions,
    "System `bulletin-guests`": BulletinGuestOptions,
    "System `storage-guests`": StorageGuestsOptions,
    "System `kv`": KvOptions,
    "Load of `kv`": KvLoad,
    "System `messages`": MessagesOptions,
    "Load of `messages`": MessagesLoad,
}
# tables of a study file whose keys depend on its system, or are those of another table
ELSEWHERE = {"system", "load", "predict", "lab"}


def pages() -> Iterator[Path]:
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in NOT_OURS]
        yield from (Path(folder, name) for name in names if name.endswith(".md"))


def fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_in_backquotes_exist(page: str) -> None:
    starts = "(?:crates|python|cases|studies|tests|benches|docs|tools)/"
    paths = re.findall(rf"`({starts}[^`\s]*)`", (ROOT / page).read_text())
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_architecture_tells_three_flows_as_numbered_lists_of_files() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for title in ("A request", "A measurement", "A model"):
        section = text.split(f"## {title}\n")[1].split("\n## ")[0]
        steps = re.findall(r"^(\d+)\. (.*)$", section, re.MULTILINE)
        assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1)), title
        assert all(step.startswith("`") for _, step in steps), title


@pytest.mark.parametrize("page", sorted(pages()), ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = [target.partition("#")[0] for target in LINK.findall(text) if "://" not in target]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


def test_every_name_of_the_index_resolves() -> None:
    assert sojourn.__all__
    for name in sojourn.__all__:
        assert getattr(sojourn, name) is not None, name
        assert name in (sojourn.__doc__ or ""), f"{name} is not in the map of sojourn/__init__.py"


def test_every_verb_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text()
    assert len(VERBS) >= 20
    assert [verb for verb in VERBS if not re.search(rf"^## `sojourn {verb}[ `]", page, re.MULTILINE)] == []


def test_every_crate_has_its_line() -> None:
    text = (ROOT / "crates/README.md").read_text()
    listed = re.findall(r"^- `([a-z]+)` ", text, re.MULTILINE)
    assert listed == sorted(path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml"))


def study_keys(section: str) -> dict[str, str]:
    """Key → default of the table in a section of the page, as written there."""
    text = (ROOT / "docs/howto/write-a-study.md").read_text()
    part = text.split(f"## {section}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|[^|]*\| ([^|]*?) \|", part, re.MULTILINE)
    return {key.strip("`"): default for keys, default in rows for key in keys.split(", ")}


def is_part(field: Any) -> bool:
    """Whether a key is a table with a section of its own."""
    return any(kind in STUDY_PARTS.values() for kind in (field.annotation, *getattr(field.annotation, "__args__", ())))


@pytest.mark.parametrize("section", STUDY_PARTS)
def test_every_study_key_is_told_with_its_default(section: str) -> None:
    told = study_keys(section)
    fields = {
        n: f
        for n, f in STUDY_PARTS[section].model_fields.items()
        if not is_part(f) and ("[draw]" in section or n not in ELSEWHERE - {"load"})
    }
    if section == "Top level":
        fields.pop("load")
    assert sorted(told) == sorted(fields)
    for name, field in fields.items():
        default = field.get_default(call_default_factory=True)
        if default is None:
            assert not told[name].startswith("`"), f"{section}: {name} has no default of its own"
        elif default is PydanticUndefined:
            assert told[name] == "–", f"{section}: {name} must be given"
        else:
            said = tomllib.loads(f"x = {told[name].strip('`')}")["x"]
            plain = default.model_dump(exclude_defaults=True) if isinstance(default, BaseModel) else default
            assert said == (list(plain) if isinstance(plain, tuple) else plain), f"{section}: {name}"


def test_every_table_of_a_study_has_its_section() -> None:
    tables = {name for name, field in file_schema.StudyFile.model_fields.items() if is_part(field)} - ELSEWHERE
    assert sorted(tables) == sorted(s.strip("`[]") for s in STUDY_PARTS if s.startswith("`[") and "." not in s)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny run folder `run/`, and the folder around it as the working directory."""
    folder = tmp_path / "run"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    intended = [100.0 + 0.1 * k for k in range(30)]
    late = {"sent_s": 0.001, "received_s": 0.004, "done_s": 0.005}
    times = {"intended_s": intended} | {name: [t + delay for t in intended] for name, delay in late.items()}
    requests = pl.DataFrame(times).with_columns(failure=pl.Series([0] * 29 + [4], dtype=pl.UInt8))
    stamped = pl.when(pl.col("failure") == 0).then("received_s").otherwise(float("nan"))
    requests.with_columns(stamped.alias("received_s")).write_parquet(folder / "requests.parquet")
    host_rows(intended).write_parquet(folder / "host.parquet")
    metrics = [
        metrics_row("arrival_rate", 10.0, unit="1/s"),
        metrics_row("response_time", 0.004, low=0.003, high=0.005),
    ]
    metrics.append(metrics_row("utilisation", 0.2, station="core 0", unit="1"))
    Metrics.of(metrics, "measured").with_factors(run="run", rate_per_s=10.0).write(folder / "metrics.parquet")
    manifest = {"valid": True, "reasons": [], "window_s": [100.5, 102.9]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return tmp_path


def host_rows(times: list[float]) -> pl.DataFrame:
    """Counters of core 0 and of one NIC, as the collector writes them: a quarter of the time in soft interrupts."""
    counters = {("cpu", "0", "softirq"): 0.25, ("cpu", "0", "user"): 0.5, ("nics", "nic0", "rx_packets"): 20.0}
    rows = [(t, *name, slope * (t - times[0])) for t in times for name, slope in counters.items()]
    return pl.DataFrame(rows, schema=["t_s", "source", "key", "item", "value"], orient="row")


def test_the_limits_of_validity_are_those_of_the_code() -> None:
    text = (ROOT / "docs/reference/run-folder.md").read_text().split("A run is valid if")[1]
    for limit in (assess_run.MOST_FAILURES, disturbances.MOST_STEAL, disturbances.MOST_OTHERS):
        assert f"at most {100 * limit:g} %" in text, limit


READING = ("docs/howto/read-run-folders.md",)


@pytest.mark.parametrize("sql", [sql for page in READING for sql in fenced(page, "sql")])
def test_sql_runs_on_a_run_folder(run: Path, sql: str) -> None:
    assert duckdb.sql(sql).fetchall()


@pytest.mark.parametrize("code", [code for page in READING for code in fenced(page, "python")])
def test_python_runs_on_a_run_folder(run: Path, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "snippet", "exec"), {})
    assert capsys.readouterr().out


def test_what_the_first_queries_say(run: Path) -> None:
    """29 answers, each 5 ms after it was due and 4 ms after it was sent; soft interrupts a quarter of core 0."""
    sql = fenced(READING[0], "sql")
    assert duckdb.sql(sql[0]).fetchall()[0] == pytest.approx((29, 0.005, 0.004, 0.005), abs=1e-9)
    assert duckdb.sql(sql[1]).fetchall()[0][0] == pytest.approx(0.004, abs=1e-9)
    assert {core: seconds for core, state, seconds in duckdb.sql(sql[3]).fetchall() if state == "softirq"} == {
        "0": pytest.approx(0.725)
    }
    assert [share for _, share in duckdb.sql(sql[4]).fetchall()] == pytest.approx([0.25, 0.25, 0.25])


def test_the_notebook_has_its_outputs_and_no_path_of_a_machine() -> None:
    import nbformat

    path = ROOT / "docs/tutorial/whole-loop.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert not any(output["output_type"] == "error" for output in outputs)
    assert not re.search(r"/(work|tmp|home|root|usr|opt)/", path.read_text())


def test_the_notebook_begins_with_a_picture_of_five_lines() -> None:
    """The first cell, run here; the whole notebook is run by live/test_notebook.py."""
    import altair
    import nbformat

    first = nbformat.read(ROOT / "docs/tutorial/whole-loop.ipynb", as_version=4).cells[1]
    lines = [line for line in first.source.splitlines() if line]
    assert first.cell_type == "code" and len(lines) == 5
    names: dict[str, object] = {}
    was = altair.renderers.active
    try:
        exec("\n".join(lines[:-1]), names)
        drawn = eval(lines[-1], names)._repr_mimebundle_()
    finally:
        altair.renderers.enable(was)
    assert "</svg>" in drawn["image/svg+xml"]
    assert "image/svg+xml" in first.outputs[0]["data"]


def test_the_pictures_of_screens_are_small_and_all_of_them_are_shown() -> None:
    pictures = sorted((ROOT / "docs/howto/screens").iterdir())
    shown = (ROOT / "docs/howto/screens.md").read_text()
    assert pictures and all(f"](screens/{one.name})" in shown for one in pictures)
    for one in pictures:
        start = one.read_bytes()[:12]
        assert start[:4] == b"RIFF" and start[8:] == b"WEBP" and one.stat().st_size < 150_000  # RFC 9649, section 2.4
    assert "](screens/model-1280-light.webp)" in (ROOT / "docs/howto/measure-your-own-service.md").read_text()
