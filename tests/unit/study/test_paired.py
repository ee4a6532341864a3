"""Two treatments in pairs: against scipy's paired t, the slope form of Pitman's test, and the frequency of errors where the truth is
known."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sojourn.design.analyse.paired import compare_pairs, ratio_of_pairs
from sojourn.errors import DesignError, StudyError
from sojourn.runs.run_folder import RunFolder
from sojourn.study.paired_runs import paired_analysis, run_pairs
from sojourn.table import Metrics


def drawn(
    random: np.random.Generator, n: int, sd: tuple[float, float], ratio: float = 1.0
) -> tuple[list[float], list[float]]:
    """Pairs with a part in common, so that they are correlated."""
    common = random.normal(0, 0.03, n)
    first = np.exp(common + random.normal(0, sd[0], n))
    return list(first), list(ratio * np.exp(common + random.normal(0, sd[1], n)))


def test_mean_is_students_paired_test_of_the_logarithms() -> None:
    first, second = drawn(np.random.default_rng(1), 9, (0.03, 0.05), 1.06)
    told = compare_pairs(first, second)
    known = stats.ttest_rel(np.log(second), np.log(first))
    interval = known.confidence_interval(0.9)
    assert told.ratio.p == pytest.approx(known.pvalue, rel=1e-9)
    assert (told.ratio.low, told.ratio.high) == pytest.approx((np.exp(interval.low), np.exp(interval.high)), rel=1e-9)


def test_a_ratio_alone_takes_one_pair_or_more() -> None:
    first, second = drawn(np.random.default_rng(1), 9, (0.03, 0.05), 1.06)
    assert ratio_of_pairs(first, second) == compare_pairs(first, second).ratio
    few = ratio_of_pairs(
        [1.0, 1.0], [1.0, np.e]
    )  # logarithms 0 and 1: 1/2 with an error of 1/2, and one degree of freedom
    reach = stats.t.ppf(0.95, 1) / 2
    assert (few.value, few.low, few.high) == pytest.approx(tuple(np.exp([0.5, 0.5 - reach, 0.5 + reach])))
    one = ratio_of_pairs([2.0], [3.0])
    assert one.value == pytest.approx(1.5) and np.isnan(one.low) and np.isnan(one.high)
    with pytest.raises(DesignError, match="0 and 0 values"):
        ratio_of_pairs([], [])


def test_spread_is_pitmans_test() -> None:
    first, second = drawn(np.random.default_rng(2), 12, (0.02, 0.05))
    x, y = np.log(first), np.log(second)
    told = compare_pairs(first, second)
    assert told.spread_p == pytest.approx(stats.pearsonr(y - x, x + y).pvalue, rel=1e-9)
    assert told.spreads == pytest.approx((x.std(ddof=1), y.std(ddof=1)))


def test_both_tests_err_as_often_as_they_say() -> None:
    random = np.random.default_rng(3)
    told = [compare_pairs(*drawn(random, 8, (0.05, 0.05))) for _ in range(2000)]
    for wrong in (sum(one.ratio.p <= 0.05 for one in told), sum(one.spread_p <= 0.05 for one in told)):
        assert stats.binomtest(wrong, 2000, 0.05).pvalue > 1e-3
    assert stats.binomtest(sum(one.ratio.low <= 1.0 <= one.ratio.high for one in told), 2000, 0.9).pvalue > 1e-3


def test_pairs_needed_find_the_spread_four_times_of_five() -> None:
    """Without a common part the correlation of difference and sum is (v2 - v1)/(v2 + v1); 3.5 % against 5.6 % needs about 37 pairs."""
    v1, v2 = 0.035**2, 0.056**2
    n = int(np.ceil(3 + ((1.959964 + 0.841621) / np.arctanh((v2 - v1) / (v2 + v1))) ** 2))
    random = np.random.default_rng(4)
    pairs = [(np.exp(random.normal(0, 0.035, n)), np.exp(random.normal(0, 0.056, n))) for _ in range(1000)]
    found = sum(compare_pairs(list(a), list(b)).spread_p <= 0.05 for a, b in pairs)
    assert 0.76 < found / 1000 < 0.85
    many = compare_pairs(list(np.exp(random.normal(0, 0.035, 100_000))), list(np.exp(random.normal(0, 0.056, 100_000))))
    assert many.spread_pairs is not None and abs(many.spread_pairs - n) <= 2


def test_covariate_takes_its_share_away() -> None:
    """A covariate that explains the whole difference: adjusted, none is left; slope and intercept as scipy's regression."""
    random = np.random.default_rng(5)
    near, far = np.exp(random.normal(0, 0.5, 20)), np.exp(0.4 + random.normal(0, 0.5, 20))
    noise = random.normal(0, 0.01, (2, 20))
    first, second = np.exp(-0.1 * np.log(near) + noise[0]), np.exp(-0.1 * np.log(far) + noise[1])
    told = compare_pairs(list(first), list(second), (list(near), list(far)))
    known = stats.linregress(np.log(far / near), np.log(second / first))
    assert told.exponent is not None and told.adjusted is not None
    assert told.exponent.value == pytest.approx(known.slope) and told.exponent.p == pytest.approx(known.pvalue)
    assert np.log(told.adjusted.value) == pytest.approx(known.intercept)
    assert told.adjusted.low < 1.0 < told.adjusted.high < 1.02  # four standard errors above the noise of the runs
    assert told.adjusted.high - told.adjusted.low < 0.3 * (told.ratio.high - told.ratio.low)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [([1.0, 2.0], [1.0, 2.0], "2 and 2 values"), ([1.0, 2.0, 3.0], [1.0, 2.0], "3 and 2"), ([1.0, 0.0, 2.0], [1.0, 1.0, 1.0], "0.0")],
)  # fmt: skip
def test_mistakes(first: list[float], second: list[float], said: str) -> None:
    with pytest.raises(DesignError, match=said):
        compare_pairs(first, second)


