"""Command lines of the memcached text protocol by a seed, right and wrong: what `fuzz_against_memcached.py` sends."""

from __future__ import annotations

import random
import re

GETS = (b"get", b"gets", b"gat", b"gats")
STORE = (b"set", b"add", b"replace", b"append", b"prepend", b"cas")
KEYS = [b"a", b"b", b"key", b"counter", b"x" * 250, b"noreply", b"0", b"k\x01", b"k\xc3\xa9", b"k\r"]
# They are counted, and read only at the end: memcached pads a shrunken counter, but not while an answer that has not left holds it.
COUNTERS = (b"counter", b"0", b"noreply")
LONG_KEYS = [b"y" * 251, b"y" * 300]
DATA = [
    b"",
    b"1",
    b"4294967295",
    b"hello",
    b"99",
    b" 7",
    b"delete b",
    b"set a 0 0 1",
    b"a\r\nb",
    b"\0\xff\r\n",
    b"z" * 700,
]
NUMBERS = [
    b"0", b"1", b"5", b"-1", b"+5", b"-0", b"007", b"4294967295", b"4294967296", b"4294967301", b"2147483646", b"2147483648",
    b"-2147483649", b"18446744073709551615", b"18446744073709551616", b"-18446744073709551615", b"9223372036854775807",
    b"9223372036854775808", b"-9223372036854775809", b"99999999999999999999999", b"x", b"1x", b"0x5", b"1.5", b"", b"-", b"+",
    b"\t1", b"1\t9", b"1\r", b"noreply",
]  # fmt: skip
TIMES = [
    b"0",
    b"0",
    b"0",
    b"-1",
    b"1000000",
    b"2592000",
    b"2592001",
    b"4294967295",
    b"4294967296",
    b"-4294967296",
    b"x",
    b"1x",
    b"",
]
WORDS = [b"noreply", b"0", b"noreply ", b"foo", b"\0", b"a", b"-1", b"NOREPLY", b"noreply\r"]
LINE_BYTES = 2000  # beyond 2 KiB memcached's answer depends on how the bytes were cut
LARGE = (1 << 20) + 1  # bytes of a value: too large for memcached and for the proxy
MOST_BYTES = 3000  # that a line may claim for a block that is shorter: memcached loses answers where the end comes within a block
PADDING = (b" " * 1000 + b"\r\n") * 4  # so that none is open at the end
MOST_DELTA = (
    10**12
)  # of a counter from 2^63 on memcached looks for a sign in whatever lies behind it, and says now this, now that
SOON_S = 100_000  # nothing may expire while it is compared, or flush what is compared
# What the proxy refuses on purpose (docs/reference/kv-proxy.md): meta commands, statistics, those of operators, HTTP, the binary protocol.
REFUSED = re.compile(rb"stats|lru|slabs|watch|shutdown|cache_|bget|extstore|refresh|debug|HTTP/|m[a-z](?![a-z])|\x80")
OTHERS = [[key] for key in KEYS if key not in COUNTERS]
TIMED = {**dict.fromkeys(STORE, 3), b"touch": 2, b"gat": 1, b"gats": 1, b"flush_all": 1}
DIGITS = re.compile(rb"[\t-\r ]*([-+]?\d+)")


