"""`sojourn check FILE…`: the laws asked of results that other tools wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.json_answer import say_answer
from sojourn.cli.verdict_files import Junit, Markdown, check_files, print_lines, write_files

CONTRADICTION, MISLEADING = 9, 10
EXIT = {"contradiction": CONTRADICTION, "misleading": MISLEADING}
# `readers.NAMES`, whose import takes longer than a help page may; a test compares the two
FORMATS = (
    "k6", "k6-summary", "jmeter", "vegeta", "vegeta-report", "wrk", "oha", "bombardier", "hey", "hey-csv", "ab", "gatling",
    "memtier", "fio", "ycsb", "locust", "hlog", "sadf", "access-log", "csv",
)  # fmt: skip
OF_FORMAT = f"of the files (default: found from what is in them): {', '.join(FORMATS)}"


def check(
    files: Annotated[
        list[Path], typer.Argument(help="results of k6, wrk and other load tools; host metrics; run folders", show_default=False)
    ],
    format_name: Annotated[str | None, typer.Option("--input-format", help=OF_FORMAT, show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the answer as one JSON object")] = False,
    markdown: Markdown = None,
    junit: Junit = None,
) -> None:  # fmt: skip
    """Finds numbers in load test results that cannot be true.

    The laws of operational analysis hold for every service: Little's law, the order of quantiles, a schedule that was kept. Each finding
    says the law, the numbers, how sure it is, what it means and what to do. Exit code 0: nothing found, 9: numbers that cannot all be
    true, 10: numbers that do not say what they seem to.
    """
    from sojourn.check import check as check_results
    from sojourn.check import check_document, junit_cases, lines

    check_files(markdown, junit)
    found = check_results(files, format_name)
    say_answer("check", found.to_dict()) if as_json else print_lines(lines(found))
    write_files("check", check_document(found), junit_cases(found), markdown, junit)
    raise typer.Exit(EXIT.get(found.severity or "", 0))
