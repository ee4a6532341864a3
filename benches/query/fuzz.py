"""A million texts that are no queries, or hardly: none crashes, none takes a second.

    python benches/query/fuzz.py [--texts 1000000] [--workers 2]

Four kinds in turn: words of the language in any order; queries that are right with characters changed; parts of two right queries
joined; characters of all Unicode. Each is read and checked, and where it is a query, written as text and read again. A crash is
anything but a QueryError, or an error without place and remedy. Writes DATE/fuzz.json beside this file.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import random
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/unit"))

from query_golden import NUMBERS, SETS, YES  # noqa: E402
from query_trees import Trees  # noqa: E402

from sojourn.errors import QueryError  # noqa: E402
from sojourn.query import Question  # noqa: E402
from sojourn.query.text import to_text  # noqa: E402

CHUNK = 5000
WORDS = """p99 p50 p99.9 mean sd moment quantile cdf convolve probability states passage rate share distribution n busy from to
avoiding at over within entering in subset not and or let true false response wait service_time errors utilisation arrivals failed
departures windows of ( ) { } [ ] , ; < <= > >= == != = + - * / ^ . : # ' \" 5 0 1e9 -1 5ms 1% 3/s 10s 2min x slow"""
ODD = "({[<=;'\"%#x9.,\u2028\x00é\U0001f600\u202e\ufeff\\\n\t"


def texts(seed: int) -> list[str]:
    """CHUNK of them."""
    rng, trees = random.Random(seed), Trees(seed=seed)
    right = [*NUMBERS, *SETS, *YES, *(to_text(trees.result()) for _ in range(40))]
    out = []
    for k in range(CHUNK):
        one, other = rng.choice(right), rng.choice(right)
        if k % 4 == 0:
            out.append(" ".join(rng.choices(WORDS.split(), k=rng.randint(1, 30))))
        elif k % 4 == 1:
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(one) + 1)
                one = one[:at] + rng.choice(ODD) * rng.choice((0, 1, 1, 1, 50)) + one[at + rng.randint(0, 4) :]
            out.append(one)
        elif k % 4 == 2:
            out.append(one[: rng.randrange(len(one) + 1)] + other[rng.randrange(len(other) + 1) :])
        else:
            out.append("".join(chr(rng.randrange(1, 0x11000)) for _ in range(rng.randint(1, 60))))
    return out


def verdict(text: str) -> tuple[str, str]:
    """What became of it, and what is wrong with that."""
    try:
        tree = Question.read(text).tree
    except QueryError as error:
        return "refused", "" if error.place and error.remedy else "no place or remedy"
    try:
        return "read", "" if Question.read(to_text(tree)).tree == tree else "another tree when read again"
    except QueryError:
        return "read", "its own text is refused"


def judged(seed: int) -> tuple[Counter[str], float, str, list[str]]:
    """How many were what, the longest time (s) and its text, and what crashed."""
    found: Counter[str] = Counter()
    longest, slowest, crashes = 0.0, "", []
    for text in texts(seed):
        begin = time.perf_counter()
        try:
            what, wrong = verdict(text)
        except Exception as error:
            what, wrong = "crashed", type(error).__name__
        found[what] += 1
        crashes += [f"{wrong}: {text!r}"] if wrong else []
        spent = time.perf_counter() - begin
        if spent > longest:
            longest, slowest = spent, text
    return found, longest, slowest, crashes


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=int, default=1_000_000)
    options.add_argument("--workers", type=int, default=2)
    asked = options.parse_args()
    total: Counter[str] = Counter()
    longest, slowest, crashes = 0.0, "", []
    begin = time.time()
    with multiprocessing.Pool(asked.workers) as pool:
        for found, spent, text, bad in pool.imap_unordered(judged, range(-(-asked.texts // CHUNK))):
            total += found
            crashes += bad
            if spent > longest:
                longest, slowest = spent, text
    told = {
        "texts": sum(total.values()), "refused": total["refused"], "read": total["read"], "crashes": crashes[:50],
        "longest_s": round(longest, 4),
        "slowest": slowest[:200], "wall_s": round(time.time() - begin), "workers": asked.workers,
        "machine": {"kernel": platform.release(), "cores": os.cpu_count()},
    }  # fmt: skip
    folder = HERE / time.strftime("%Y-%m-%d")
    folder.mkdir(exist_ok=True)
    (folder / "fuzz.json").write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
