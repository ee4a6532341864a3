"""The table of a recovery: `python benches/fit/table.py FOLDER/fits-10000.csv` (or its parquet); Markdown on standard output.

Beside each share stands the 95 % interval of Wilson (J. Amer. Stat. Assoc. 22, 1927, pp. 209-212). `--parquet` writes the
rows beside it as parquet, which is small.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from misspecified import MISSPECIFIED, UNTOLD
from scipy.stats import binomtest
from templates import TEMPLATES


def share(held: pl.Series) -> str:
    """`95.5 (91.7-97.6)`: per cent, and what so many trials say of it."""
    trials, hits = held.len(), int(held.sum())
    if trials == 0:
        return ""
    ends = binomtest(hits, trials).proportion_ci(0.95, "wilson")
    return f"{100 * hits / trials:.1f} ({100 * ends.low:.1f}-{100 * ends.high:.1f})"


def _line(rows: pl.DataFrame, name: str) -> list[list[str]]:
    own = rows.filter(pl.col("template") == name)
    fits = own.filter(pl.col("kind") == "fit")
    refused = own.filter(pl.col("kind") == "refused").height
    new = own.filter(pl.col("kind") == "prediction")
    places = [new.filter(pl.col("name").str.starts_with(p)) for p in ("inside", "beyond")]
    error = [(p["value"].cast(float, strict=False) / p["truth"].cast(float) - 1).abs().median() for p in places]
    tail = [share(p["held"]) for p in places] + [f"{100 * float(str(e)):.1f}" if e is not None else "" for e in error]
    misfit = share(1 - fits["held"]) if fits.height else ""
    paths = own.filter(pl.col("kind") == "unknown")["name"].unique(maintain_order=True).to_list()
    found = []
    for i, path in enumerate(paths or [""]):
        one = own.filter(pl.col("kind") == "unknown", pl.col("name") == path)
        head = [name, str(fits.height + refused), str(refused)] if i == 0 else ["", "", ""]
        found.append(
            [*head, f"`{path}`" if path else "", share(one["held"]), *([*tail, misfit] if i == 0 else [""] * 5)]
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("--parquet", action="store_true")
    asked = parser.parse_args()
    is_csv = asked.file.suffix == ".csv"
    rows = pl.read_csv(asked.file, infer_schema_length=None) if is_csv else pl.read_parquet(asked.file)
    if asked.parquet:
        rows.write_parquet(asked.file.with_suffix(".parquet"), compression="zstd")
    head = ["service", "fits", "refused", "unknown", "95 % interval held, %", "90 % for a new run held between the runs, %",
            "beyond, %", "median error between, %", "beyond, %", "said not to fit, %"]  # fmt: skip
    for names in (TEMPLATES, MISSPECIFIED, UNTOLD):
        print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for name in names:
            for line in _line(rows, name):
                print("| " + " | ".join(line) + " |")
        print(_pooled(rows, list(names)))


def _pooled(rows: pl.DataFrame, names: list[str]) -> str:
    """All services of a table together."""
    own = rows.filter(pl.col("template").is_in(names))
    parts = {
        "demands and other unknowns": own.filter(pl.col("kind") == "unknown", ~pl.col("name").str.ends_with("scv")),
        "variances of service": own.filter(pl.col("kind") == "unknown", pl.col("name").str.ends_with("scv")),
        "new runs between": own.filter(pl.col("kind") == "prediction", pl.col("name").str.starts_with("inside")),
        "new runs beyond": own.filter(pl.col("kind") == "prediction", pl.col("name").str.starts_with("beyond")),
    }
    told = [f"{name} {share(part['held'])} of {part.height}" for name, part in parts.items() if part.height]
    return f"\nTogether: {', '.join(told)}\n" if told else ""


if __name__ == "__main__":
    main()
