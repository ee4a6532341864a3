"""Gatling: `simulation.log` as text, of versions before 3.12. Newer ones are binary, and are refused by name.

Source: Gatling's own writer; a line `REQUEST`, then the start and the end in ms and OK or KO, with tabs between; `USER … START|END`.
"""

from __future__ import annotations

import re

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, THINK, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource

NAME = "gatling"
MS = 1e-3
TIMES = re.compile(r"\t(\d{12,14})\t(\d{12,14})\t(OK|KO)\b")
RUN = re.compile(r"^RUN\t.*?\t(3\.\d[\w.]*|2\.\d[\w.]*)\s*$", re.MULTILINE)
BINARY = "a binary simulation.log (Gatling 3.12 and later)"


def matches(head: str) -> bool:
    return head.startswith(("RUN\t", "REQUEST\t", "USER\t", "ASSERTION\t")) or is_binary(head)


def is_binary(head: str) -> bool:
    """It begins with the kind of a record, 0, and the version as text."""
    return head.startswith("\x00") and re.search(r"3\.1\d\.\d", head[:64]) is not None


def read(source: TextSource) -> list[Observation]:
    """Raises InputError for a binary log."""
    if is_binary(source.head):
        raise InputError(
            BINARY,
            source.path,
            "its form is not documented: turn it into CSV with Gatling's own parser (github.com/teleivo/gatling), and give that",
        )
    rows, users, most = RequestRows(), 0, 0
    for number, line in enumerate(source.lines(), 1):
        if line.startswith("USER\t"):
            users += ("\tSTART" in line) - ("\tEND" in line)
            most = max(most, users)
        elif line.startswith("REQUEST\t"):
            found = TIMES.search(line)
            if found is None:
                raise InputError(
                    line[:60], f"{source.path}:{number}", "the file was cut off: remove this line, or run Gatling again"
                )
            start, end = int(found[1]), int(found[2])
            rows.add(start * MS, (end - start) * MS, found[3] == "OK")
    requests = rows.requests()
    if requests is None:
        raise InputError("no REQUEST", source.path, "give the log of a simulation that sent something")
    version = RUN.search(source.head)
    return [
        Observation(
            str(source.path), NAME, version=version[1] if version else None, users=float(most) if most else None, requests=requests,
            start_s=float(requests.start_s[0]), stamp_s=MS, rounding_s=MS / 2, missing_values=(INTENDED, THINK),
        )
    ]  # fmt: skip
