"""The first look at who is busy: had once, and only while it is recent."""

from __future__ import annotations

import pytest

from sojourn.measure import early_look


def test_a_look_is_had_once_and_only_while_it_is_recent(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    seen = iter(range(10))
    monkeypatch.setattr(early_look.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(early_look, "process_times", lambda: next(seen))
    early_look.look()
    now[0] = 100.4
    assert early_look.taken() == (100.0, 0)  # the first look
    assert early_look.taken() == (100.4, 1)  # of another run: it is taken anew
    early_look.look()
    now[0] = 100.4 + early_look.MOST_AGE_S + 1
    assert early_look.taken() == (now[0], 3)  # too old
