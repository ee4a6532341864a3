"""Designs: counts, balance, aliases, orders; analyses against textbook figures; bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sojourn.cli.app import command_line
from sojourn.design import (
    Factor,
    additivity,
    alias_table,
    anova,
    factorial_effects,
    fractional,
    full_factorial,
    latin_hypercube,
    read_runs,
    repetitions,
    residuals,
    sobol,
    write_runs,
)  # fmt: skip
from sojourn.design.analyse.analysis_report import analysis, document
from sojourn.design.make.fractional import resolution
from sojourn.errors import DesignError
from sojourn.report import render_html

TWO = [Factor(name, (-1, 1)) for name in "abcdefg"]


def test_every_combination_once_a_repetition_in_an_order_of_its_own() -> None:
    runs = full_factorial([Factor("servers", (2, 3)), Factor("workers", (8, 16, 32))], 4, seed=3)
    assert runs.columns == ["run", "block", "repetition", "servers", "workers"]
    assert runs["run"].to_list() == list(range(1, 25))
    assert runs.group_by("servers", "workers", "repetition").len()["len"].to_list() == [1] * 24
    orders = [
        tuple(part.select("servers", "workers").rows()) for _, part in runs.group_by("block", maintain_order=True)
    ]
    assert len(set(orders)) == 4
    assert runs.equals(full_factorial([Factor("servers", (2, 3)), Factor("workers", (8, 16, 32))], 4, seed=3))


def test_jain_example_17_1_memory_cache_study() -> None:
    """Jain (1991), Example 17.1, p. 285: workstation, memory 4/16 MB, cache 1/2 kB; y = 40 + 20 xA + 10 xB + 5 xA xB."""
    runs = pl.DataFrame({"memory": [4, 16, 4, 16], "cache": [1, 1, 2, 2], "mips": [15, 45, 25, 75]})
    found = factorial_effects(runs, "mips", ["memory", "cache"])
    assert found.table["estimate"].to_list() == [40, 20, 10, 5]
    assert [round(100 * s) for s in found.table["share_of_total"].to_list()[1:]] == [76, 19, 5]
    assert found.error_sd is None and found.table["low"].to_list() == [None] * 4


def test_jain_example_18_1_memory_cache_study_with_repetitions() -> None:
    """Jain (1991), Examples 18.1-18.4, pp. 294-298: 41, 21.5, 9.5, 5; SSE 102, SST 7032; s_e 3.57, intervals +-1.92 at 90 %."""
    values = {(4, 1): (15, 18, 12), (16, 1): (45, 48, 51), (4, 2): (25, 28, 19), (16, 2): (75, 75, 81)}
    rows = [{"memory": m, "cache": c, "y": y} for (m, c), ys in values.items() for y in ys]
    found = factorial_effects(pl.DataFrame(rows), "y", ["memory", "cache"], level=0.9)
    assert found.table["estimate"].to_list() == pytest.approx([41, 21.5, 9.5, 5])
    assert (found.sse, found.sst) == pytest.approx((102, 7032))
    assert found.error_sd == pytest.approx(3.57, abs=0.005)
    assert found.effect("memory")["high"] - 21.5 == pytest.approx(1.92, abs=0.005)
    assert [round(100 * s, 2) for s in found.table["share_of_total"].to_list()[1:]] == [78.88, 15.4, 4.27]


def test_a_half_fraction_confounds_as_its_generator_says() -> None:
    """Jain (1991), Section 19.3, pp. 318-320: D = ABC gives I = ABCD, A = BCD, AB = CD; resolution IV."""
    aliases = dict(alias_table(TWO[:4], ["D=ABC"]).iter_rows())
    assert (aliases["I"], aliases["A"], aliases["AB"]) == ("ABCD", "BCD", "CD")
    assert resolution(TWO[:4], ["D=ABC"]) == 4
    runs = fractional(TWO[:4], ["D=ABC"], 2)
    assert len(runs) == 16 and (runs["d"] == runs["a"] * runs["b"] * runs["c"]).all()


def test_a_saturated_fraction_has_orthogonal_columns() -> None:
    """Jain (1991), Section 19.1: 2^(7-4), D=AB, E=AC, F=BC, G=ABC; resolution III."""
    runs = fractional(TWO, ["D=AB", "E=AC", "F=BC", "G=ABC"]).select(["abcdefg"] if False else list("abcdefg"))
    columns = runs.to_numpy()
    assert (columns.T @ columns == 8 * np.eye(7)).all()
    assert resolution(TWO, ["D=AB", "E=AC", "F=BC", "G=ABC"]) == 3


def test_sampled_designs_fill_every_slice() -> None:
    box = [Factor("rate", (10.0, 20.0)), Factor("workers", (1, 8))]
    hypercube = latin_hypercube(box, 10, seed=2)
    assert sorted(np.floor(hypercube["rate"].to_numpy() - 10).astype(int)) == list(range(10))
    assert set(hypercube["workers"]) <= set(range(1, 9))
    points = sobol(box, 64, seed=1)
    assert np.bincount(np.floor((points["rate"].to_numpy() - 10) / 10 * 8).astype(int)).tolist() == [8] * 8


def test_repetitions_for_an_interval() -> None:
    """Jain (1991), Section 13.9.1, p. 216: mean 20, s 5, r = 5 %: 96.04, so 97, with the normal quantile; t asks for 99."""
    assert repetitions(0.05, (5 / 20) ** 2, 0.95) == 99


def test_more_levels_by_analysis_of_variance() -> None:
    """Jain (1991), Example 20.1-20.5, pp. 328-334: code size by processor, three levels; SSA 10992.13, SSE 94365.2, F 0.7."""
    values = {"R": (144, 120, 176, 288, 144), "V": (101, 144, 211, 288, 72), "Z": (130, 180, 141, 374, 302)}
    runs = pl.DataFrame([{"processor": p, "size": y} for p, ys in values.items() for y in ys])
    found = anova(runs, "size", ["processor"], order=1)
    rows = {row["source"]: row for row in found.table.to_dicts()}
    assert rows["processor"]["sum_of_squares"] == pytest.approx(10992.13, abs=0.01)
    assert rows["error"]["sum_of_squares"] == pytest.approx(94365.2, abs=0.1)
    assert rows["processor"]["f"] == pytest.approx(0.7, abs=0.01)


def test_effects_that_multiply_ask_for_logarithms() -> None:
    random = np.random.default_rng(1)
    fitted = np.repeat([1.0, 4.0, 16.0, 64.0], 6)
    assert residuals(fitted, fitted * random.normal(0, 0.1, 24)).suggestion.startswith("analyse the logarithm")
    assert residuals(fitted / 64 + 100, random.normal(0, 0.1, 24)).suggestion.startswith("none")


def test_a_run_list_goes_by_way_of_a_file_and_its_report_can_be_shown(tmp_path: Path) -> None:
    runs = full_factorial([Factor("servers", (2, 3)), Factor("workers", (8, 32))], 3)
    y = pl.Series("y", [100 + 10 * r["servers"] + r["workers"] + r["run"] % 3 for r in runs.to_dicts()])
    write_runs(runs.with_columns(y), tmp_path / "runs.csv")
    found = analysis(read_runs(tmp_path / "runs.csv"), "y")
    assert found.effects and found.anova and found.effects.effect("workers")["estimate"] == pytest.approx(12, abs=1)
    page = render_html(document(found))
    assert "workers" in page and "Normal quantiles" in page
    assert found.as_dict()["effects"][1]["effect"] == "servers"


def write(path: Path, text: str) -> pl.DataFrame:
    path.write_text(text)
    return read_runs(path)


BAD = {
    "one level": lambda p: Factor.parse("servers=2"),
    "no level": lambda p: Factor.parse("servers="),
    "a level twice": lambda p: Factor.parse("servers=2,2"),
    "no equals": lambda p: Factor.parse("servers"),
    "a reserved name": lambda p: Factor.parse("run=1,2"),
    "two factors of one name": lambda p: full_factorial([TWO[0], TWO[0]]),
    "no factor": lambda p: full_factorial([]),
    "no repetition": lambda p: full_factorial(TWO, 0),
    "too many runs": lambda p: full_factorial([Factor(f"f{k}", tuple(range(100))) for k in range(4)]),
    "an unknown block": lambda p: full_factorial(TWO, block="day"),
    "three levels in a fraction": lambda p: fractional([Factor("a", (1, 2, 3)), *TWO[1:3]], ["C=AB"]),
    "a generator of one letter": lambda p: fractional(TWO[:3], ["C=A"]),
    "a generator of a generated letter": lambda p: fractional(TWO[:5], ["D=AB", "E=DC"]),
    "a generator twice": lambda p: fractional(TWO[:4], ["D=AB", "D=ABC"]),
    "no generator": lambda p: fractional(TWO[:4], []),
    "words in a box": lambda p: latin_hypercube([Factor("a", ("x", "y"))], 4),
    "one sample": lambda p: latin_hypercube([Factor("a", (1.0, 2.0))], 1),
    "Sobol without a power of two": lambda p: sobol([Factor("a", (1.0, 2.0))], 12),
    "a width of zero": lambda p: repetitions(0, 1),
    "a width that cannot be had": lambda p: repetitions(1e-9, 1),
    "no file": lambda p: read_runs(p / "none.csv"),
    "no such response": lambda p: analysis(write(p / "r.csv", "a,y\n1,2\n2,3\n"), "z"),
    "no such factor": lambda p: analysis(write(p / "r.csv", "a,y\n1,2\n2,3\n"), "y", ["b"]),
    "no factor at all": lambda p: analysis(write(p / "r.csv", "y,a\n1,2\n2,3\n"), "y"),
    "words for numbers": lambda p: analysis(write(p / "r.csv", "a,y\n1,fast\n2,slow\n"), "y"),
    "nothing filled in": lambda p: analysis(pl.DataFrame({"a": [1, 2], "y": [None, None]}, schema={"a": pl.Int64, "y": pl.Float64}), "y"),
    "rows that are not balanced": lambda p: factorial_effects(pl.DataFrame({"a": [1, 1, 2], "y": [1.0, 2, 3]}), "y"),
    "a level outside": lambda p: factorial_effects(pl.DataFrame({"a": [1, 1, 2, 2], "y": [1.0, 2, 3, 4]}), "y", level=90),
    "too few runs for an ANOVA": lambda p: anova(pl.DataFrame({"a": [1, 2], "y": [1.0, 2.0]}), "y"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(DesignError) as error:
        BAD[name](tmp_path)
    assert str(error.value).count(";") >= 1 and len(str(error.value)) < 400


def test_the_verbs_make_and_analyse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command_line()(
        ["design", "make", "2^3*3", "--factor", "servers=2,3", "--factor", "proxies=1,2", "--factor", "workers=8,32"],
        standalone_mode=False,
    )
    path = tmp_path / "runs.csv"
    path.write_text(capsys.readouterr().out)
    runs = read_runs(path)
    assert len(runs) == 24
    write_runs(runs.with_columns(throughput=pl.col("servers") * 100 + pl.col("workers") + pl.col("repetition")), path)
    out = tmp_path / "report.html"
    command_line()(
        ["design", "analyse", str(path), "--response", "throughput", "--out", str(out)], standalone_mode=False
    )
    assert "servers" in capsys.readouterr().out and out.exists()
    with pytest.raises(DesignError, match="give 4 factors"):
        command_line()(["design", "make", "2^4", "--factor", "servers=2,3"], standalone_mode=False)


def scaled(power: float, noise: float = 0.002, seed: int = 4) -> pl.DataFrame:
    """2^2 4 runs whose main effects add for y^power (0: log y), with errors there."""
    rng = np.random.default_rng(seed)
    rows = []
    for a in (-1, 1):
        for b in (-1, 1):
            for _ in range(4):
                z = 3.0 + 0.25 * a + 0.2 * b + rng.normal(0, noise)
                rows.append({"a": a, "b": b, "y": float(np.exp(z) if power == 0 else z ** (1 / power))})
    return pl.DataFrame(rows)


@pytest.mark.parametrize("power", [-1.0, -0.5, 0.0, 0.5])
def test_tukeys_degree_of_freedom_finds_the_scale_on_which_effects_add(power: float) -> None:
    """Tukey (1949): the power is that on whose scale the runs were made, about, since it is of second order."""
    found = additivity(scaled(power), "y")
    assert found.p is not None and found.p < 0.01
    assert found.share == pytest.approx(1.0)  # of a 2^2 experiment there is one interaction
    assert found.power == pytest.approx(power, abs=0.12)
    assert "analyse the" in found.suggestion


def test_what_adds_or_interacts_otherwise_is_left_alone() -> None:
    assert "no other scale" in additivity(scaled(1.0, noise=0.05), "y").suggestion
    crossed = pl.DataFrame(
        [{"a": a, "b": b, "y": 5.0 + a * b + 0.01 * k} for a in (-1, 1) for b in (-1, 1) for k in range(3)]
    )
    assert additivity(crossed, "y").power == 1.0
    assert "too few data to judge" in additivity(crossed.with_columns(y=-pl.col("y")), "y").suggestion


def test_an_analysis_reports_variation_by_effect_and_the_scale() -> None:
    found = analysis(scaled(0.0), "y")
    page = render_html(document(found))
    assert "Allocation of variation" in page and "analyse the logarithm" in page
    assert found.as_dict()["additivity"]["power"] == pytest.approx(0.0, abs=0.12)
