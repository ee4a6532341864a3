"""`sojourn examples`: model files and studies that come with sojourn, listed or copied."""

from __future__ import annotations

import shlex
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sojourn.cli.console import console, print_table
from sojourn.shipped import MODEL, POLICY, STUDY, copy_example
from sojourn.shipped import examples as shipped

FIRST = "Copy one with `sojourn examples NAME`; it prints what to type next."
HEADINGS = {
    MODEL: "Model files (then: sojourn solve NAME.toml)",
    POLICY: "Policies (then: sojourn control simulate NAME/kpa.toml --model NAME/pool.toml --load all)",
    STUDY: "Studies (then: sojourn study NAME --quick)",
}


def examples(
    name: Annotated[str | None, typer.Argument(help="which one to copy; none: lists them")] = None,
    out: Annotated[Path, typer.Option(help="folder that the copy is put into")] = Path(),
) -> None:
    """Lists example models and studies, or copies one.

    They are part of the installation, so they need no clone of the repository.
    """
    there = shipped()
    if name is not None:
        target = copy_example(name, out)
        console().print(
            Text(f"{target}; try: {there[name].command.replace('{}', shlex.quote(str(target)))}"), soft_wrap=True
        )
        return
    console().print(Text(FIRST), soft_wrap=True)
    console().print()
    for kind, group in groupby(there.items(), lambda item: item[1].kind):
        table = Table("name", "what it shows", title=HEADINGS[kind], title_justify="left", box=None, pad_edge=False)
        for one, example in group:
            table.add_row(Text(one), Text(example.title))
        print_table(table)
        console().print()
