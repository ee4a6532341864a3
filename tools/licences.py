"""THIRD-PARTY-LICENSES of both wheels: the Rust crates that are linked into each, with the licence texts that they bring.

`python tools/licences.py` writes the files; `--check` compares their list of crates with `Cargo.lock`. Equal texts stand once. Needs the
crates' sources, which a build has fetched.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WHEELS = {"sojourn-py": ROOT / "THIRD-PARTY-LICENSES", "sojourn-cases-py": ROOT / "cases/THIRD-PARTY-LICENSES"}
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
NAMES = ("LICEN[CS]E*", "licen[cs]e*", "COPYING*", "COPYRIGHT*", "NOTICE*", "UNLICENSE*")
RULE = "-" * 80


def cargo(*words: str) -> str:
    return subprocess.run(["cargo", *words, "--locked"], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def linked(package: str) -> list[str]:
    """Crates of others, as "name version", that are in the native module of a package on any target; not what builds it."""
    found: set[str] = set()
    for target in TARGETS:
        tree = cargo("tree", "--package", package, "--edges", "normal", "--prefix", "none", "--target", target)
        for line in tree.splitlines():
            name, version, *rest = line.split()
            if not any(part.startswith("(/") for part in rest):  # ours have a path
                found.add(f"{name} {version.removeprefix('v')}")
    return sorted(found)


def listed(path: Path) -> list[str]:
    """The crates that the file has, as "name version"."""
    lines = path.read_text().split(RULE)[0].splitlines()
    return [line.split(":")[0].removeprefix("- ") for line in lines if line.startswith("- ")]


def texts(crate: dict[str, Any]) -> list[str]:
    """The licence texts in a crate's folder; of `MIT OR Apache-2.0` that of MIT is enough, where there is one."""
    folder = Path(crate["manifest_path"]).parent
    files = sorted({path for name in NAMES for path in folder.glob(name) if path.is_file()})
    files += sorted(path for path in folder.glob("LICEN[CS]E*/*") if path.is_file())
    terms = (crate["license"] or "").replace("/", " OR ")
    if "MIT" in terms and " OR " in terms and " AND " not in terms:
        files = [path for path in files if "MIT" in path.name.upper()] or files
    return ["\n".join(line.rstrip() for line in path.read_text().strip().splitlines()) for path in files]


def page(package: str, crates: dict[str, dict[str, Any]]) -> str:
    names = linked(package)
    having: dict[str, list[str]] = defaultdict(list)
    for name in names:
        for text in texts(crates[name]):
            having[text].append(name)
    told = {name for names in having.values() for name in names}
    lines = [
        "Crates of others that are linked into the native module, or whose macros wrote parts of it; the texts follow.",
        "Beside them: the Rust standard library (MIT OR Apache-2.0), Copyright (c) The Rust Project Contributors.",
        "",
    ]
    for name in names:
        crate, lacking = crates[name], "" if name in told else f"; no text in the crate: {crates[name]['repository']}"
        lines.append(f"- {name}: {crate['license']}; {', '.join(crate['authors']) or 'authors not named'}{lacking}")
    parts = ["\n".join(lines), *(f"{', '.join(of)}\n\n{text}" for text, of in having.items())]
    return f"\n\n{RULE}\n\n".join(parts) + "\n"


def main() -> int:
    if "--check" in sys.argv[1:]:
        stale = [path for package, path in WHEELS.items() if listed(path) != linked(package)]
        for path in stale:
            print(f"{path.relative_to(ROOT)}: not the crates of Cargo.lock; python tools/licences.py writes it")
        return 1 if stale else 0
    metadata = json.loads(cargo("metadata", "--format-version", "1"))
    crates = {f"{one['name']} {one['version']}": one for one in metadata["packages"]}
    for package, path in WHEELS.items():
        path.write_text(page(package, crates))
        print(f"{path.relative_to(ROOT)}: {len(listed(path))} crates")
    return 0


if __name__ == "__main__":
    sys.exit(main())
