"""Which runs stand beside which, and what is said of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from compare.two_workers import write_runs

import sojourn as sj
from sojourn.compare import Comparison, RunValues, compare_values
from sojourn.compare.comparison import names_of
from sojourn.errors import InputError, LoadError, RunFolderError, ServiceError


def side(times: list[float], rate: float = 50, **more: Any) -> list[RunValues]:
    factors = {"rate_per_s": rate, **more.pop("factors", {})}
    return [
        RunValues(f"rate-{rate:g} {k}", {"mean": t, "throughput": rate}, factors, **more) for k, t in enumerate(times)
    ]


A = [0.0100, 0.0101, 0.0099, 0.0100]


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "equivalent"), (1.02, "equivalent"), (1.3, "worse"), (0.7, "better")]
)
def test_verdicts(factor: float, verdict: str) -> None:
    found = compare_values(side(A), side([factor * t for t in A]))
    assert found.verdict == verdict and found["mean"].change == pytest.approx(factor - 1)
    assert found["mean"].differs == (factor != 1.0), "a difference may be certain and too small to matter"
    who = "A and B are" if verdict == "equivalent" else "B is"
    assert found.first_line().startswith(f"{who} {verdict}: mean response time ")


def test_more_throughput_is_better() -> None:
    a, b = (
        [RunValues(str(k), {"throughput": t * (1 + k / 1000)}, {"users": 4}) for k in range(4)] for t in (100.0, 120.0)
    )
    assert compare_values(a, b).verdict == "better"


def test_cannot_tell_and_how_many_more_runs() -> None:
    found = compare_values(side([0.010, 0.012, 0.009]), side([0.011, 0.013, 0.009]))
    more = found["mean"].further_runs_needed
    assert found.verdict == "cannot tell" and more is not None and more > 10
    assert f"about {found['mean'].further_runs_needed_if_as_measured} more runs" in found.first_line()


def test_one_run_of_a_side_tells_nothing() -> None:
    found = compare_values(side([0.010]), side([0.020]))
    assert found.verdict == "cannot tell" and found["mean"].low is None
    assert "at least 2 more of each side are needed" in found.first_line()


def test_one_block_of_two_conditions_has_no_interval_and_says_so() -> None:
    a, b = ([*side([t], 50, block="block-1"), *side([t], 100, block="block-1")] for t in (0.010, 0.011))
    found = compare_values(a, b)
    assert found.run_counts == (2, 2) and found["mean"].low is None
    assert "at least 4 more of each side in each condition are needed" in found.first_line()


def test_more_runs_are_told_of_each_condition_and_of_the_side_that_has_fewer() -> None:
    """`more_runs` are of a condition: with four of them four times as many runs are meant."""
    a, b = (
        [one for rate in (50, 60, 70, 80) for one in side([f * 0.010, f * 0.014, f * 0.009], rate)] for f in (1, 1.02)
    )
    found = compare_values(a, b)
    assert (
        f"{found['mean'].further_runs_needed} more runs of each side in each condition would decide"
        in found.first_line()
    )
    few = compare_values(side([0.010, 0.014, 0.009]), side([0.010, 0.014, 0.009] * 3), names=("old", "new"))
    told = f"{few['mean'].further_runs_needed} more runs of old, and at least as many of new in all, would decide"
    assert told in few.first_line()


def test_other_rates_are_refused_and_said() -> None:
    with pytest.raises(InputError, match="A ran at rate_per_s = 50; B ran at rate_per_s = 60"):
        compare_values(side(A), side(A, 60))


def test_runs_at_several_rates_are_pairs_by_rate() -> None:
    """The response time is thrice as long at the higher rate, which is no difference between the sides."""
    a = [*side([0.010], 50), *side([0.020], 75), *side([0.030], 100), *side([0.045], 125), *side([0.060], 150)]
    b = [*side([0.0202], 50), *side([0.0401], 75), *side([0.0598], 100), *side([0.0899], 125), *side([0.12], 150)]
    b += side([9.0], 200)
    found = compare_values(a, b)
    assert found.verdict == "worse" and found["mean"].change == pytest.approx(1.0, abs=0.01)
    assert found.run_order.startswith("5 pairs, one per condition")
    assert any("left out of B" in note and "rate_per_s = 200" in note for note in found.notes)


def test_a_factor_that_differs_between_the_sides_is_what_is_compared() -> None:
    found = compare_values(side(A, factors={"workers": 2}), side([0.7 * t for t in A], factors={"workers": 4}))
    assert found.verdict == "better" and found.other_differences == "workers 2 → 4"
    with pytest.raises(InputError, match="workers = 2"):
        compare_values(
            [*side(A, factors={"workers": 2}), *side(A, factors={"workers": 3})], side(A, factors={"workers": 4})
        )


def test_a_slow_machine_in_some_blocks_is_not_in_the_difference() -> None:
    slow = [1.0, 3.0, 1.1, 2.0, 1.5]
    a = [RunValues("a", {"mean": 0.01 * s}, {}, f"block-{k}") for k, s in enumerate(slow)]
    b = [RunValues("b", {"mean": 0.0102 * s * (1 + k / 1000)}, {}, f"block-{k}") for k, s in enumerate(slow)]
    assert compare_values(a, b).verdict == "equivalent"
    alone = [RunValues(one.name, one.values, {}) for one in b]
    assert compare_values(a, alone).verdict == "cannot tell", "without blocks on both sides nothing belongs together"
    fewer = compare_values(a, b[:-1])
    assert fewer.run_counts == (4, 4) and any("block-4" in note for note in fewer.notes)


def test_blocks_of_which_none_has_both_sides_are_not_said_to_be_left_out() -> None:
    a, b = ([RunValues("", {"mean": t}, {}, f"block-{first + k}") for k, t in enumerate(A)] for first in (1, 5))
    found = compare_values(a, b)
    assert found.run_counts == (4, 4) and found.notes == ("no block has both sides: runs are not paired",)


def test_what_is_not_alike_is_looked_for_in_all_runs_of_a_side() -> None:
    def runs(*kernels: str) -> list[RunValues]:
        return [
            RunValues("", {"mean": t}, {}, alike={"machine.kernel": k}) for t, k in zip(A, 2 * kernels, strict=False)
        ]

    found = compare_values(runs("6.1", "6.1"), runs("6.1", "6.8"))
    assert found.notes == ("not measured alike: machine.kernel is 6.1 in A and 6.1; 6.8 in B",)
    assert compare_values(runs("6.1", "6.8"), runs("6.8", "6.1")).notes == ()


def test_runs_that_are_not_valid_are_left_out_and_said() -> None:
    bad = side([9.0], reasons=("not stationary: the response time drifted",))
    found = compare_values(side(A), [*side(A), *bad])
    assert found.verdict == "equivalent" and found.run_counts == (4, 4)
    assert "1 of 5 runs of B are not valid" in found.notes[0] and "drifted" in found.notes[0]
    with pytest.raises(LoadError, match="drifted.*at a load that it can take"):
        compare_values(side(A), bad)
    with pytest.raises(LoadError, match="end what disturbed them, and measure again"):
        compare_values(side(A), side([9.0], reasons=("disturbed: other processes used 130% of a core",)))


def test_a_side_whose_runs_were_overloaded_is_not_called_better_or_equivalent() -> None:
    """What is left of it is what was not."""
    bad = side([9.0, 9.0], reasons=("flow is not balanced: 400 requests, 300 answers; the service is saturated",))
    for factor in (1.0, 0.7):
        found = compare_values(side(A), [*side([factor * t for t in A]), *bad])
        assert found.verdict == "cannot tell" and "overloaded" in found.first_line()
        assert any("B cannot be called better or equivalent" in note for note in found.notes)
    assert compare_values(side(A), [*side([1.3 * t for t in A]), *bad]).verdict == "worse"
    assert compare_values([*side(A), *bad], side([0.7 * t for t in A])).verdict == "better"
    failed = side([9.0], reasons=("90 of 300 requests after the warm-up failed (HTTP 500: 90); at most 1%",))
    with pytest.raises(ServiceError, match="HTTP 500"):
        compare_values(side(A), failed)


def test_several_metrics_are_judged_together() -> None:
    """Each at 1 - 0.1/2, so that both hold at 0.9 (Bonferroni)."""
    found = compare_values(side(A), side([0.7 * t for t in A]), metrics=["mean", "throughput"])
    assert [one.level for one in found.judged] == pytest.approx([0.95, 0.95])
    assert found.verdict == "better" and found["throughput"].verdict == "equivalent"
    assert not compare_values(side(A), side(A), metrics=["mean"])["throughput"].part_of_verdict


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"equivalence_margin": 0.0}, "--equivalence-margin"),
        ({"level": 1.0}, "--level"),
        ({"metrics": ["p42"]}, "mean, throughput"),
    ],
)
def test_values_that_cannot_be(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare_values(side(A), side(A), **wrong)


def test_run_folders(tmp_path: Path) -> None:
    write_runs(tmp_path / "a", 0.001, 1)
    write_runs(tmp_path / "b", 0.011, 2)
    found: Comparison = sj.compare(tmp_path / "a", tmp_path / "b", names=("old", "new"))
    # M/M/2 at 100/s with 6 ms: 6/(1 - 0.3^2) = 6.59 ms (Kleinrock), and the delays
    assert found["mean"].a == pytest.approx(7.59e-3, rel=0.05) and found["mean"].b == pytest.approx(17.59e-3, rel=0.05)
    assert found.verdict == "worse" and found.run_counts == (3, 3) and "at rate_per_s = 100" in found.run_order
    assert {one.metric for one in found.metrics} == {"mean", "p50", "p90", "p99", "throughput"}
    assert found.to_dict()["metrics"][0]["verdict"] == "worse"
    with pytest.raises(InputError, match="on both sides"):
        sj.compare(tmp_path / "a", tmp_path / "a" / "1")
    with pytest.raises(RunFolderError, match="no such folder"):
        sj.compare(tmp_path / "a", tmp_path / "c")
    with pytest.raises(RunFolderError, match="no such folder"):
        sj.compare(tmp_path, tmp_path / "c")


@pytest.mark.parametrize(
    ("a", "b", "names"),
    [
        ("runs/before", "runs/after", ("before", "after")), ("x/run", "y/run", ("A", "B")),
        ("b", "a", ("A", "B")), ("x" * 25, "y", ("A", "B")),
    ],
)  # fmt: skip
def test_folders_give_their_names_to_the_sides_where_these_tell_them_apart(
    a: str, b: str, names: tuple[str, str]
) -> None:
    assert names_of(Path(a), Path(b)) == names
