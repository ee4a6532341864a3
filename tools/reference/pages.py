"""All generated pages, written or checked."""

from __future__ import annotations

import sys
from pathlib import Path

from reference import api, commands, model_keys, query_nodes, study_keys

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "python tools/reference"
NOTE = f"<!-- made by `{COMMAND}` from the code: change it there -->\n"
PAGES = {
    "commands.md": commands.page,
    "python.md": api.page,
    "study-keys.md": study_keys.page,
    "model-keys.md": model_keys.page,
    "query.md": query_nodes.page,
    "query-tree.svg": query_nodes.picture,
    "query-nodes.svg": query_nodes.pictures,
}


def made() -> dict[Path, str]:
    """Path → text, of every page as it should be."""
    return {ROOT / "docs/reference" / name: NOTE + page() for name, page in PAGES.items()}


def main() -> int:
    stale = []
    for path, text in made().items():
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(f"{path.relative_to(ROOT)} is not what the code says; run {COMMAND}")
    print("\n".join(stale), file=sys.stderr, end="\n" if stale else "")
    return 1 if stale else 0
