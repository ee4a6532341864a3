"""Layout rules that a machine can hold; run by `make check`.

Sizes of files, paths in ARCHITECTURE.md, leftovers, and names of tests. Who may import whom: `tools/package_arrows.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 300
FENCE = re.compile(r"^\s*//[/!] ?```(\w*)", re.MULTILINE)
LEFTOVERS = re.compile(r"\b(FIXME|XXX|HACK|TODO)\b")


def files() -> list[Path]:
    """Files under version control, and new ones that are not ignored."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for name in listing.stdout.splitlines() if (path := ROOT / name).is_file()]


def long_files(paths: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}: {lines} lines; split it, the limit is {MOST_LINES}"
        for path in paths
        if path.suffix in (".py", ".rs", ".java") and (lines := len(path.read_text().splitlines())) > MOST_LINES
    ]


def leftovers(paths: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}: a leftover {match[0]}; do it or write an issue"
        for path in paths
        if path.suffix in (".py", ".rs", ".md", ".toml") and path != Path(__file__).resolve()
        if (match := LEFTOVERS.search(path.read_text()))
    ]


def examples(paths: list[Path]) -> list[str]:
    """Examples in the docs of crates, which `make test` does not run: rustdoc would take a second for each crate, and there are none."""
    return [
        f"{path.relative_to(ROOT)}: an example that no test runs; make it a test, or say what else it is (```text)"
        for path in paths
        if path.suffix == ".rs" and {"", "rust"} & set(FENCE.findall(path.read_text())[::2])
    ]


def tests_not_run(paths: list[Path]) -> list[str]:
    """Tests in the crates that `make test` leaves out."""
    without = [ROOT / name for name in ("crates/py", "crates/worker", "cases/native")]
    return [
        f"{path.relative_to(ROOT)}: a test in a crate that `make test` leaves out; see OF_PYTHON in Makefile"
        for path in paths
        if path.suffix == ".rs" and set(without) & set(path.parents) and "#[test]" in path.read_text()
    ]


def same_names(paths: list[Path]) -> list[str]:
    """Files of tests with one name in two folders, which pytest cannot collect together."""
    tests = [path for path in paths if path.name.startswith("test_") and ROOT / "tests" in path.parents]
    names = [path.name for path in tests]
    return [
        f"{path.relative_to(ROOT)}: another folder has such a name; rename it"
        for path in tests
        if names.count(path.name) > 1
    ]


def missing_paths() -> list[str]:
    """Paths in backquotes in lists of files that do not exist."""
    pages = ("ARCHITECTURE.md", "docs/explain/walks.md", *sorted(ROOT.glob("cases/sojourn_cases/*/README.md")))
    return [problem for page in pages for problem in _missing(ROOT / page)]


def _missing(page: Path) -> list[str]:
    paths = re.findall(r"`((?:crates|python|cases|studies|tests|benches|docs|tools)/[^`\s]*)`", page.read_text())
    return [f"{page.relative_to(ROOT)}: {path} does not exist" for path in paths if not (ROOT / path).exists()]


def main() -> int:
    paths = files()
    problems = [
        *long_files(paths),
        *leftovers(paths),
        *examples(paths),
        *tests_not_run(paths),
        *same_names(paths),
        *missing_paths(),
    ]
    print("\n".join(problems) or f"tidy: {len(paths)} files in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
