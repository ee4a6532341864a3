"""Reads `latency.hlog`: an HdrHistogram interval log, one histogram a line.

Source: the format as HdrHistogram's own readers hold it (hdrhistogram.org; HistogramLogWriter version 1.3, encoding V2): a line is
`[Tag=T,]start_s,length_s,maximum,BASE64`; the text is a zlib stream of a header and of counts in zig-zag LEB128, where a negative
number -n stands for n empty buckets.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sojourn.errors import RunFolderError
from sojourn.files.reading import MIB, read_lines

COMPRESSED, PLAIN = (
    0x1C849304,
    0x1C849303,
)  # cookies of version 2; a fifth hexadecimal digit says how wide a word may be
HEADER = struct.Struct(">iiiiqqd")
NS = 1e-9
MOST_UNPACKED_BYTES = 8 * MIB  # of one histogram; of three digits it has less than one


@dataclass(frozen=True)
class IntervalHistogram:
    """Of one interval: buckets [low_s, high_s) that hold anything, and how many each holds; `start_s` from the log's beginning."""

    tag: str
    start_s: float
    length_s: float
    low_s: NDArray[np.float64]
    high_s: NDArray[np.float64]
    counts: NDArray[np.int64]


def read_interval_log(path: Path) -> list[IntervalHistogram]:
    """The intervals of a log, of all tags, in order; times were recorded in ns.

    Raises:
        RunFolderError: a line that is none of the format.
    """
    return list(intervals(read_lines(path, "run the measurement again", error=RunFolderError), path))


def intervals(lines: Iterable[str], place: Path) -> Iterator[IntervalHistogram]:
    """The same of its lines, one by one. `place` stands for the file. Raises RunFolderError for a line that is none of the format."""
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith(("#", '"StartTimestamp"')):
            continue
        try:
            found = _interval(line)
        except (ValueError, IndexError, OverflowError, struct.error, zlib.error) as error:
            remedy = "the file is damaged, or not an HdrHistogram log of version 1.3: run the measurement again"
            raise RunFolderError(str(error)[:80] or "no histogram", f"{place}:{number}", remedy) from None
        yield found


def _interval(line: str) -> IntervalHistogram:
    parts = line.split(",")
    tag = parts.pop(0).removeprefix("Tag=") if line.startswith("Tag=") else ""
    start, length, _, text = parts
    cookie, size = struct.unpack_from(">ii", raw := base64.b64decode(text, validate=True))
    if cookie & ~0xF0 != COMPRESSED:
        raise ValueError(f"cookie {cookie:#x}")
    plain = _unpacked(raw[8 : 8 + size])
    cookie, payload, _, digits, least, _, _ = HEADER.unpack_from(plain)
    if cookie & ~0xF0 != PLAIN or not 0 <= digits <= 5 or least < 1:
        raise ValueError(f"cookie {cookie:#x} with {digits} digits")
    index, counts = _counts(plain[HEADER.size : HEADER.size + payload])
    low, width = _edges(index, digits, least)
    return IntervalHistogram(tag, float(start), float(length), low * NS, (low + width) * NS, counts)


def _unpacked(packed: bytes) -> bytes:
    """A few bytes may unpack to thousands of times as many."""
    stream = zlib.decompressobj()
    plain = stream.decompress(packed, MOST_UNPACKED_BYTES + 1)
    if len(plain) > MOST_UNPACKED_BYTES:
        raise ValueError(f"a histogram of more than {MOST_UNPACKED_BYTES // MIB} MiB")
    if not stream.eof:
        raise ValueError("a histogram that is cut off")
    return plain


def _counts(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices that hold anything, and what they hold."""
    at, index, found = 0, 0, []
    while at < len(data):
        value = 0
        for k in range(9):
            byte, at = data[at], at + 1
            value |= (byte if k == 8 else byte & 0x7F) << (7 * k)
            if k == 8 or not byte & 0x80:
                break
        number = (value >> 1) ^ -(value & 1)
        if number > 0:
            found.append((index, number))
        index += -number if number < 0 else 1
    table = np.array(found, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _edges(index: NDArray[np.int64], digits: int, least: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower edge and width of buckets: halves of 2^k equal ones, each half twice as wide as that before."""
    magnitude = math.ceil(math.log2(2 * 10**digits))
    unit, half = int(math.log2(least)), 1 << (magnitude - 1)
    bucket = (index >> (magnitude - 1)) - 1
    within = (index & (half - 1)) + np.where(bucket < 0, 0, half)
    width = 2.0 ** (np.maximum(bucket, 0) + unit)
    return within * width, width
