"""A short run of `benches/kv/fuzz_against_memcached.py`, and that it sees what is different."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches/kv"))
import fuzz_against_memcached as fuzz
from fuzz_commands import PADDING, CommandLineGenerator, is_comparable

pytestmark = pytest.mark.live


@pytest.mark.parametrize("design", ["direct", "staged", "embedded"])
def test_answers_are_those_of_memcached_and_so_is_what_is_left_behind(design: str) -> None:
    """Issue 26. On another machine, or slower, fewer lines: at most a minute."""
    found = fuzz.fuzz(20_000, 26, design, 60.0)
    assert found["lines"] > 1000 and (design == "embedded" or found["keys_at_end"] > 0)


def test_what_is_different_is_seen() -> None:
    """Of what the proxy refuses on purpose, in answers and in what is stored."""
    with pytest.raises(fuzz.DifferenceError, match=r"answer 0 differs.*\n  memcached: \[b'MN'"):
        with_proxy(b"mn\r\n")
    with pytest.raises(fuzz.DifferenceError, match=r"1 keys differ \(key, memcached, ours\): \[\(b'key', b'VALUE key"):
        with_proxy(b"ms key 1 q\r\n1\r\n", state_only=True)


def with_proxy(text: bytes, state_only: bool = False) -> None:
    with fuzz.pair("direct") as (reference, behind, subject):
        if state_only:
            for address in (reference, subject):
                fuzz.said(address, text)
        else:
            fuzz.compare(text, reference, subject)
        fuzz.compare_states(reference, behind)


def test_the_same_seed_sends_the_same_lines() -> None:
    one, other = (b"".join(CommandLineGenerator(5).batch(200)[0] for _ in range(2)) for _ in range(2))
    assert one == other and one.endswith((PADDING, b"\n"))
    assert CommandLineGenerator(6).batch(200)[0] not in one


@pytest.mark.parametrize(
    "unit",
    [b"mg a v\r\n", b"stats\r\n", b"GET / HTTP/1.1\r\n", b"set a 0 7 1\r\n", b"touch a 30\r\n", b"gets counter\r\n", b"incr a 1\r\n",
     b"set a 0 0 999999\r\n", b"incr counter 9223372036854775807\r\n", b"get " + b"k" * 251 + b"\r\n", b"x" * 2100 + b"\r\n"],
)  # fmt: skip
def test_what_cannot_be_compared_is_left_out(unit: bytes) -> None:
    assert not is_comparable(unit)
