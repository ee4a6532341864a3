"""What the tables of the ASL report (2017) break, found without being told where. Expected: the errata, section 4."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from sojourn.errors import InputError
from sojourn.findings import LawViolation, findings, findings_section, read_tables
from sojourn.report import Document, render_html

DATA = Path(__file__).parent / "data"
LITTLE = "Little's law"
# the errata's list: every cell of the tables that is wrong, and nothing else
EXPECTED = {
    ("interactive law X·R = N", "table 4 and table 5", "experiment 8", "repetition 3"),
    ("interactive law X·R = N", "table 7 and table 8", "experiment 8", "repetition 3"),
    (
        "effects follow from the runs", "table 9", "q_0, q_A, q_B, q_C, q_AB, q_AC, q_BC, q_ABC",
        "response_time_mean_estimate_ms",
    ),
    ("M/M/1", "table 10", "E[w]", "estimated"),
    ("M/M/1", "table 13", "E[r]", "estimated"),
    ("M/M/128", "table 16", "Var[w]", "estimated"),
    ("E[n] ≥ E[n_q]", "table 12", "E[n]", "measured"),
    ("E[n] ≥ E[n_q]", "table 13", "E[n]", "measured"),
    *((LITTLE, f"table {n}", "E[n]", "measured") for n in range(10, 17)),
    *((LITTLE, f"table {n}", "E[n_q]", "measured") for n in (10, 11, 12, 14, 15, 16)),
    *(("a delay centre cannot be a bottleneck", f"table {n}", "Network", f"{x}_U") for n in (17, 18) for x in ("write", "read")),
    (LITTLE, "asl_sec4_2_max_throughput_full_system", "", "average_length_of_queue"),
    (
        "a response is at least as long as its parts", "asl_sec4_2_max_throughput_full_system", "32 workers",
        "throughput_derived_from_mw_rt_ops_per_s",
    ),
    (
        "interactive law X = N/R", "asl_text_interactive_checks", "section 3.1, writes with 16 workers",
        "derived_ops_per_s",
    ),
    (
        "interactive law with Z ≥ 0", "asl_text_interactive_checks", "section 3.1, reads with 8 workers",
        "derived_ops_per_s",
    ),
}  # fmt: skip


def tables() -> dict[str, pl.DataFrame]:
    return read_tables(DATA, "asl_[ts]*.csv")


def place(finding: LawViolation) -> tuple[str, str, str, str]:
    return finding.law, finding.table, finding.row, finding.column


def of(found: list[LawViolation], table: str, law: str) -> LawViolation:
    (one,) = [f for f in found if f.table == table and f.law == law]
    return one


def test_all_that_is_wrong_is_found_and_nothing_else() -> None:
    assert {place(f) for f in findings(tables())} == EXPECTED


def test_how_wrong() -> None:
    found = findings(tables())
    corrupt = {f.table: f for f in found if f.law == "interactive law X·R = N"}
    assert corrupt["table 4 and table 5"].found == "X·R = 94.6"
    assert corrupt["table 7 and table 8"].found == "X·R = 47.2"
    assert "10.7 % with it" in corrupt["table 7 and table 8"].why
    copied = of(found, "table 9", "effects follow from the runs")
    assert copied.expected == "32.79, 1.54, -9.96, -12.04, -0.37, -1.13, 2.71, -0.54"
    assert "that of table 6" in copied.why
    assert of(found, "table 10", "M/M/1").expected == "1.3438"
    assert of(found, "table 13", "M/M/1").expected == "2.2077"
    assert of(found, "table 16", "M/M/128").by == pytest.approx(5e-6 / 4.99539e-7 - 1, rel=1e-4)
    network = {(f.table, f.column): f for f in found if f.row == "Network"}
    assert network["table 17", "write_U"].expected == "Network thread (U = 1.00)"
    assert network["table 18", "read_U"].expected.startswith("no queue is saturated")


REPAIRS = {
    ("asl_table10_mm1_wt64", "E[w]"): "1.3438",
    ("asl_table13_mm1_wt8", "E[r]"): "2.2077",
    ("asl_table16_mm128_vc9", "Var[w]"): "5.0E-7",
}


@pytest.mark.parametrize("where", REPAIRS)
def test_the_right_value_is_not_found(where: tuple[str, str]) -> None:
    name, variable = where
    given = tables()
    given[name] = _replaced(given[name], variable, REPAIRS[where])
    assert not [f for f in findings(given) if f.column == "estimated" and f.table in name.replace("table", "table ")]


def _replaced(frame: pl.DataFrame, variable: str, value: str) -> pl.DataFrame:
    changed = pl.when(pl.col("variable") == variable).then(pl.lit(value)).otherwise(pl.col("estimated"))
    return frame.with_columns(changed.alias("estimated"))


STATIONS = [name for name in tables() if "_mm1" in name]
RECOMPUTED = ("ρ", "p_0", "E[n]", "E[n_q]", "E[r]", "Var[r]", "E[w]", "Var[w]")


@pytest.mark.parametrize("name", STATIONS)
@pytest.mark.parametrize("variable", RECOMPUTED)
def test_a_misprint_anywhere_is_found(name: str, variable: str) -> None:
    """Any cell with a factor of 1.3 on it, in its own digits."""
    frame = tables()[name]
    cell = Decimal(frame.filter(pl.col("variable") == variable)["estimated"][0])
    wrong = str((cell * Decimal("1.3")).quantize(cell) if cell > Decimal("1e-9") else cell * Decimal("1.3"))
    found = findings({name: _replaced(frame, variable, wrong)})
    assert any(f.row == variable and f.column == "estimated" for f in found)


def experiment(noise: float, clients: float = 192.0, lost: float = 1.0) -> dict[str, pl.DataFrame]:
    """A closed 2^2·3 experiment of our own, response times rounded to ms; one run may lose clients."""
    xs, rs = [], []
    for number, (a, b) in enumerate([(-1, -1), (-1, 1), (1, -1), (1, 1)], start=1):
        x = [(5000 + 1000 * a + 2000 * b) * (1 + noise * math.sin(7 * number + k)) for k in range(3)]
        n = [clients * (lost if (number, k) == (2, 1) else 1.0) for k in range(3)]
        x[1] *= n[1] / clients
        head = {"experiment": number, "A_servers": a, "B_workers": b}
        xs.append(head | {f"y{k + 1}_throughput_ops_per_s": f"{v:.0f}" for k, v in enumerate(x)})
        rs.append(
            head
            | {f"y{k + 1}_response_time_ms": f"{1e3 * clients / (v / (n[k] / clients)):.0f}" for k, v in enumerate(x)}
        )
    return {"table01_throughput_ops_per_s": pl.DataFrame(xs), "table02_response_time_ms": pl.DataFrame(rs)}


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05])
def test_no_false_alarm_on_a_sound_experiment(noise: float) -> None:
    assert findings(experiment(noise)) == []


@pytest.mark.parametrize("lost", [0.5, 0.8])
def test_a_run_that_lost_clients_is_found(lost: float) -> None:
    (found,) = findings(experiment(0.01, lost=lost))
    assert (found.row, found.column) == ("experiment 2", "repetition 2")
    assert found.by == pytest.approx(lost - 1, abs=0.03)


def test_tables_of_other_kinds_are_passed_over() -> None:
    assert findings({"other": pl.DataFrame({"a": ["1"], "b": [None]})}) == []
    assert findings({}) == []


def test_a_folder_without_tables_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give a folder with tables"):
        read_tables(tmp_path)


def test_the_section_of_a_report() -> None:
    found = findings(tables())
    section = findings_section(found, len(tables()))
    page = render_html(Document("t", "", ["v"], "ok", (section,)))
    assert "copied, not computed" in page
    assert page.count("<tr>") >= len(found)
