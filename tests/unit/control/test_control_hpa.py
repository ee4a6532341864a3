"""The HPA's rule: examples and defaults of its documentation (kubernetes.io, Horizontal Pod Autoscaling), and cases worked by hand."""

from __future__ import annotations

import pytest

from sojourn.control import Hpa, Seen
from sojourn.control.hpa import Behaviour, Pod, StepLimit, average_value, proposed, several


def pods(*values: float | None, unready: int = 0) -> list[Pod]:
    return [*(Pod(value) for value in values), *[Pod(0.0, ready=False)] * unready]


def policy(kind: str, value: int, period_s: float) -> StepLimit:
    return StepLimit.model_validate({"kind": kind, "value": value, "period_s": period_s})


@pytest.mark.parametrize(
    ("given", "target", "current", "wanted"),
    [
        # "the current metric value is 200m, and the desired value is 100m, the number of replicas will be doubled"
        (pods(200.0), 100, 1, 2),
        (pods(200.0, 200.0, 200.0), 100, 3, 6),
        # "if the current value is instead 50m, you'll halve the number of replicas"
        (pods(50.0, 50.0, 50.0, 50.0), 100, 4, 2),
        # "skips any scaling action if the ratio is sufficiently close to 1.0 (… 0.1 by default)": both edges belong to it
        (pods(110.0, 110.0), 100, 2, 2),
        (pods(90.0, 90.0), 100, 2, 2),
        (pods(*[90.0] * 10), 100, 10, 10),
        (pods(*[110.1] * 10), 100, 10, 12),
        (pods(*[89.9] * 10), 100, 10, 9),
        # rounded up, and no further: 3 pods at 0.3 against 0.1 are 9, whatever floating point says of 0.3 / 0.1
        (pods(0.3, 0.3, 0.3), 0.1, 3, 9),
        (pods(*[50.0] * 3), 100, 3, 2),
        (pods(1000.0), 70, 1, 15),
        (pods(0.0, 0.0), 100, 2, 0),
        # missing: "100% of the desired value in case of a scale down": (50 + 50 + 100) / 3 = 66.7 of 100, of three pods two
        (pods(50.0, 50.0, None), 100, 3, 2),
        # … which dampens to within the tolerance: (70 + 100 + 100) / 3 = 90
        (pods(70.0, None, None), 100, 3, 3),
        # "0% in case of a scale up": (200 + 200 + 0) / 3 = 133, of three pods four
        (pods(200.0, 200.0, None), 100, 3, 4),
        # … which would turn it round: (150 + 0) / 2 = 75: no action
        (pods(150.0, None), 100, 2, 2),
        # … and to within the tolerance: (210 + 0) / 2 = 105
        (pods(210.0, None), 100, 2, 2),
        # not yet ready, scale up: counted with 0 %: (300 + 0) / 2 = 150, of two pods three
        (pods(300.0, unready=1), 100, 2, 3),
        # … no action where it turns round: 150 / 2 = 75
        (pods(150.0, unready=1), 100, 2, 2),
        # not yet ready, scale down: set aside; 50 of 100 for two ready pods is one
        (pods(50.0, 50.0, unready=2), 100, 4, 1),
        # both: (400 + 0 + 0) / 3 = 133, of three four
        (pods(400.0, None, unready=1), 100, 3, 4),
        # the wrong way: 2 counted at 1.2 are 3, fewer than the 5 there are, though the ratio is above 1
        (pods(240.0, None), 100, 5, 5),
        # no metric at all
        (pods(None, None), 100, 2, None),
        (pods(unready=3), 100, 3, None),
    ],
)
def test_replicas_for_a_metric(given: list[Pod], target: float, current: int, wanted: int | None) -> None:
    assert proposed(given, target, current) == wanted


def test_several_metrics() -> None:
    assert several([3, 7, 5], 4) == 7  # "the largest of the desired replica counts is chosen"
    assert several([3, None], 4) == 4  # "cannot be converted … and a scale down is suggested …, scaling is skipped"
    assert several([6, None], 4) == 6  # "still capable of scaling up"
    assert several([None, None], 4) is None


def test_average_value() -> None:
    assert average_value(1000, 100, 5) == 10
    assert average_value(540, 100, 5) == 5  # 1.08: within the tolerance
    assert average_value(560, 100, 5) == 6
    assert average_value(0, 100, 5) == 0


def test_defaults() -> None:
    """The default behaviour of the documentation, key by key; 15 s is the default sync period."""
    hpa = Hpa()
    assert (hpa.period_s, hpa.tolerance) == (15, 0.1)
    assert hpa.down == Behaviour(stabilisation_s=300, policies=(policy("percent", 100, 15),), select="max")
    assert hpa.up == Behaviour(
        stabilisation_s=0, policies=(policy("percent", 100, 15), policy("pods", 4, 15)), select="max"
    )


def test_what_is_not_customised_has_its_default() -> None:
    """ "Only values which need to be customized can be specified. These custom values are merged with default values"."""
    hpa = Hpa.model_validate({"down": {"stabilisation_s": 60}, "up": {"select": "min"}})
    assert hpa.down == Behaviour(stabilisation_s=60, policies=Hpa().down.policies)
    assert hpa.up == Behaviour(policies=Hpa().up.policies, select="min")


def test_tolerance_of_one_direction() -> None:
    """The documentation's example: 100 MiB and 5 % up: "only … if the memory consumption is higher than 105MiB"."""
    hpa = Hpa.model_validate({"target": 1.0, "up": {"tolerance": 0.05}, "metric": "cpu"})
    assert [hpa(seen(x, 20, 20), None)[0].workers for x in (1.05, 1.06, 0.90)] == [20, 22, 20]


