"""Plain interpolation: exact where 1/X is straight, and it says nothing of what was not run."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from kv_rows import row, rows_of

from sojourn_cases.kv.plain_interpolation import TEMPLATE, DesignLines, FittedInterpolation, fitted_lines

SPEED = 80e-6


def run(servers: int, keys: int, size: int, clients: int, slow: float = 1.0) -> dict[str, Any]:
    """1/X of a machine that is straight in everything: s an operation; `keys` 0: a set. Cores `slow` times as slow as usual."""
    of = 4e-6 * servers + 1e-6 * max(keys, 1) + 0.5e-6 * max(keys, 1) * size / 1024 + 30e-6 / clients
    workload = "set" if keys == 0 else "get" if keys == 1 else f"multi-{keys}"
    x = 1 / (of * slow**1.5)
    given = {"design": "direct", "servers": servers, "workers": 0, "workload": workload, "value_bytes": size}
    return row(x, clients, response_s=clients / x - 2e-5, own_s=2e-5, proxy_work_s=SPEED * slow, **given)


LEVELS = list(product((1, 3), (0, 1, 6), (256, 4096), (2, 20, 120)))


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    slow = np.random.default_rng(2).choice([1.0, 1.0, 1.2, 1.35], len(LEVELS))
    return rows_of(*(run(*level, slow=s) for level, s in zip(LEVELS, slow, strict=True)))


def test_straight_lines_come_back_with_the_speed_of_the_cores(rows: pl.DataFrame) -> None:
    found = fitted_lines(rows)
    assert found.exponent == pytest.approx(1.5)
    assert found.own == pytest.approx((2e-5, 0.0), abs=1e-9)
    for keys, slow in product((0, 3), (1.0, 1.3)):
        new = rows_of(run(2, keys, 1500, 50, slow))
        if keys:  # between those that were run
            assert found.cycle_s(new)[0] == pytest.approx(50 / new["throughput_per_s"][0], rel=0.02)
            assert found.response_s(new)[0] == pytest.approx(new["response_s"][0], rel=0.02)


def test_a_mix_is_half_of_each(rows: pl.DataFrame) -> None:
    found = fitted_lines(rows)
    of = {
        w: found.cycle_s(rows_of(row(1.0, 50, workload=w, design="direct", workers=0)))[0]
        for w in ("set", "get", "mixed")
    }
    assert of["mixed"] == pytest.approx((of["set"] + of["get"]) / 2)


def test_a_set_for_each_get_of_several_keys_is_half_of_each(rows: pl.DataFrame) -> None:
    found = fitted_lines(rows)
    of = {
        w: found.cycle_s(rows_of(row(1.0, 50, workload=w, design="direct", workers=0)))[0]
        for w in ("set", "multi-6", "mixed-6")
    }
    assert of["mixed-6"] == pytest.approx((of["set"] + of["multi-6"]) / 2)


def test_it_says_nothing_of_what_was_not_run(rows: pl.DataFrame) -> None:
    gets = FittedInterpolation({"direct": fitted_lines(rows.filter(pl.col("workload") != "set"))})
    point = {
        "design": "direct",
        "servers": 2,
        "proxies": 1,
        "workers": 0,
        "workload": "get",
        "sharded": False,
        "clients": 9,
    }
    told = gets.predict(point, 0.9)
    assert told.value("throughput") > 0 and told.interval("throughput") == (None, None), "nothing was left out"
    assert gets.predict({**point, "workload": "set"}, 0.9).frame.is_empty()
    assert gets.predict({**point, "design": "none"}, 0.9).frame.is_empty()


def test_nine_tenths_of_the_errors_lie_in_an_interval() -> None:
    """The ninth of nine errors is the 90 % quantile of ten; with eight there is none."""
    one = DesignLines(
        {}, 0.0, (0.0, 0.0), 0.0, 0.0, (tuple(0.01 * k for k in range(1, 10)), tuple(0.01 * k for k in range(8)))
    )
    assert one.factor(0, 0.9) == pytest.approx(math.exp(0.09))
    assert one.factor(1, 0.9) is None


def test_a_file_that_is_none_is_an_error(tmp_path: Any) -> None:
    (tmp_path / "other.toml").write_text("[fit]\nx = 1\n")
    from sojourn.errors import InputError

    with pytest.raises(InputError, match="not a fitted model"):
        TEMPLATE.read(tmp_path / "other.toml")
