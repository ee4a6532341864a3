"""The load against the service itself, on a private cluster: what both say of the same run."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from message_cluster import WAYS, Way, needs_postgres

from sojourn.load.messages_load import messages_load
from sojourn.measure import execute_run
from sojourn_cases.common.postgres import Postgres
from sojourn_cases.messages.message_server import MessageService, MessagesOptions

pytestmark = [pytest.mark.live, needs_postgres]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    one = Postgres(tmp_path_factory.mktemp("cluster"), durable=False)
    yield one
    one.close()


def loaded(database: Postgres, folder: Path, services: int = 1, **options: Any) -> tuple[dict[str, Any], int]:
    """What the generator said of a run with few clients, and how many messages the database holds afterwards."""
    wanted = MessagesOptions(listen="127.0.0.1:0", database=database.url, workers=4, connections=4, **options)
    running: list[MessageService] = []
    try:
        running += [MessageService(wanted) for _ in range(services)]
        config = messages_load(
            [service.url for service in running], clients=6, retry_delay_s=0.02, duration_s=1.5, queues=2, prefix="real",
            fresh=True, message_bytes="16-3000",
        )  # fmt: skip
        done = execute_run.execute(folder / "run", config, what={"name": "run"})
        with urllib.request.urlopen(f"http://{running[0].address}/queues", timeout=10) as answer:
            listed = {queue["name"]: int(queue["messages"]) for queue in json.loads(answer.read())}
        for service in running:
            service.stop()
    finally:
        for service in running:
            service.close()
    return done.manifest["generator"], listed["real-0"] + listed["real-1"]


def sound(said: dict[str, Any]) -> dict[str, Any]:
    """The message part of a run in which nothing failed, was changed, or came twice."""
    messages: dict[str, Any] = said["messages"]
    assert said["failures"] == {}
    assert messages["wrong"] == messages["twice"] == messages["foreign"] == messages["unknown"] == 0
    assert messages["put"] > 50 and messages["taken"] > 50 and messages["empty"] > 0
    return messages


@pytest.mark.parametrize("way", WAYS)
def test_what_was_put_and_not_taken_is_left(database: Postgres, tmp_path: Path, way: Way) -> None:
    said, left = loaded(database, tmp_path, **way)
    messages = sound(said)
    assert messages["left"] == messages["put"] - messages["taken"] == left


def test_two_services_on_one_database_give_a_message_to_one_client(database: Postgres, tmp_path: Path) -> None:
    said, left = loaded(database, tmp_path, services=2)
    assert sound(said)["left"] == left


def test_with_redelivery_each_message_is_acknowledged(database: Postgres, tmp_path: Path) -> None:
    said, _ = loaded(database, tmp_path, redelivery_s=60.0)
    messages = sound(said)
    assert messages["late"] == 0
    # The end of the run may cut each client off between a take and its acknowledgement.
    assert messages["taken"] - 6 <= messages["acknowledged"] <= messages["taken"]