class CommandLineGenerator:
    """Units of one command line, with its data where it has some, from `seed`; `large`: some near the limit of a value."""

    def __init__(self, seed: int, large: bool = True) -> None:
        self.random = random.Random(seed)
        self.large = large

    def batch(self, lines: int) -> tuple[bytes, int]:
        """Bytes of about so many lines, and how many there are."""
        units: list[bytes] = []
        count, open_line = 0, b""
        while count < lines:
            unit = self.unit(open_line)
            if not is_large(unit):  # what has no end of its own goes on in the next one
                open_line = (open_line + unit).rpartition(b"\n")[2]
            # Large values come first: no block before them may end within one, for then their rest would be a line.
            units.insert(0 if is_large(unit) else len(units), unit)
            count += max(unit.count(b"\n"), 1)
        # Here only: behind it nothing is read, and what was answered before may be lost where something comes.
        ending = [b"quit" + self._end()] if self.random.random() < 0.1 else []
        return b"".join([*units, PADDING, *ending]), count

    def unit(self, behind: bytes = b"") -> bytes:
        """One that can be compared, behind the beginning of a line."""
        while True:
            unit = self._mutated(self._command())
            if is_comparable(unit) and (is_large(unit) or is_comparable(behind + unit)):
                return unit

    def _command(self) -> bytes:
        draw = self.random
        kind = draw.random()
        if kind < 0.45:
            return self._store(draw.choice(STORE))
        key, number = self._key(), self._number()
        if kind < 0.65:
            keys = [self._key() for _ in range(draw.choice((1, 1, 2, 3, 30)))]
            return b" ".join([draw.choice(GETS[:2]), *keys]) + self._end()
        words = {
            0: [draw.choice(GETS[2:]), draw.choice(TIMES), key],
            1: [draw.choice((b"incr", b"decr")), draw.choice((*COUNTERS, key)), number],
            2: [b"touch", key, draw.choice(TIMES)],
            3: [b"delete", key],
            4: [b"flush_all"] if draw.random() < 0.03 else [b"delete", key, b"0"],
            5: [b"version"] if draw.random() < 0.5 else [b"verbosity", number],
            6: [
                draw.choice(
                    (b"get", b"nonsense", b"set", b"gat", b"GET", b"incr", b"touch", b"delete", b"verbosity", b"")
                )
            ],
        }[draw.choice((0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6))]
        return b" ".join(words) + self._end()

    def _store(self, verb: bytes) -> bytes:
        draw = self.random
        if (
            draw.random() < 0.002 and self.large and verb != b"cas"
        ):  # nothing else wrong with it: of a line of that length nobody can go on
            size = draw.choice((LARGE, LARGE - 3, 1_040_000, 600_000))
            noreply = draw.choice((b"", b" noreply"))
            return b"%s %s 5 0 %d%s\r\n%s\r\n" % (verb, draw.choice(KEYS), size, noreply, b"v" * size)
        data = draw.choice(DATA)
        size = b"%d" % len(data)
        if draw.random() < 0.1:
            size = draw.choice((b"%d" % (len(data) + draw.choice((-1, 1, 2, 3))), draw.choice(NUMBERS)))
        flags = self._number() if draw.random() < 0.2 else b"%d" % draw.getrandbits(16)
        words = [verb, self._key(), flags, draw.choice(TIMES) if draw.random() < 0.3 else b"0", size]
        if verb == b"cas" and draw.random() < 0.9:
            words.append(self._number() if draw.random() < 0.2 else b"%d" % draw.randrange(1, 3000))
        return (
            b" ".join(words)
            + self._end()
            + data
            + (b"\r\n" if draw.random() < 0.98 else draw.choice((b"\n", b"\r", b"", b"xx")))
        )

    def _key(self) -> bytes:
        return self.random.choice(KEYS if self.random.random() < 0.98 else LONG_KEYS)

    def _number(self) -> bytes:
        return self.random.choice(NUMBERS) if self.random.random() < 0.5 else b"%d" % self.random.randrange(2000)

    def _end(self) -> bytes:
        """Noreply now and then, words too many, another end of the line."""
        draw = self.random.random()
        if draw < 0.7:
            return b"\r\n"
        if draw < 0.85:
            return b" noreply\r\n"
        if draw < 0.95:
            return b" " + self.random.choice(WORDS) + self.random.choice((b"", b" ", b" noreply")) + b"\r\n"
        return self.random.choice((b"\n", b" \r\n", b"\r\r\n", b"\0\r\n", b"\0 more\r\n"))

    def _mutated(self, unit: bytes) -> bytes:
        """In one of five a few bytes are others: flipped, dropped, doubled, a blank or a word put in."""
        draw = self.random
        if draw.random() > 0.2 or len(unit) > LINE_BYTES:
            return unit
        bytes_ = bytearray(unit)
        for _ in range(draw.choice((1, 1, 2, 4))):
            at = draw.randrange(len(bytes_) + 1)
            match draw.randrange(5):
                case 0 if at < len(bytes_):
                    bytes_[at] ^= 1 << draw.randrange(8)
                case 1:
                    del bytes_[at : at + draw.choice((1, 1, 3))]
                case 2:
                    bytes_[at:at] = bytes_[at : at + draw.choice((1, 4))]
                case 3:
                    bytes_[at:at] = draw.choice((b" ", b"\r", b"\n", b"\0", b"\t", b"  "))
                case _:
                    bytes_[at:at] = draw.choice((*WORDS, *NUMBERS))
        return bytes(bytes_)


def is_large(unit: bytes) -> bool:
    """Whether it is a value of some 600 kB or more."""
    return len(unit) > 500_000


def is_comparable(unit: bytes) -> bool:
    """Whether both may be expected to say the same, at any time: without what is refused on purpose, long lines, what ends soon."""
    if REFUSED.search(unit) or b"quit" in unit:
        return False
    return is_large(unit) or all(len(line) <= LINE_BYTES and not _is_odd(line) for line in unit.split(b"\n"))


def _is_odd(line: bytes) -> bool:
    """Whether it may have something that ends soon, or claims a block that does not end in its batch."""
    words = [word for word in line.removesuffix(b"\r").split(b"\0")[0].split(b" ") if word]
    for at, word in enumerate(words):
        if word in TIMED and 0 < _number(words, at + TIMED[word]) < SOON_S:
            return True
        if word in (b"incr", b"decr") and (_is_large(_whole(words, at + 2)) or words[at + 1 : at + 2] in OTHERS):
            return True
        # Of too long a key of a get memcached drops the answers to all commands before it that have not left yet.
        if word in GETS and any(key in COUNTERS or len(key) > 250 for key in words[at + 1 :]):
            return True
        if word in STORE and MOST_BYTES < _number(words, at + 4) < 0x7FFFFFFE:
            return True
    return False


def _is_large(delta: int) -> bool:
    """As strtoull has it, which wraps what is below 0, and memcached, which refuses that where it is large then."""
    wrapped = delta % (1 << 64)
    return abs(delta) < 1 << 64 and wrapped > MOST_DELTA and (delta > 0 or wrapped < 1 << 63)


def _number(words: list[bytes], at: int) -> int:
    """The low 32 bits of a word that is a number; 0 where it is none."""
    return _whole(words, at) & 0xFFFFFFFF


def _whole(words: list[bytes], at: int) -> int:
    found = DIGITS.match(words[at]) if at < len(words) else None
    return int(found[1]) if found else 0
