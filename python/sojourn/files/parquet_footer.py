"""How many rows and bytes a Parquet file will have in memory, by its footer, before anything is read.

Source: Apache Parquet's file format (parquet.apache.org/docs/file-format): the file ends with its metadata, their length in 4 bytes and
`PAR1`; the metadata are Thrift's compact protocol (FileMetaData: field 3 rows, 4 row groups; RowGroup: field 2 bytes when unpacked).
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO

MAGIC = b"PAR1"
MOST_FOOTER_BYTES = 16 << 20
MOST_DEEP = 16
MOST_ITEMS = 1_000_000
ROWS, GROUPS, GROUP_BYTES = 3, 4, 2
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


def footer(file: BinaryIO) -> tuple[int, int]:
    """Rows, and bytes when unpacked, by a file's own account. ValueError for what is no Parquet file."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 8, 0))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if size < 12 or tail[4:] != MAGIC or length > min(size - 12, MOST_FOOTER_BYTES):
        raise ValueError("not a Parquet file, or a truncated one")
    file.seek(size - 8 - length)
    try:
        found = _Compact(file.read(length)).struct(0)
        groups = found.get(GROUPS, [])
        return int(found[ROWS]), sum(int(group[GROUP_BYTES]) for group in groups)
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError(f"its footer is damaged ({type(error).__name__})") from None


class _Compact:
    """What a text in Thrift's compact protocol says: structs as field number → value."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.items = data, 0, 0

    def struct(self, depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            kind = head & 15
            found[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        self.items += 1
        if depth > MOST_DEEP or self.items > MOST_ITEMS:
            raise ValueError("its footer has too many parts")
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind in (I16, I32, I64):
            return self._zigzag()
        if kind in (DOUBLE, BINARY):
            return self._bytes(8 if kind == DOUBLE else self._varint())
        if kind in (LIST, SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"its footer has a part of kind {kind}")  # maps: Parquet has none

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        self.at += count
        if self.at > len(self.data):
            raise IndexError
        return self.data[self.at - count : self.at]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 0x80 and shift < 63:
            value, shift = value | (byte & 0x7F) << shift, shift + 7
        return value | byte << shift

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
