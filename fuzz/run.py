"""Fuzzes all readers of foreign files and texts (readers.py) and all protocols (protocols/), guided by coverage: `make fuzz`.

    python fuzz/run.py [--minutes 60] [--only model,query,…] [--jobs 2]

By libFuzzer, from a corpus that grows: atheris for Python, libfuzzer-sys for Rust, which wants a nightly toolchain; without one the
protocols are left out, and that is said. The minutes are those of all together: each reader has its share. What reached new code is kept in
corpus/NAME, the smallest such input of each. An input that crashes, hangs for 10 s, or takes 2 GiB is kept in found/NAME: mend it, and
make a test of it. Ends with 1 where there is one.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-max_len=65536", "-print_final_stats=1", "-verbosity=0")


PROTOCOLS = HERE / "protocols"
BUILT = HERE.parent / "target" / "fuzz"
# What `cargo fuzz` gives to rustc.
RUSTFLAGS = (
    "--cfg fuzzing -Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 "
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table "
    "-Cllvm-args=-sanitizer-coverage-trace-compares"
)


def readers() -> dict[str, list[str]]:
    """Name → the command that fuzzes it, of the readers in Python."""
    sys.path.insert(0, str(HERE))
    from readers import READERS

    return {name: [str(launcher(name))] for name in READERS}


def launcher(name: str) -> Path:
    """A program of its own: to merge a corpus, libFuzzer starts its own argv[0] again and again."""
    found = HERE / "found"
    found.mkdir(exist_ok=True)
    path = found / f"{name}.sh"
    words = shlex.join([sys.executable, str(HERE / "one.py"), name])
    path.write_text(f'#!/bin/sh\nexec env FUZZER="$0" {words} "$@"\n')
    path.chmod(0o755)
    return path


def protocols() -> dict[str, list[str]]:
    """The same of the protocols, which are built here; none without a nightly toolchain."""
    try:
        said = subprocess.run(["cargo", "+nightly", "-vV"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        print("protocols left out: rustup toolchain install nightly", file=sys.stderr)
        return {}
    target = next(line.split()[1] for line in said.splitlines() if line.startswith("host: "))
    subprocess.run(
        ["cargo", "+nightly", "build", "--release", "--locked", "--quiet", "--target", target],
        cwd=PROTOCOLS, check=True, env={**os.environ, "RUSTFLAGS": RUSTFLAGS, "CARGO_TARGET_DIR": str(BUILT)},
    )  # fmt: skip
    names = sorted(path.stem for path in (PROTOCOLS / "src" / "bin").glob("*.rs"))
    return {name: [str(BUILT / target / "release" / name)] for name in names}


@contextmanager
def working_corpus(name: str, command: list[str]) -> Iterator[Path]:
    """A copy of the corpus to work in; the smallest inputs that reach what it reaches take the place of the corpus."""
    kept = HERE / "corpus" / name
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sojourn-fuzz-") as place:
        grown, least = Path(place, "grown"), Path(place, "least")
        shutil.copytree(kept, grown)
        least.mkdir()
        yield grown
        done = subprocess.run(
            [*command, "-set_cover_merge=1", *LIMITS, str(least), str(grown)], capture_output=True, check=False
        )
        if done.returncode == 0 and any(least.iterdir()):
            shutil.rmtree(kept)
            shutil.copytree(least, kept)
        elif any(grown.iterdir()):
            print(f"{name}: its corpus could not be merged, and is as it was", file=sys.stderr)


def fuzzed(name: str, command: list[str], seconds: int) -> tuple[str, int, list[Path]]:
    """How many inputs were tried, and those that a reader did not survive."""
    found = HERE / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    with working_corpus(name, command) as corpus:
        done = subprocess.run(
            [*command, f"-max_total_time={seconds}", f"-artifact_prefix={found}/", *LIMITS, str(corpus)],
            capture_output=True, text=True, errors="replace", check=False, env={**os.environ, "PYTHONWARNINGS": "error::RuntimeWarning"},
        )  # fmt: skip
    tried = [line.rsplit(":", 1)[1] for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    bad = sorted(found.iterdir())
    if done.returncode and bad:
        (HERE / "found" / f"{name}.txt").write_text(done.stderr[-20_000:])
    if not bad:
        found.rmdir()
    return name, int(tried[0]) if tried else 0, bad


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=60.0)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--jobs", type=int, default=2)
    given = arguments.parse_args()
    known, only = readers(), given.only.split(",") if given.only else []
    if not only or set(only) - set(known):  # the protocols take minutes to build
        known |= protocols()
    wanted = {name: command for name, command in known.items() if not only or name in only}
    seconds = max(1, round(given.minutes * 60 / len(wanted)))
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(lambda name: fuzzed(name, wanted[name], seconds), wanted))
    for name, tried, bad in results:
        print(
            f"{name:18} {tried:>12} inputs in {seconds} s{'' if not bad else '; NOT SURVIVED: ' + ', '.join(map(str, bad))}"
        )
    print(f"{sum(tried for _, tried, _ in results)} inputs, {sum(len(bad) for _, _, bad in results)} not survived")
    idle = [name for name, tried, _ in results if not tried]
    if idle:
        print(f"these did not run: {', '.join(idle)}")
    return 1 if idle or any(bad for _, _, bad in results) else 0


if __name__ == "__main__":
    sys.exit(main())
