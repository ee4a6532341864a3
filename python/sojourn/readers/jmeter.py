"""JMeter: results as CSV with a header (JTL), and as XML.

Source: jmeter.apache.org, user manual, listeners. `timeStamp` is in ms, and of the start unless JMeter was told otherwise;
`elapsed` in ms. Columns are a matter of configuration: the header is read. In XML a sample inside of another one is a part of it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from sojourn.errors import InputError
from sojourn.readers.observation import INTENDED, STAMP, THINK, USERS, Observation
from sojourn.readers.request_rows import RequestRows
from sojourn.readers.text_source import TextSource

NAME = "jmeter"
MS = 1e-3
SAMPLE = re.compile(r"<(/?)(httpSample|sample)\b([^>]*?)(/?)>")
WORDS = re.compile(r'(\w+)="([^"]*)"')
CUT = "the file was cut off, or a row is damaged: run the test again, or remove the row"


def matches(head: str) -> bool:
    first = head.lstrip().partition("\n")[0]
    return ("timeStamp" in first and "elapsed" in first) or (
        head.lstrip().startswith("<?xml") and "<testResults" in head
    )


def read(source: TextSource) -> list[Observation]:
    """All samplers together."""
    rows, users = RequestRows(), 0
    for start, elapsed, ok, threads in _xml(source) if source.head.lstrip().startswith("<") else _csv(source):
        rows.add(start * MS, elapsed * MS, ok)
        users = max(users, threads)
    requests = rows.requests()
    if requests is None:
        raise InputError("no samples", source.path, "give the results of a test that sent something")
    return [
        Observation(
            str(source.path), NAME, start_s=float(requests.start_s[0]), users=float(users) if users else None, requests=requests,
            stamp_s=MS, rounding_s=MS / 2, unknown=(INTENDED, STAMP, THINK, *(() if users else (USERS,))),
        )
    ]  # fmt: skip


def _csv(source: TextSource) -> Iterator[tuple[int, int, bool, int]]:
    lines = source.lines()
    header = next(csv.reader([next(lines)]))
    at = {name: header.index(name) for name in ("timeStamp", "elapsed", "success", "allThreads") if name in header}
    if not {"timeStamp", "elapsed"} <= at.keys():
        raise InputError(
            "no columns timeStamp and elapsed",
            source.path,
            "let JMeter write the header: jmeter.save.saveservice.print_field_names",
        )
    for number, row in enumerate(csv.reader(lines), 2):
        try:
            ok = row[at["success"]] == "true" if "success" in at else True
            yield (
                int(row[at["timeStamp"]]),
                int(row[at["elapsed"]]),
                ok,
                int(row[at["allThreads"]]) if "allThreads" in at else 0,
            )
        except (ValueError, IndexError):
            raise InputError(",".join(row)[:60], f"{source.path}:{number}", CUT) from None


def _xml(source: TextSource) -> Iterator[tuple[int, int, bool, int]]:
    depth, ended = 0, False
    for number, line in enumerate(source.lines(), 1):
        ended = ended or "</testResults>" in line
        for closing, _, words, alone in SAMPLE.findall(line):
            if closing:
                depth = max(0, depth - 1)
                continue
            if depth == 0:
                said = dict(WORDS.findall(words))
                try:
                    yield int(said["ts"]), int(said["t"]), said.get("s") == "true", int(said.get("na", 0))
                except (ValueError, KeyError):
                    raise InputError("a sample without ts and t", f"{source.path}:{number}", CUT) from None
            depth += not alone
    if not ended:
        raise InputError("no </testResults>", source.path, CUT)
