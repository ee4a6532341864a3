"""Fuzzes one reader until its time is over: `python fuzz/one.py READER [options of libFuzzer] CORPUS …`. A crash is anything but a
`SojournError` whose text is one paragraph with place and remedy."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress

import atheris

NAME = sys.argv.pop(1)
sys.argv[0] = os.environ.get("FUZZER", sys.argv[0])  # what libFuzzer starts to merge a corpus: run.py, `launcher`
with atheris.instrument_imports(include=["sojourn", "tomllib", "readers"]):
    import readers

    from sojourn.errors import SojournError

    READ = readers.READERS[NAME]
    with suppress(SojournError):
        READ(b"")  # modules are imported when they are first used, and only those imported here are watched


def main() -> None:
    warnings.simplefilter("error", RuntimeWarning)

    def test_one(data: bytes) -> None:
        try:
            READ(data)
        except SojournError as error:
            assert str(error.place) and str(error.remedy), f"no place or no remedy: {error}"

    atheris.Setup(sys.argv, test_one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
