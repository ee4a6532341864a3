"""JMeter: results as CSV with a header (JTL), and as XML.

Source: jmeter.apache.org, user manual, listeners. `timeStamp` is in ms, and of the start unless JMeter was told otherwise;
`elapsed` in ms. Columns are a matter of configuration: the header is read. In XML a sample inside of another one is a part of it.

A Transaction Controller writes a row of its own behind those of its requests, whose time is the sum of theirs (component reference,
Transaction Controller; TransactionController.java: the message `Number of samples in transaction : n, …`). Such a row is no request. A file
that has no other rows is of transactions that were written in place of their requests, and these are taken.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

from sojourn.errors import InputError
from sojourn.files.reading import MOST_DEEP
from sojourn.readers.observation import INTENDED, STAMP, THINK, USERS, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource

NAME = "jmeter"
MS = 1e-3
TRANSACTION = "Number of samples in transaction"
COLUMNS = ("timeStamp", "elapsed", "success", "allThreads", "responseMessage")
SAMPLE = re.compile(r"<(/?)(httpSample|sample)\b([^>]*?)(/?)>")
WORDS = re.compile(r'(\w+)="([^"]*)"')
CUT = "the file was cut off, or a row is damaged: run the test again, or remove the row"


class _Sample(NamedTuple):
    start_ms: int
    elapsed_ms: int
    ok: bool
    threads: int
    sums_up: bool  # of a Transaction Controller


def matches(head: str) -> bool:
    first = head.lstrip().partition("\n")[0]
    return ("timeStamp" in first and "elapsed" in first) or (
        head.lstrip().startswith("<?xml") and "<testResults" in head
    )


def read(source: TextSource) -> list[Observation]:
    """All samplers together."""
    rows, transactions, users = RequestRows(), RequestRows(), 0
    for one in _xml(source) if source.head.lstrip().startswith("<") else _csv(source):
        (transactions if one.sums_up else rows).add(one.start_ms * MS, one.elapsed_ms * MS, one.ok)
        users = max(users, one.threads)
    requests = rows.requests() or transactions.requests()
    if requests is None:
        raise InputError("no samples", source.path, "give the results of a test that sent something")
    count = len(transactions) if len(rows) else 0
    left_out = (f"{count} rows of Transaction Controllers left out: sums of other rows",) if count else ()
    return [
        Observation(
            str(source.path), NAME, start_s=float(requests.start_s[0]), users=float(users) if users else None, requests=requests,
            stamp_s=MS, rounding_s=MS / 2, missing_values=(INTENDED, STAMP, THINK, *(() if users else (USERS,))), left_out=left_out,
        )
    ]  # fmt: skip


def _csv(source: TextSource) -> Iterator[_Sample]:
    lines = source.lines()
    header = next(csv.reader([next(lines)]))
    at = {name: header.index(name) for name in COLUMNS if name in header}
    if not {"timeStamp", "elapsed"} <= at.keys():
        raise InputError(
            "no columns timeStamp and elapsed",
            source.path,
            "let JMeter write the header: jmeter.save.saveservice.print_field_names",
        )
    for number, row in enumerate(csv.reader(lines), 2):
        try:
            yield _Sample(
                int(row[at["timeStamp"]]),
                int(row[at["elapsed"]]),
                row[at["success"]] == "true" if "success" in at else True,
                int(row[at["allThreads"]]) if "allThreads" in at else 0,
                "responseMessage" in at and row[at["responseMessage"]].startswith(TRANSACTION),
            )
        except (ValueError, IndexError):
            raise InputError(",".join(row)[:60], f"{source.path}:{number}", CUT) from None


def _xml(source: TextSource) -> Iterator[_Sample]:
    """A sample inside of a request is a part of it; one inside of a transaction is a request."""
    around: list[bool] = []  # of each sample that is open: whether it is a request
    ended = False
    for number, line in enumerate(source.lines(), 1):
        ended = ended or "</testResults>" in line
        for closing, _, words, alone in SAMPLE.findall(line):
            if closing:
                del around[-1:]
                continue
            said = dict(WORDS.findall(words))
            sums_up = said.get("rm", "").startswith(TRANSACTION)
            if not any(around):
                try:
                    yield _Sample(
                        int(said["ts"]), int(said["t"]), said.get("s") == "true", int(said.get("na", 0)), sums_up
                    )
                except (ValueError, KeyError):
                    raise InputError("a sample without ts and t", f"{source.path}:{number}", CUT) from None
            if not alone:
                around.append(not sums_up)
                if len(around) > MOST_DEEP:
                    raise InputError(f"samples of more than {MOST_DEEP} levels", f"{source.path}:{number}", CUT)
    if not ended:
        raise InputError("no </testResults>", source.path, CUT)
