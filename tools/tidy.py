"""Layout rules that a machine can hold; run by `make check`.

Sizes of files, units in names of Markdown links, paths in ARCHITECTURE.md, leftovers, names of tests, and which
package may import which (ARCHITECTURE.md, "Arrows").
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 300
LEFTOVERS = re.compile(r"\b(FIXME|XXX|HACK|TODO)\b")
LEAVES = {
    "table",
    "metric_names",
    "metrics_view",
    "narrow_tables",
    "file_errors",
    "_native",
    "units",
    "errors",
    "report",
}
TOPS = {"cli", "__main__"}


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
        if path.suffix in (".py", ".rs") and (lines := len(path.read_text().splitlines())) > MOST_LINES
    ]


def leftovers(paths: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}: a leftover {match[0]}; do it or write an issue"
        for path in paths
        if path.suffix in (".py", ".rs", ".md", ".toml") and path != Path(__file__).resolve()
        if (match := LEFTOVERS.search(path.read_text()))
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
    """Paths in backquotes in ARCHITECTURE.md that do not exist."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    paths = re.findall(r"`((?:crates|python|testbeds|studies|tests|benches|docs|tools)/[^`\s]*)`", text)
    return [f"ARCHITECTURE.md: {path} does not exist" for path in paths if not (ROOT / path).exists()]


def arrows(paths: list[Path]) -> list[str]:
    """Leaves import nothing of ours but errors; nobody imports the command line."""
    package = ROOT / "python/sojourn"
    found = []
    for path in paths:
        if path.suffix != ".py" or package not in path.parents:
            continue
        own = path.relative_to(package).parts[0].removesuffix(".py")
        for name in imports(path):
            if name in TOPS and own not in TOPS:
                found.append(f"{path.relative_to(ROOT)}: imports {name}; nobody imports the command line")
            if own in LEAVES and name not in LEAVES:
                found.append(f"{path.relative_to(ROOT)}: imports {name}; {own} is a leaf")
    return found


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names |= {m.split(".")[1] for m in modules if m.startswith("sojourn.")}
    return names


def main() -> int:
    paths = files()
    problems = [*long_files(paths), *leftovers(paths), *same_names(paths), *missing_paths(), *arrows(paths)]
    print("\n".join(problems) or f"tidy: {len(paths)} files in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