def run(hpa: Hpa, asked: list[int], start: int, every_s: float = 15) -> list[int]:
    """Workers after each of the recommendations."""
    found, now, state = [], start, None
    for k, one in enumerate(asked):
        now, state = hpa.behave(one, now, k * every_s, state)
        found.append(now)
    return found


def down(*policies: StepLimit, select: str = "max", stabilisation_s: float = 0) -> Hpa:
    return Hpa(
        down=Behaviour.model_validate({"policies": policies, "select": select, "stabilisation_s": stabilisation_s})
    )


def up(*policies: StepLimit, select: str = "max", stabilisation_s: float = 0) -> Hpa:
    return Hpa(
        up=Behaviour.model_validate({"policies": policies, "select": select, "stabilisation_s": stabilisation_s})
    )


@pytest.mark.parametrize(
    ("hpa", "asked", "start", "every_s", "found"),
    [
        # default up: the larger of 100 % and 4 pods each 15 s
        (Hpa(), [100] * 5, 1, 15, [5, 10, 20, 40, 80]),
        (Hpa(), [100] * 3, 4, 15, [8, 16, 32]),
        (Hpa(), [7], 4, 15, [7]),
        # within one period no further: each 5 s, from where it stood 15 s ago
        (Hpa(), [100] * 5, 4, 5, [8, 8, 8, 16, 16]),
        # default down: not before 300 s have passed without asking for more
        (Hpa(), [10, *[2] * 20], 10, 15, [*[10] * 20, 2]),
        (Hpa(), [10, 5, 8, *[2] * 21], 10, 15, [*[10] * 20, 8, 8, 2, 2]),
        # going up clears nothing: the largest of the window holds
        (Hpa(), [10, 14, *[2] * 20], 10, 15, [10, *[14] * 20, 2]),
        # "80 replicas … 8 replicas will be reduced … 72, 10% of the pods is 7.2 but the number is rounded up to 8"
        (down(policy("pods", 4, 60), policy("percent", 10, 60)), [1] * 3, 80, 60, [72, 64, 57]),
        # "falls below 40 the first policy (Pods) is applied and 4 replicas will be reduced at a time"
        (down(policy("pods", 4, 60), policy("percent", 10, 60)), [1] * 3, 39, 60, [35, 31, 27]),
        (down(policy("pods", 4, 60), policy("percent", 10, 60)), [1], 40, 60, [36]),
        # "10% per minute", "no more than 5 Pods are removed per minute": select min
        (down(policy("percent", 10, 60), policy("pods", 5, 60), select="min"), [1] * 2, 80, 60, [75, 70]),
        (down(policy("percent", 10, 60), policy("pods", 5, 60), select="min"), [1] * 2, 20, 60, [18, 16]),
        # "selectPolicy: Disabled"
        (down(select="disabled"), [1] * 3, 80, 60, [80, 80, 80]),
        (up(select="disabled"), [90] * 2, 80, 60, [80, 80]),
        # "stabilizationWindowSeconds" of 60 s down: the largest of the last minute
        (down(policy("percent", 100, 15), stabilisation_s=60), [9, 3, 3, 3, 3], 9, 15, [9, 9, 9, 9, 3]),
        # up: the smallest of the last minute
        (up(policy("percent", 100, 15), stabilisation_s=60), [4, 8, 8, 8, 8], 4, 15, [4, 4, 4, 4, 8]),
        (up(policy("percent", 100, 15), stabilisation_s=60), [4, 8, 6, 8, 7], 4, 15, [4, 4, 4, 4, 6]),
        # percent up is rounded up, down cut off: 3 x 1.1 = 3.3 → 4; 9 x 0.5 = 4.5 → 4
        (up(policy("percent", 10, 15)), [9], 3, 15, [4]),
        (down(policy("percent", 50, 15)), [1], 9, 15, [4]),
        # a step down within the up period gives it back: 10 → 6, then from 10 + 4 of that period
        (Hpa(down=Behaviour(policies=(policy("percent", 100, 15),))), [6, 30], 10, 5, [6, 20]),
        # bounds last
        (Hpa(least=3, most=12), [40], 8, 15, [12]),
        (Hpa(least=3, down=Behaviour(policies=(policy("percent", 100, 15),))), [0], 8, 15, [3]),
    ],
)
def test_behaviour(hpa: Hpa, asked: list[int], start: int, every_s: float, found: list[int]) -> None:
    assert run(hpa, asked, start, every_s) == found


def test_what_a_guard_rail_did_not_let_through_was_not_added() -> None:
    wanted, state = Hpa().behave(20, 4, 0, None)
    assert wanted == 8
    assert Hpa().behave(20, 6, 5, state)[0] == 8  # 2 of the 4 are there: from 4 at the start of the period to 8
    assert Hpa().behave(20, 8, 5, state)[0] == 8
    assert Hpa().behave(20, 4, 5, state)[0] == 8  # none is there


def seen(value: float | None, workers: int = 4, ready: int = 4, late: bool = False) -> Seen:
    return Seen(0, 15, workers, ready, 10, 10, value, value, 1.0, 0.0, 0.1, late)


def test_a_window_as_the_policy_sees_it() -> None:
    hpa = Hpa(target=0.5)
    assert hpa(seen(1.0), None)[0].workers == 8
    assert hpa(seen(0.55), None)[0].workers == 4
    assert hpa(seen(1.0, workers=6), None)[0].workers == 8  # 4 at 1.0 and 2 not ready at 0: 4/6 / 0.5 x 6
    assert hpa(seen(None), None)[0].workers is None
    assert hpa(seen(float("nan")), None)[0].workers is None
    assert hpa(seen(1.0, late=True), None)[0].workers is None
    assert hpa(seen(1.0, ready=0), None)[0].workers is None