def test_same_covariate_everywhere_adjusts_nothing() -> None:
    told = compare_pairs([1.0, 1.1, 1.05, 1.2], [1.1, 1.3, 1.1, 1.2], ([1.0] * 4, [1.0] * 4))
    assert told.exponent is None and told.adjusted is None


def runs(
    where: Path, values: dict[tuple[str, int, int], float], invalid: tuple[str, int, int] | None = None
) -> list[RunFolder]:
    """A run for each (placement, users, repetition), of this throughput; response time its reciprocal."""
    found = []
    for key, value in values.items():
        out = where / "-".join(map(str, key))
        out.mkdir()
        rows = [{"metric": "throughput", "value": value}, {"metric": "response_time", "value": 1 / value}]
        Metrics.of(rows, "measured").write(out / "metrics.parquet")
        factors = {"placement": key[0], "users": key[1]}
        found.append(RunFolder(out, {"factors": factors, "repetition": key[2], "valid": key != invalid}))
    return found


def analysed(folders: list[RunFolder], options: dict[str, Any]) -> Any:
    found = SimpleNamespace(of=lambda section: folders if section == "mapping" else [])
    plan = SimpleNamespace(system=SimpleNamespace(factors={"placement": None, "users": None}, known=lambda factors: {}))
    return paired_analysis(found, plan, options)  # type: ignore[arg-type]


def test_pairs_are_runs_of_one_repetition_that_differ_in_nothing_else(tmp_path: Path) -> None:
    keys = [(where, users, k) for where in ("shared", "own_core") for users in (10, 20) for k in (1, 2)]
    folders = runs(tmp_path, dict.fromkeys(keys, 1.0), invalid=("own_core", 20, 2))
    pairs = run_pairs(folders, "placement", ("shared", "own_core"))
    names = [(one.path.name, other.path.name) for one, other in pairs]
    assert sorted(names) == [(f"shared-{p}", f"own_core-{p}") for p in ("10-1", "10-2", "20-1")]


def test_analysis_tells_ratio_spread_and_pairs(tmp_path: Path) -> None:
    first, second = drawn(np.random.default_rng(6), 8, (0.001, 0.001), 1.059)
    values = {("own_core", 600, k): v for k, v in enumerate(second)} | {
        ("shared", 600, k): v for k, v in enumerate(first)
    }
    told = analysed(
        runs(tmp_path, values), {"section": "mapping", "factor": "placement", "values": ["shared", "own_core"]}
    )
    assert told.lines[0].startswith("placement own_core against shared: throughput 1.0") and "8 pairs" in told.lines[0]
    assert not told.warn and len(told.sections) == 1


def test_few_pairs_are_said_and_mistakes_named(tmp_path: Path) -> None:
    folders = runs(tmp_path, {("shared", 1, 1): 1.0, ("own_core", 1, 1): 1.0})
    told = analysed(folders, {"section": "mapping", "factor": "placement"})
    assert told.warn and "at least 3" in told.lines[0]
    for options, said in (
        ({"section": "mapping"}, "give section, factor"),
        ({"section": "mapping", "factor": "placment"}, "placement"),
        ({"section": "mapping", "factor": "users"}, "give two of"),
    ):
        with pytest.raises(StudyError, match=said):
            analysed(folders, options)
