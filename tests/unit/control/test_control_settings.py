"""Settings beside workers: what the rails leave of them, that a read-back which differs is no success, and what the log says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sojourn.control import GuardRails, Seen, Set, replay
from sojourn.control.decision import STEERINGS
from sojourn.control.guard_rails import Bounds, GuardedState, guarded
from sojourn.control.live import Actuators, run_live
from sojourn.control.live_log import LiveLog
from sojourn.control.live_metrics import MetricsReading
from sojourn.control.policy_file import Policy, read
from sojourn.errors import InputError
from sojourn.live_service.control_socket import DiffersError, RefusedError, Values, same

ALL = ("workers", "cap", "cores", "packet_steering")
FINE = Seen(0.0, 2.0, 8, 8, 10.0, 10.0, 0.2, 0.2, 1.0, 0.0, 0.1, cap=100, cores=2, packet_steering="spread")
LATE = replace(FINE, metrics_late=True)
QUEUE = replace(FINE, waiting=9.0)


@pytest.mark.parametrize(
    ("asked", "seen", "rails", "set_", "why"),
    [
        (Set(cap=50), FINE, {"settings": ALL}, {"cap": 50, "cores": 2, "packet_steering": "spread"}, ""),
        (Set(cap=50), FINE, {}, {}, "cap may not be changed: it is not in settings"),
        (Set(cores=1), replace(FINE, cores=None), {"settings": ["cores"]}, {}, "cores is not known here"),
        (Set(cap=5), FINE, {"settings": ["cap"], "cap": Bounds(least=20, most=900)}, {"cap": 20}, "cap: bounds 20 to 900"),
        (Set(cap=500), FINE, {"settings": ["cap"], "cap": Bounds(most=900, largest_step=10)}, {"cap": 110},
         "cap: largest step 10"),
        (Set(cap=50), LATE, {"settings": ["cap"]}, {"cap": 100}, "cap: no reduction: metrics are late"),
        (Set(cap=50), QUEUE, {"settings": ["cap"]}, {"cap": 50}, ""),  # a lower cap drains the queue
        (Set(cores=1), QUEUE, {"settings": ["cores"]}, {"cores": 2},
         "cores: no reduction: 9 wait; the queue has to drain first"),
        (Set(cores=4), QUEUE, {"settings": ["cores"]}, {"cores": 4}, ""),
        (Set(packet_steering="one core"), LATE, {"settings": ["packet_steering"]}, {"packet_steering": "spread"},
         "packet_steering: no reduction: metrics are late"),
        (Set(packet_steering="spread"), replace(LATE, packet_steering="one core"), {"settings": ["packet_steering"]},
         {"packet_steering": "spread"}, ""),
        (Set(packet_steering="all over"), FINE, {"settings": ["packet_steering"]}, {"packet_steering": "spread"},
         "the policy returned packet_steering = 'all over', not one of one core, spread"),
        (Set(cap=True), FINE, {"settings": ["cap"]}, {"cap": 100}, "the policy returned cap = True, not a whole number"),
    ],
)  # fmt: skip
def test_each_setting_within_the_rails(
    asked: Set, seen: Seen, rails: dict[str, Any], set_: dict[str, Any], why: str
) -> None:
    decision, _ = guarded(lambda s, t: (asked, t), GuardRails(**rails), seen, GuardedState())
    assert (dict(decision.others), decision.reason, decision.workers) == (set_, why, 8)


def test_a_change_of_one_setting_does_not_hold_another() -> None:
    rails = GuardRails(settings=ALL, shortest_s=10)
    state, found = GuardedState(), []
    for at_s, asked in ((0.0, Set(cap=90)), (5.0, Set(workers=9, cap=80)), (10.0, Set(cap=80))):
        decision, state = guarded(lambda s, t, asked=asked: (asked, t), rails, replace(FINE, window_end_s=at_s), state)
        found.append(decision.changes())
    assert found == [{"cap": 90}, {"workers": 9}, {"cap": 80}]


value = st.one_of(st.none(), st.integers(-5, 10**6), st.floats(), st.text(max_size=3), st.sampled_from(STEERINGS))


@examples(max_examples=300, deadline=None)
@given(
    cap=value,
    cores=value,
    packet_steering=value,
    may=st.sets(st.sampled_from(ALL)),
    late=st.booleans(),
    low=st.integers(1, 9),
    step=st.integers(1, 9),
)
def test_rubbish_leaves_no_setting_outside_its_bounds(
    cap: Any, cores: Any, packet_steering: Any, may: set[str], late: bool, low: int, step: int
) -> None:
    bounds = Bounds(least=low, most=low + 10, largest_step=step)
    rails = GuardRails(settings=tuple(sorted(may)), cap=bounds, cores=bounds)  # type: ignore[arg-type]
    seen = replace(FINE, cap=low + 5, cores=low + 5, metrics_late=late)
    decision, _ = guarded(
        lambda s, t: (Set(cap=cap, cores=cores, packet_steering=packet_steering), t), rails, seen, GuardedState()
    )
    assert set(decision.others) == may - {"workers"}
    for name in {"cap", "cores"} & may:
        found = int(decision.others[name])
        assert low <= found <= low + 10
        assert abs(found - low - 5) <= step
        assert found >= low + 5 or not late
    assert decision.others.get("packet_steering", "spread") in STEERINGS


class Service:
    """Answers as a service does whose cap stays where it is, whatever is set."""

    def __init__(self, stuck: bool) -> None:
        self.stuck, self.cap, self.at_s, self.reverted, self.now_s = stuck, 100, 0.0, 0, 0.0

    def clock(self) -> float:
        return self.now_s

    def sleep(self, by_s: float) -> None:
        self.now_s += by_s

    def read(self) -> MetricsReading:
        self.at_s += 1.0
        return MetricsReading(self.at_s, 10 * self.at_s, 10 * self.at_s, 0, self.at_s, 8 * self.at_s, self.at_s, self.at_s, 8,
                              self.cap, 0, 0)  # fmt: skip

    def set(self, wanted: Values) -> Values:
        if not self.stuck:
            self.cap = int(wanted["cap"])
        return same(wanted, {"workers": 8, "cap": self.cap})

    def revert(self) -> Values:
        self.reverted, self.cap = self.reverted + 1, 100
        return {"workers": 8, "cap": 100}


def ran(service: Service, folder: Path, windows: int = 3) -> tuple[Any, list[dict[str, Any]], list[str]]:
    """A loop of so many windows, its log and what it said; its clock is the service's."""
    policy = Policy("less", lambda s, t: (Set(cap=40, reason="less"), t), "p99 < 300ms", GuardRails(settings=ALL[:2]))
    said: list[str] = []
    count = run_live(
        policy, service, service, LiveLog(folder), lambda: "enough" if service.at_s > windows else "",
        period_s=1.0, clock=service.clock, sleep=service.sleep, say=said.append,
    )  # fmt: skip
    return count, [json.loads(line) for line in (folder / "decisions.ndjson").read_text().splitlines()], said


