"""Files of traces, read within limits: which format, one object or one a line, cut off at the end or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.files.reading import MOST_JSON_BYTES, parse_json
from sojourn.readers.text_source import TextSource
from sojourn.traces import jaeger_json, otlp_json
from sojourn.traces.otlp_json import REMEDY
from sojourn.traces.span_table import RawSpan, SpanTable, SpanTableBuilder

FORMATS: Sequence[tuple[str, Callable[[Any], bool], Callable[[Mapping[str, Any], str], Iterator[RawSpan]]]] = (
    (otlp_json.NAME, otlp_json.claims, otlp_json.spans),
    (jaeger_json.NAME, jaeger_json.claims, jaeger_json.spans),
)


@dataclass(frozen=True)
class TraceFiles:
    """`spans` of all files; `formats`: which they have; `cut_off`: the files whose last line is not whole."""

    spans: SpanTable
    formats: tuple[str, ...]
    cut_off: tuple[str, ...]


def is_trace_file(path: Path | str) -> bool:
    """Whether a file begins as JSON does; False where it cannot be read."""
    try:
        return TextSource.of(path, REMEDY).head.lstrip()[:1] == "{"
    except InputError:
        return False


def read_trace_files(paths: Sequence[Path | str]) -> TraceFiles:
    """All spans of all files, also of those packed by gzip.

    Raises:
        InputError: a file is neither, a line (other than a last one that is cut off) is no JSON, a span lacks an id or a service,
            too many spans, or none; with file and line.
    """
    builder = SpanTableBuilder()
    formats: list[str] = []
    cut_off: list[str] = []
    for path in map(Path, paths):
        source = TextSource.of(path, REMEDY, MOST_JSON_BYTES)
        for place, found in _objects(source, cut_off):
            name, _, spans = _format(found, place)
            formats.append(name) if name not in formats else None
            for raw in spans(found, place):
                builder.add(raw, place)
    if not len(table := builder.table()):
        raise InputError("no span", ", ".join(map(str, paths)), REMEDY)
    return TraceFiles(table, tuple(formats), tuple(cut_off))


def _format(found: Any, place: str) -> Any:
    for one in FORMATS:
        if one[1](found):
            return one
    raise InputError("no resourceSpans", place, REMEDY)


def _objects(source: TextSource, cut_off: list[str]) -> Iterator[tuple[str, Any]]:
    """Each JSON object with its place: one a line, or one for the whole file where the first line is none."""
    first = True
    for number, line in source.numbered():
        if not line.strip():
            continue
        place = f"{source.path}:{number}"
        try:
            found = parse_json(line.decode("utf-8-sig", errors="replace"))
        except ValueError as error:
            if first:
                yield _whole(source)
                return
            if not line.endswith(b"\n"):  # the exporter was ended while it wrote; what is before it is whole
                cut_off.append(source.path.name)
                return
            raise InputError(f"not JSON: {str(error)[:80]}", place, REMEDY) from None
        first = False
        yield place, found


def _whole(source: TextSource) -> tuple[str, Any]:
    text = source.text()
    try:
        return f"{source.path}:1", parse_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise InputError(f"not JSON: {str(error)[:80]}", f"{source.path}:{line}", REMEDY) from None
