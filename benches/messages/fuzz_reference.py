"""What is due for a stream of bytes: the service's reading of HTTP/1.1 and of its paths, written a second time.

From docs/reference/messages.md, RFC 9112 (lines, framing, persistence) and RFC 9110, 5.6.2 (token); nothing of the
service's own code is in it. Where the RFC leaves it to a server (a lone LF, space before a colon), the service refuses.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from urllib.parse import unquote_to_bytes

HEAD_BYTES, HEADERS, BLANK_LINES, LENGTH_DIGITS, NAME_BYTES = 16 * 1024, 64, 8, 15, 200
LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([!-~\x80-\xff]+) HTTP/1\.([01])")
HOST = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=:\[\]%-]*")
ABSOLUTE = re.compile("(?:http|https)://[^/?#]+(/.*)?", re.IGNORECASE | re.DOTALL)
# A CR or LF by itself, with which a head is refused before it is whole; a control character in the request line.
ALONE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")
CONTROL = re.compile(rb"[^\r\n]*?[\x00-\x09\x0b\x0c\x0e-\x1f\x7f]")
NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE = re.compile(rb"[\t -~\x80-\xff]*")
# Refusals after which the connection ends, whatever the client asked for: 400 has both sorts.
BROKEN, HEAD, BODY, LENGTH = 400, 431, 413, 411


@dataclass(frozen=True)
class Asked:
    """One request: what it wants, or the status with which it is refused before the database is asked."""

    kind: str
    status: int = 0
    # The connection ends behind its answer.
    close: bool = False
    queue: str = ""
    sender: str | None = None
    body: bytes = b""
    number: int = 0
    receipt: int = 0


class RefusedError(Exception):
    """With a status, and whether the connection ends for that."""

    def __init__(self, status: int, ends: bool = False) -> None:
        super().__init__(status)
        self.status, self.ends = status, ends


def asked(stream: bytes, most: int) -> tuple[list[Asked], int]:
    """The requests in it, up to the one that ends the connection, and where the next one begins. `most`: the longest
    body, bytes."""
    found: list[Asked] = []
    at = 0
    while at < len(stream) and not (found and found[-1].close):
        try:
            whole = frame(stream, at, most)
        except RefusedError as refused:
            found.append(Asked("refused", refused.status, close=True))
            break
        if whole is None:
            break
        lines, body, at = whole
        found.append(request(lines, body))
    return found, at


def frame(stream: bytes, at: int, most: int) -> tuple[list[bytes], bytes, int] | None:
    """Lines of the head, body, end; None where it is not whole."""
    for _ in range(BLANK_LINES):
        at += 2 * stream.startswith(b"\r\n", at)
    end = stream.find(b"\r\n\r\n", at, at + HEAD_BYTES)
    head = stream[at : at + HEAD_BYTES if end < 0 else end + 4]
    if ALONE.search(head) or CONTROL.match(head):
        raise RefusedError(BROKEN)
    if end < 0:
        if len(stream) - at >= HEAD_BYTES:
            raise RefusedError(HEAD)
        return None
    lines = stream[at:end].split(b"\r\n")
    length = body_bytes(lines)
    if length > most:
        raise RefusedError(BODY)
    end += 4
    return None if len(stream) < end + length else (lines, stream[end : end + length], end + length)


def body_bytes(lines: list[bytes]) -> int:
    length: int | None = None
    for k, line in enumerate(lines):
        name, colon, value = line.partition(b":")
        if k == 0:
            continue
        if not colon or not name or any(byte in name for byte in b" \t\x0c"):
            raise RefusedError(BROKEN)
        if name.lower() == b"transfer-encoding":
            raise RefusedError(LENGTH)
        if name.lower() == b"content-length":
            digits = value.strip(b" \t\x0c")
            if length is not None or not re.fullmatch(rb"[0-9]{1,%d}" % LENGTH_DIGITS, digits):
                raise RefusedError(BROKEN)
            length = int(digits)
    return length or 0


def request(lines: list[bytes], body: bytes) -> Asked:
    """The worker's half: a framed request."""
    close = True
    try:
        line = LINE.fullmatch(lines[0])
        if not line or not is_text(line[2]):
            raise RefusedError(BROKEN, ends=True)
        headers = [header(line) for line in lines[1:]]
        if len(headers) > HEADERS:
            raise RefusedError(HEAD, ends=True)
        if not names_host(headers, line[3]):
            raise RefusedError(BROKEN, ends=True)
        target = origin_form(line[2].decode())
        close = closes(headers, line[3])
        sender = sender_of(headers)
        has_length = any(name == b"content-length" for name, _ in headers)
        return replace(operation(line[1], target, has_length, sender, body), close=close)
    except RefusedError as refused:
        return Asked("refused", refused.status, close=close or refused.ends)


