"""Matrices of users in sessions: how often each page is asked for, and what a file may have."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from sojourn.errors import InputError
from sojourn.load.session_load import mix_of, session_load
from sojourn.load.transition_matrix import TransitionMatrix, mixed_shares

# The mixes of RUBBoS's matrices, found by a simulation of about two million requests (a file that this project did not make; why it
# is one: docs/reference/bulletin.md, "Users"). A share's standard deviation there is up to 5e-4.
MIX = Path(__file__).parents[2] / "data/rubbos_mix.csv"
SIMULATED = 7e-4


@pytest.mark.parametrize(("mix", "number", "column"), [
    ("browse", 0, "browse_only"), ("readwrite", 0, "user_default"), ("readwrite", 1, "author_default"),
])  # fmt: skip
def test_shares_are_those_of_the_benchmark(mix: str, number: int, column: str) -> None:
    wanted = {row["interaction"]: float(row[column]) for row in csv.DictReader(MIX.read_text().splitlines())}
    matrix = mix_of(mix)[number][1]
    assert dict(zip(matrix.pages, matrix.shares, strict=True)) == pytest.approx(wanted, abs=SIMULATED)


def test_one_user_in_ten_is_an_author() -> None:
    wanted = {row["interaction"]: float(row["readwrite_90_10"]) for row in csv.DictReader(MIX.read_text().splitlines())}
    assert mixed_shares(mix_of("readwrite")) == pytest.approx(wanted, abs=SIMULATED)


def write(path: Path, *rows: str) -> Path:
    path.write_text("from,a,b,Back,EndOfSession\n" + "".join(row + "\n" for row in rows))
    return path


def test_shares_with_back_by_hand(tmp_path: Path) -> None:
    """From a always to b; from b back or to the end, each as likely. Sessions have k visits of b with probability 2^-k: a and b
    are asked for equally often."""
    matrix = TransitionMatrix.read(write(tmp_path / "m.csv", "a,0,1,0,0", "b,0,0,0.5,0.5"))
    assert matrix.shares == pytest.approx([0.5, 0.5], abs=1e-12)


def test_shares_are_those_of_a_walk(tmp_path: Path) -> None:
    """A walk of 200 000 requests with a stack for Back."""
    matrix = TransitionMatrix.read(write(tmp_path / "m.csv", "a,0.2,0.5,0,0.3", "b,0.1,0.3,0.4,0.2"))
    draw, count, stack = np.random.default_rng(7), np.zeros(2), [0]
    for u in draw.random(200_000):
        page = stack[-1]
        count[page] += 1
        step = int(np.searchsorted(np.cumsum(matrix.rows[page]), u, side="right"))
        if step < 2:
            stack.append(step)
        elif step == 2 and len(stack) > 1:
            stack.pop()
        else:
            stack = [0]
    assert matrix.shares == pytest.approx(count / count.sum(), abs=0.006)


def test_rows_that_do_not_sum_to_one_are_named(tmp_path: Path) -> None:
    matrix = TransitionMatrix.read(write(tmp_path / "m.csv", "a,0,0.8,0.1,0.3", "b,0.5,0,0,0.4"))
    assert matrix.rows == pytest.approx(np.array([[0, 0.8, 0.1, 0.1], [0.5, 0.1, 0, 0.4]]))
    assert matrix.notes == (
        "m.csv: row a sums to 1.2; the part above 1 is cut off at the row's end",
        "m.csv: row b sums to 0.9; the rest requests the same page again",
    )


@pytest.mark.parametrize(("rows", "said"), [
    (["a,0,1,0,0"], "1 rows for 2 pages"),
    (["b,0,1,0,0", "a,0,0,0,1"], "row 'b' with 5 cells"),
    (["a,0,1,0", "b,0,0,0,1"], "row 'a' with 4 cells"),
    (["a,0,x,0,0", "b,0,0,0,1"], r"row a, column b: 'x'; give a probability"),
    (["a,0,-1,0,0", "b,0,0,0,1"], r"row a, column b: '-1'"),
    (["a,0,nan,0,0", "b,0,0,0,1"], r"row a, column b: 'nan'"),
    (["a,0,0,0,0", "b,0,0,0,1"], "row 'a' of zeros; sessions begin there"),
    (["a,0,1,0,0", "b,0,0,0,0"], "row 'b' of zeros; other rows lead there"),
])  # fmt: skip
def test_a_matrix_that_is_none(tmp_path: Path, rows: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        TransitionMatrix.read(write(tmp_path / "m.csv", *rows))


def test_the_generators_configuration() -> None:
    load = session_load(
        "http://127.0.0.1:1/", users=30, mix="readwrite", duration_s=5.0, ramp_up_s=2.0, ramp_down_s=1.0
    )
    assert load["duration_s"] == 8.0 and load["lanes"][0]["closed"]["users"] == 30
    assert load["sessions"]["pages"][0] == "StoriesOfTheDay" and len(load["sessions"]["pages"]) == 24
    assert [one["share"] for one in load["sessions"]["mixes"]] == [0.9, 0.1]
    with pytest.raises(InputError, match=r"give browse, readwrite, a page or a CSV file: did you mean browse\?"):
        session_load("http://127.0.0.1:1/", users=1, mix="brows")


def test_weights_of_pages_and_rows_that_still_sum_to_one(tmp_path: Path) -> None:
    """By hand: from a to a or b, half each, a three times as likely as it was: 1.5 of 2. From b only to the end: as before."""
    matrix = TransitionMatrix.read(write(tmp_path / "m.csv", "a,0.5,0.5,0,0", "b,0,0,0,1"))
    assert matrix.reweighted(np.array([3.0, 1.0])).rows == pytest.approx(np.array([[0.75, 0.25, 0, 0], [0, 0, 0, 1]]))


def test_mixes_drawn_near_another() -> None:
    """The same for the same number; shares lie about those of the mix, as far as weights with a deviation of 0.9 let them."""
    near = mixed_shares(mix_of("readwrite"))
    drawn = [mixed_shares(mix_of(f"readwrite~{k}")) for k in range(1, 31)]
    assert drawn[2] == mixed_shares(mix_of("readwrite~3")) and drawn[2] != drawn[3]
    for name, share in near.items():
        ratios = np.log([one[name] / share for one in drawn])
        assert np.isfinite(ratios).all() and 0.2 < ratios.std() < 2.0, name
    with pytest.raises(InputError, match="readwrite~0"):
        mix_of("readwrite~0")


def test_a_page_as_a_mix() -> None:
    """A session of the page has 100 requests in the mean, and one before them at its begin."""
    shares = mixed_shares(mix_of("ViewStory"))
    assert shares["ViewStory"] == pytest.approx(100 / 101, abs=1e-3) and sum(shares.values()) == pytest.approx(1)
