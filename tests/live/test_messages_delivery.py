"""Killed, stopped and cut off, by three seeds in each mode: no promise is broken (benches/messages/delivery.py has more)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sojourn_cases.common.postgres import Postgres
from sojourn_cases.messages.delivery import judge

sys.path.append(str(Path(__file__).parents[2] / "benches/messages"))
from delivery import MODES, REDELIVERY_S, deliver
from delivery_faults import schedule

pytestmark = pytest.mark.live


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [1001, 1002, 1003])
def test_no_promise_is_broken(postgres: Postgres, mode: str, seed: int) -> None:
    run = deliver(postgres, seed, mode, 1.0)
    redelivery_s = REDELIVERY_S if mode.startswith("again") else None
    assert run.verdict.faults == []
    counts = run.verdict.counts
    assert run.faults.total() > 0 and counts["put done"] > 0 and counts["take done"] > 0
    # The judge is awake: the same history with a message taken twice, and with one lost too many.
    taken = [one for one in run.history if one.kind == "take" and one.outcome == "done"]
    shortest = min(taken, key=lambda one: one.end_s - one.start_s)
    assert not judge([*run.history, shortest], redelivery_s=redelivery_s).holds
    acknowledged = {one.content for one in run.history if one.kind == "put" and one.outcome == "done"}
    there = sorted({one.content for one in taken if one.content in acknowledged}, key=str)
    lost = there[: 1 + counts["take unknown"] - counts["in a take without an answer"]]
    without = [one for one in run.history if one.kind != "take" or one.content not in lost]
    assert not judge(without, redelivery_s=redelivery_s).holds


def test_a_seed_is_a_schedule() -> None:
    assert schedule(1, 5.0) == schedule(1, 5.0) != schedule(2, 5.0)
