"""Sizes of items and their pieces from a table: by hand, and an example with the figures of the fourth source document."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sojourn.cli.app import command_line
from sojourn.errors import InputError
from sojourn.plan.piece_sizes import piece_sizes


def written(folder: Path, *rows: str) -> Path:
    path = folder / "pieces.csv"
    path.write_text("\n".join(["item,size", *rows]) + "\n")
    return path


def test_items_are_sums_of_their_pieces(tmp_path: Path) -> None:
    """Items of 3 and 7, in pieces of 1, 2, 3 and 4: 5 ± 2.828 and 2.5 ± 1.291."""
    found = piece_sizes(written(tmp_path, "a,1", "b,3", "a, 2", "b,4"))
    assert (found.items, found.item_mean, found.pieces_per_item, found.piece_mean) == (2, 5.0, 2.0, 2.5)
    assert found.item_deviation == pytest.approx(8**0.5)
    assert found.piece_deviation == pytest.approx((5 / 3) ** 0.5)


def test_the_figures_of_the_source_document_from_a_table(tmp_path: Path) -> None:
    """Exchanges of 20 270 ± 1586 bytes: 50 a deviation below and 50 above, in 11 frames each; their frames differ by more than the 6
    bytes of the document, since an exchange that is smaller has smaller frames here."""
    line = ("calc", "balance", "--centre-count", "8", "--sizes-file")

    half = 1586 * (99 / 100) ** 0.5  # so that the sample deviation of 100 is 1586
    rows = [f"{k},{(20270 + (half if k % 2 else -half)) / 11}" for k in range(100) for _ in range(11)]
    answer = json.loads(CliRunner().invoke(command_line(), [*line, str(written(tmp_path, *rows)), "--json"]).stdout)
    assert answer["items"] == 100 and answer["pieces_per_item"] == 11
    assert answer["item_mean"] == pytest.approx(20270) and answer["item_deviation"] == pytest.approx(1586)
    assert answer["piece_deviation"] == pytest.approx(1586 / 11, rel=0.01)
    assert answer["excess_ratio"] == pytest.approx(11**0.5, rel=0.01), "sigma/sqrt(k) by sigma/k"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["a,1", "b,x"], "pieces.csv:3"), (["a,1", "b,-1"], "repair the row"), (["a,1", "a,2"], "1 items"), (["a,0", "b,0"], "above 0"),
        (["a,1", ",2"], "pieces.csv:3"),
    ],
)  # fmt: skip
def test_mistakes_are_named(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        piece_sizes(written(tmp_path, *rows))


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "capture.csv"
    path.write_text("tcp.stream,frame.len\n0,66\n")
    with pytest.raises(InputError, match="columns item"):
        piece_sizes(path)
