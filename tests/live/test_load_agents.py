"""One load by several agents on this machine: the one schedule, one run folder, everything added and nothing lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from machine import Command
from recording import Recording, recording
from test_bad_input import one_message

from sojourn import _native
from sojourn.measure.agents_section import COLUMNS, agents_section
from sojourn.report import Table
from sojourn.runs.interval_log import read_interval_log
from sojourn.runs.run_folder import RunFolder
from sojourn.stats.quantiles import KEPT

pytestmark = pytest.mark.live


@pytest.mark.parametrize("count", [1, 3])
def test_agents_send_the_schedule_of_one_generator_and_what_they_recorded_is_one_run(
    tmp_path: Path, count: int
) -> None:
    with recording() as service:
        command = Command(
            tmp_path, "load", f"{service.url}/shop", "--rate", "90", "--duration", "3s", "--seed", "5",
            "--agents", f"local:{count}", "--out", "run", "--json",
        )  # fmt: skip
        assert command.end() in (0, 3), command.said()  # 3: on a busy machine the times are worth nothing
        heard = len(service.heard)
    told = json.loads(command.answered())
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    schedule = _native.schedule(json.dumps({"kind": "poisson", "rate_per_s": 90.0}), 5, "lane 0 arrivals", 3.0)
    records = pl.read_parquet(tmp_path / "run/requests.parquet")

    # the union is the one schedule, to the nanosecond, and every agent has a part of it
    planned = np.sort(records["intended_s"].to_numpy()) - manifest["generator"]["start_s"]
    assert planned.shape == (len(schedule),) and np.abs(planned - schedule).max() < 1e-9
    assert set(records["agent"]) == set(range(1, count + 1))
    # counts add, on both sides
    own = [one["generator"] for one in manifest["agents"]]
    assert told["ok"] == heard == len(schedule) == sum(one["ok"] for one in own) == told["requested"]
    assert [one["requested"] for one in own] == [records.filter(agent=k).height for k in range(1, count + 1)]
    # merged quantiles are those of the joined records: the smallest value that a share q is not above, in bins of 0.1 %
    done = np.sort((records["done_s"] - records["intended_s"]).to_numpy())
    figures = told["latency"]["from_intended"]["to_done"]
    assert figures["count"] == len(schedule) and figures["mean_s"] == pytest.approx(done.mean(), rel=1e-9)
    for q, name in KEPT.items():
        assert figures[name] == pytest.approx(done[int(np.ceil(q * done.size)) - 1], rel=1e-3)
    # every request is in one of the added histograms, and once more in those from sent
    log = read_interval_log(tmp_path / "run/latency.hlog")
    assert sum(int(one.counts.sum()) for one in log if not one.tag) == len(schedule)
    assert sum(int(one.counts.sum()) for one in log if one.tag == "sent") == len(schedule)
    # the agents' clock is this machine's, within what the round trips tell
    clocks = [one["clock"] for one in manifest["agents"]]
    assert all(abs(clock["offset_s"]) <= clock["bound_s"] for clock in clocks)
    assert all(abs(clock["wall_offset_s"]) <= clock["bound_s"] + 1e-3 for clock in clocks)
    # the report has a row for each
    section = agents_section([RunFolder.open(tmp_path / "run")])
    assert section is not None and isinstance(table := section.blocks[0], Table)
    assert [row[COLUMNS.index("sent")] for row in table.rows] == [str(one["sent"]) for one in own]
    assert command.left() == []


def test_two_agents_do_not_draw_the_same_templates(tmp_path: Path) -> None:
    with recording() as service:
        command = Command(
            tmp_path, "load", f"{service.url}/{{uuid}}", "--placeholders", "--rate", "60", "--duration", "2s",
            "--agents", "local:2",
        )  # fmt: skip
        assert command.end() in (0, 3), command.said()
        paths = [path for _, path, _, _ in service.heard]
    assert len(paths) > 60 and len(set(paths)) == len(paths)


@pytest.fixture
def shop() -> Iterator[Recording]:
    with recording() as service:
        yield service


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--agents", "local:0"), ("--agents: 'local:0'", "give 1 to 256")),
        (("--agents", "dask://nowhere"), ("--agents", "give dask://HOST:PORT")),
        (
            ("--agents", "local:2", "--rate-per-agent", "20"),
            ("--rate-per-agent", "80/s needs 4 agents of 20/s, and there are 2"),
        ),
        (("--agents", "local:2", "--rate-per-agent", "0"), ("--rate-per-agent", "above 0")),
        (("--rate-per-agent", "20"), ("--rate-per-agent", "add --agents")),
        (("--agents", "local:2", "--users", "3"), ("--agents", "a load of users", "give --rate")),
    ],
)
def test_loads_that_agents_cannot_share(
    tmp_path: Path, shop: Recording, options: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    rate = () if "--users" in options else ("--rate", "80")
    one_message(Command(tmp_path, "load", shop.url, *rate, "--duration", "1s", *options, "--out", "a/run"), 2, *parts)
    assert not (tmp_path / "a").exists() and shop.heard == []


def test_nobody_answers_is_one_error_with_the_agents_name(tmp_path: Path) -> None:
    command = Command(
        tmp_path,
        "load",
        "http://127.0.0.1:1/",
        "--rate",
        "50",
        "--duration",
        "2s",
        "--agents",
        "local:2",
        "--out",
        "a/run",
    )
    one_message(command, 5, "agent ", "of 2 (process ", "127.0.0.1:1")
    assert not (tmp_path / "a").exists() and command.left() == []