def header(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.partition(b":")
    if not NAME.fullmatch(name) or not VALUE.fullmatch(value):
        raise RefusedError(BROKEN, ends=True)
    return name.lower(), value.strip(b" \t")


def names_host(headers: list[tuple[bytes, bytes]], minor: bytes) -> bool:
    """RFC 9112, 3.2: once; in HTTP/1.0 it may be missing."""
    hosts = [value for name, value in headers if name == b"host"]
    return len(hosts) <= 1 and (bool(hosts) or minor == b"0") and all(map(HOST.fullmatch, hosts))


def origin_form(target: str) -> str:
    """RFC 9112, 3.2.2."""
    if target.startswith("/"):
        return target
    absolute = ABSOLUTE.fullmatch(target)
    if absolute is None:
        raise RefusedError(BROKEN, ends=True)
    return absolute[1] or "/"


def closes(headers: list[tuple[bytes, bytes]], minor: bytes) -> bool:
    words = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")}
    return b"close" in words or minor == b"0"


def sender_of(headers: list[tuple[bytes, bytes]]) -> str | None:
    sender = None
    for name, value in headers:
        if name == b"x-sender":
            if not is_text(value):
                raise RefusedError(400)
            was, sender = sender, named(value.decode())
            if was is not None:
                raise RefusedError(BROKEN, ends=True)
    return sender


def operation(method: bytes, target: str, has_length: bool, sender: str | None, body: bytes) -> Asked:
    path, _, query = target.partition("?")
    first, *places = path.split("/")[1:] if path.startswith("/") else ("",)
    if first != "queues" or len(places) > 3:
        raise RefusedError(404)
    match method, places:
        case b"GET", [] | [""]:
            return Asked("list", queue=one(query, "after") or "")
        case b"PUT" | b"DELETE", [queue]:
            queue = named(decoded(queue))
            nothing(query)
            return Asked("create" if method == b"PUT" else "drop", queue=queue)
        case b"POST", [queue, "messages"]:
            if not has_length:
                raise RefusedError(LENGTH, ends=True)
            nothing(query)
            return Asked("put", queue=named(decoded(queue)), sender=sender, body=body)
        case (b"POST", [queue, "take" as kind]) | (b"GET", [queue, "peek" as kind]):
            return Asked(kind, queue=named(decoded(queue)), sender=one(query, "sender"))
        case b"DELETE", [queue, "messages", number]:
            receipt = positive(one(query, "receipt") or "")
            return Asked("acknowledge", queue=named(decoded(queue)), number=positive(number), receipt=receipt)
        case _, [] | [_] | [_, "messages" | "take" | "peek"]:
            raise RefusedError(405)
    raise RefusedError(404)


def is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def decoded(text: str, plus: bool = False) -> str:
    if re.search("%(?![0-9A-Fa-f]{2})", text):
        raise RefusedError(400)
    value = unquote_to_bytes(text.replace("+", " ") if plus else text)
    if not is_text(value):
        raise RefusedError(400)
    return value.decode()


def named(text: str) -> str:
    if not 0 < len(text.encode()) <= NAME_BYTES or any(unicodedata.category(one) == "Cc" for one in text):
        raise RefusedError(400)
    return text


def nothing(query: str) -> None:
    if query:
        raise RefusedError(400)


def one(query: str, key: str) -> str | None:
    """The value of the only key that may be there."""
    if not query:
        return None
    name, equals, value = query.partition("=")
    if name != key or not equals or "&" in value:
        raise RefusedError(400)
    return named(decoded(value, plus=True))


def positive(text: str) -> int:
    if not re.fullmatch("[0-9]+", text) or len(text.lstrip("0")) > 19 or int(text) >= 1 << 63:
        raise RefusedError(400)
    return int(text)
