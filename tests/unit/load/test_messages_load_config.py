"""What a user says of a load on the message service, as the generator has it; and what a client's pauses come to."""

from __future__ import annotations

import json
import os
from typing import Any

import polars as pl
import pytest

from sojourn.errors import InputError
from sojourn.load.messages_load import messages_load
from sojourn.runs.think_time import mean_think_s

URL = "messages://127.0.0.1:1"


@pytest.mark.parametrize(("clients", "threads", "urls"), [(90, 1, 1), (90, 2, 3), (1, 4, 1)])
def test_every_client_has_a_lane_and_a_connection(clients: int, threads: int, urls: int) -> None:
    lanes = messages_load([f"{URL}{k}" for k in range(urls)], clients=clients, threads=threads)["lanes"]
    users = [lane["closed"]["users"] for lane in lanes]
    assert sum(users) == clients and max(users) - min(users) <= 1
    assert all(lane["connections"] * urls >= lane["closed"]["users"] for lane in lanes)


def test_an_open_loop_has_no_clients() -> None:
    (lane,) = messages_load([URL], clients=4, rate_per_s=100.0)["lanes"]
    assert lane["arrivals"] == {"kind": "poisson", "rate_per_s": 100.0} and "closed" not in lane


def test_what_is_asked_for() -> None:
    messages = messages_load([URL], put_weight=2, message_bytes="16-64", queues=3, retry_delay_s=0.05)["messages"]
    assert messages["message_bytes"] == {"kind": "uniform", "low": 16, "high": 64}
    assert (messages["put"], messages["take"], messages["queues"], messages["retry_delay_s"]) == (2, 1.5, 3, 0.05)


def test_refusals() -> None:
    refused: list[dict[str, Any]] = [
        {"threads": 0}, {"clients": 0}, {"rate_per_s": 0.0}, {"arrivals": "gauss"}, {"retry_delay_s": -1.0},
        {"message_bytes": "x"},
    ]  # fmt: skip
    for options in refused:
        with pytest.raises(InputError):
            messages_load([URL], **options)


def test_only_empty_takes_wait_the_retry_delay() -> None:
    # Two puts, a take, a take that found nothing.
    inside = pl.DataFrame({"class": [0, 0, 1, 2]})
    assert mean_think_s(messages_load([URL], retry_delay_s=0.1), inside) == pytest.approx(0.025)
    assert mean_think_s(messages_load([URL], retry_delay_s=0.1, think_s=0.04), inside) == pytest.approx(0.055)
    # A take that was acknowledged: only the acknowledgement is followed by thinking.
    inside = pl.DataFrame({"class": [1, 3]})
    assert mean_think_s(messages_load([URL], think_s=0.04), inside) == pytest.approx(0.02)
    assert mean_think_s(messages_load([URL], rate_per_s=5.0), inside) == 0.0


def test_a_token_is_not_in_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    load = messages_load(["messages://a"], token="hush")
    assert "hush" not in json.dumps(load) and os.environ[load["messages"]["token_env"]] == "hush"
    assert "token_env" not in messages_load(["messages://a"])["messages"]