def test_a_cap_that_a_policy_asks_for_is_set_and_in_the_log(tmp_path: Path) -> None:
    service = Service(stuck=False)
    count, log, said = ran(service, tmp_path)
    assert (count.set, count.changes, count.refused) == (3, 1, 0)
    assert next(row for row in log if row.get("event") == "set")["read_back"] == {"cap": 40}
    first = log[0]
    assert (first["asked"], first["others"], first["observed"]["cap"]) == ({"cap": 40}, {"cap": 40}, 100)
    assert said[0] == "cap 100 -> 40: less"
    again = replay(lambda s, t: (Set(cap=40, reason="less"), t), tmp_path, GuardRails(settings=ALL[:2]))
    assert [one.same for one in again] == [True] * 3
    other = replay(lambda s, t: (Set(cap=50, reason="less"), t), tmp_path, GuardRails(settings=ALL[:2]))
    assert not any(one.same for one in other)


def test_a_read_back_that_differs_is_no_success_and_the_safe_settings_come_back(tmp_path: Path) -> None:
    service = Service(stuck=True)
    count, log, said = ran(service, tmp_path)
    assert (count.set, count.refused, service.reverted) == (0, 3, 4)  # and at the end
    differs = [row for row in log if row.get("event") == "differs"]
    assert len(differs) == 3
    assert differs[0]["why"] == "set workers 8, cap 40; read back workers 8, cap 100"
    assert differs[0]["what"] == "safe settings are back: workers 8, cap 100"
    assert not [row for row in log if row.get("event") == "set"]
    assert any(text.startswith("differs: set workers 8, cap 40") for text in said)


class Part:
    """One of two actuators; `refuses` says why."""

    def __init__(self, name: str, refuses: RefusedError | None = None) -> None:
        self.name, self.refuses, self.now = name, refuses, "safe"

    def set(self, wanted: Values) -> Values:
        if self.refuses:
            raise self.refuses
        self.now = "set"
        return dict(wanted)

    def revert(self) -> Values:
        self.now = "safe"
        return {self.name: 1}


@pytest.mark.parametrize("why", [RefusedError("held by another"), DiffersError("set, read back")])
def test_of_two_actuators_both_set_or_neither(why: RefusedError) -> None:
    pool, cores = Part("workers"), Part("cores", why)
    both = Actuators([(pool, ("workers", "cap")), (cores, ("cores",))])
    with pytest.raises(type(why), match=str(why)):
        both.set({"workers": 9, "cores": 1})
    assert pool.now == "safe"
    cores.refuses = None
    assert both.set({"workers": 9, "cores": 1}) == {"workers": 9, "cores": 1}
    assert both.revert() == {"workers": 1, "cores": 1}


def test_the_policy_file_lists_what_may_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('policy = "model"\n[rails]\nsettings = ["workers", "cap"]\n[rails.cap]\nleast = 50\n')
    rails = read(path).rails
    assert (rails.settings, rails.cap.least, rails.cap.most) == (("workers", "cap"), 50, 1_000_000)
    path.write_text('policy = "model"\n[rails]\nsettings = ["worker"]\n')
    with pytest.raises(InputError, match=r"policy.toml:3: rails.settings"):
        read(path)


def unread() -> Mapping[str, Any]:
    raise RefusedError("process 7 has ended")


def test_cores_that_cannot_be_read_are_trouble(tmp_path: Path) -> None:
    service = Service(stuck=False)
    policy = Policy("less", lambda s, t: (Set(cores=1), t), "p99 < 300ms", GuardRails(settings=("cores",)))
    readings = iter([{"cores": 2}, {"cores": 2}])
    run_live(
        policy, service, None, LiveLog(tmp_path), lambda: "enough" if service.at_s > 2 else "", period_s=1.0,
        placed=lambda: next(readings, None) or unread(), clock=service.clock, sleep=service.sleep,
    )  # fmt: skip
    rows = [json.loads(line) for line in (tmp_path / "decisions.ndjson").read_text().splitlines()]
    assert [row.get("trouble") for row in rows if "event" not in row] == [None, "process 7 has ended"]
    assert rows[1]["observed"]["cores"] == 2, "what was known last"
    assert rows[1]["others"] == {"cores": 2}
