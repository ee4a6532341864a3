"""Loads on a message service, live: what the generator counts is what the service counts, and the laws hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from message_stand_in import StandIn
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import InputError, SojournError
from sojourn.load.messages_load import messages_load
from sojourn.measure import execute_run

pytestmark = pytest.mark.live


@pytest.fixture
def service() -> Iterator[StandIn]:
    one = StandIn()
    yield one
    one.close()


def load(folder: Path, urls: list[str], **options: Any) -> dict[str, Any]:
    """Runs a load; the generator's summary with the frame of its records as `rows`."""
    done = execute_run.execute(folder / "run", messages_load(urls, **options), what={"name": "run"})
    records = done.frame("requests")
    assert records is not None
    return done.manifest["generator"] | {"rows": records, "manifest": done.manifest}


def test_both_sides_count_the_same(service: StandIn, tmp_path: Path) -> None:
    load_ = load(tmp_path, [service.url], clients=6, retry_delay_s=0.01, think_s=0.005, duration_s=1.0, queues=2,
                 message_bytes="16:1,5000:1,60000:1")  # fmt: skip
    messages, rows = load_["messages"], load_["rows"]
    assert load_["failures"] == {} and load_["ok"] == load_["requested"] == rows.height
    assert (messages["put"], messages["taken"]) == (service.puts, service.takes)
    assert messages["left"] == sum(map(len, service.queues.values())) == messages["put"] - messages["taken"]
    assert messages["wrong"] == messages["twice"] == messages["foreign"] == messages["unknown"] == 0
    names = load_["manifest"]["records"]["requests"]["classes"]
    counted = {name: int((rows["class"] == k).sum()) for k, name in enumerate(names)}
    classes = {name: figures["ok"] for name, figures in messages["classes"].items()}
    assert {name: count for name, count in counted.items() if count} == classes
    assert int(rows.filter(pl.col("class") == 0)["bytes"].sum()) == messages["bytes_put"]
    assert sorted(service.queues) == ["load-0", "load-1"]


def test_the_retry_delay_is_in_the_interactive_law(service: StandIn, tmp_path: Path) -> None:
    # Four of five requests are takes; at least three of four takes find nothing: without the delay the law is off.
    options: dict[str, Any] = {"clients": 4, "retry_delay_s": 0.02, "put_weight": 1, "take_weight": 4}
    manifest = load(tmp_path, [service.url], duration_s=3.0, **options)["manifest"]
    assert not [reason for reason in manifest["reasons"] if "law" in reason], manifest["reasons"]
    assert manifest["checks"]["laws"], "it was looked at"


def test_several_services_share_the_clients(tmp_path: Path) -> None:
    one, two = StandIn(), StandIn()
    try:
        load_ = load(tmp_path, [one.url, two.url], clients=5, think_s=2e-3, duration_s=0.5, put_weight=1, take_weight=0)
        rows = load_["rows"]
        for service, users in ((one, (0, 2, 4)), (two, (1, 3))):
            assert service.puts == rows.filter(rows["user"].is_in(users)).height > 0
    finally:
        one.close()
        two.close()


def test_the_command_line(service: StandIn) -> None:
    runner = CliRunner()
    asked = [
        "--clients",
        "4",
        "--empty-queue-delay",
        "10ms",
        "--put-weight",
        "1",
        "--take-weight",
        "1.5",
        "--duration",
        "1s",
    ]
    said = runner.invoke(command_line(), ["load", service.url, *asked])
    assert "empty takes (" in said.output and "0 wrong, 0 taken twice" in said.output, said.output
    again = runner.invoke(
        command_line(), ["load", service.url, *asked, "--put-weight", "0", "--clear-queues", "--json"]
    )
    assert '"messages_of_other_runs": 0' in again.output and '"taken": 0' in again.output, again.output
    for url, option, told in (
        (service.url, ["--key-count", "5"], "only memcached"),
        ("memcached://127.0.0.1:1", ["--clients", "5"], "only messages"),
        ("http://127.0.0.1:1/", ["--put-weight", "5", "--rate", "1"], "only messages"),
        (service.url, ["--clients", "0"], "--clients: 0"),
        (service.url, ["--message-size", "8"], "16 to"),
    ):
        with pytest.raises(InputError, match=told):
            runner.invoke(command_line(), ["load", url, *option], catch_exceptions=False)


def test_without_its_token_a_service_is_not_loaded(tmp_path: Path) -> None:
    service = StandIn(token="open-sesame")
    try:
        with pytest.raises(SojournError, match="give its token"):
            load(tmp_path, [service.url], clients=1, duration_s=0.5)
        assert load(tmp_path, [service.url], clients=1, duration_s=0.5, token=service.token)["failures"] == {}
    finally:
        service.close()
