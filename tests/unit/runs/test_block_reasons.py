"""What a block load says of itself, and what then makes its run invalid."""

from __future__ import annotations

from typing import Any

import pytest

from sojourn.runs.block_reasons import block_reasons

WELL = {
    "status": [],
    "due": 1000,
    "completed": 995,
    "achieved_iops": 995.0,
    "asked_iops": 1000.0,
    "errors": {},
    "wrong": 0,
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"status": ["cached", "ack stall"]}, []),  # marks of a run that did what was asked
        (
            {"status": ["saturated"], "completed": 500, "achieved_iops": 500.0, "refused": 400},
            ["0.500 of the 1000 I/Os", "500 of 1000 a second, 400 were refused by a full queue"],
        ),
        ({"errors": {"ENOSPC": 7}}, ["refused 7 I/Os with ENOSPC; no space left"]),
        ({"errors": {"EIO": 2}}, ["refused 2 I/Os with EIO", "dmesg"]),
        ({"reconnects": 1}, ["the connection broke and was reopened 1 times"]),
        ({"wrong": 1, "first_wrong": "write 3 at 4096 is not there"}, ["1 reads were wrong", "write 3 at 4096"]),
    ],
)
def test_reasons_with_what_was_seen_and_what_to_do(change: dict[str, Any], said: list[str]) -> None:
    reasons = "; ".join(block_reasons(WELL | change))
    assert all(words in reasons for words in said)
    assert bool(reasons) == bool(said)
